import Foundation
public import GRDB

/// A change of a database's schema, written in SQL in the app's code.
///
/// ```swift
/// SQLMigration(
///     version: 20240601120000000, name: "add_shelves",
///     sql: "CREATE TABLE shelf(id INTEGER PRIMARY KEY, label TEXT NOT NULL)",
///     down: "DROP TABLE shelf")
/// ```
///
/// The SQL may hold everything that a `.sql` file may, the `-- migrations:` header included.
public struct SQLMigration: SchemaMigration {
    /// The migration's place in the order of all migrations.
    public let version: SchemaVersion
    /// The name that messages and the ledger use.
    public let name: String

    private let sql: String
    private let down: String?

    /// Creates a migration.
    ///
    /// - Parameters:
    ///   - version: unique, and at least 0; preferably a timestamp.
    ///   - name: the name that messages and the ledger use.
    ///   - sql: the statements that change the schema.
    ///   - down: the statements of the down migration; nil for an irreversible migration.
    public init(version: SchemaVersion, name: String, sql: String, down: String? = nil) {
        self.version = version
        self.name = name
        self.sql = sql
        self.down = down
    }

    /// Runs the statements, in order.
    ///
    /// - Parameter db: the database, in the transaction that records the migration.
    /// - Throws: `MigrationError`, when a statement fails.
    public func migrate(_ db: Database) throws {
        try script().run(db) {}
    }
}

extension SQLMigration: SQLSource {
    package var fileName: String { name.isEmpty ? "\(version).sql" : "\(version)_\(name).sql" }
    package var hasDown: Bool { down != nil }

    package func text() -> String { sql }

    package func downScript() throws -> SQLScript? {
        try down.map { try SQLScript($0, fileName: "\(fileName.dropLast(4)).down.sql") }
    }
}
