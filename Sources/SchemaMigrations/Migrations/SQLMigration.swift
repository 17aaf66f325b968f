import Foundation
public import GRDB

/// One change of a database's schema, as SQL that is part of the app's code.
///
/// The text may hold everything that a `.sql` file may, the `-- migrations:` header included.
public struct SQLMigration: SchemaMigration {
    /// The migration's place in the order of all migrations.
    public let version: SchemaVersion
    /// What people call it.
    public let name: String

    private let sql: String
    private let down: String?

    /// Creates a migration.
    ///
    /// - Parameters:
    ///   - version: unique, and at least 0.
    ///   - name: what people call it.
    ///   - sql: the statements that change the schema.
    ///   - down: the statements of the down migration; nil for an irreversible migration.
    public init(version: SchemaVersion, name: String, sql: String, down: String? = nil) {
        self.version = version
        self.name = name
        self.sql = sql
        self.down = down
    }

    /// Runs the statements, one after the other.
    public func migrate(_ db: Database) throws {
        try script().run(db) {}
    }
}

extension SQLMigration: SQLSource {
    var fileName: String { name.isEmpty ? "\(version).sql" : "\(version)_\(name).sql" }
    var hasDown: Bool { down != nil }

    func script() throws -> SQLScript {
        try SQLScript(Data(sql.utf8), fileName: fileName)
    }

    func downScript() throws -> SQLScript? {
        try down.map { try SQLScript(Data($0.utf8), fileName: "\(fileName.dropLast(4)).down.sql") }
    }
}

/// A migration that is written in SQL, in a file or in the app's code.
protocol SQLSource: SchemaMigration {
    /// The name of the file, or what it would be.
    var fileName: String { get }
    /// Whether there is a down migration.
    var hasDown: Bool { get }
    /// The text, looked through. Read afresh at each call.
    func script() throws -> SQLScript
    /// The text of the down migration; nil when there is none.
    func downScript() throws -> SQLScript?
}
