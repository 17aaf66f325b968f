import GRDB
import SchemaMigrations

/// A migration in Swift, made of a closure.
struct CodeMigration: SchemaMigration {
    let version: SchemaVersion
    var name: String { "Code\(version)" }
    var foreignKeys = ForeignKeys.off
    let body: @Sendable (Database) throws -> Void

    init(
        _ version: SchemaVersion, foreignKeys: ForeignKeys = .off,
        _ body: @escaping @Sendable (Database) throws -> Void
    ) {
        self.version = version
        self.foreignKeys = foreignKeys
        self.body = body
    }

    /// A migration that executes SQL.
    init(_ version: SchemaVersion, _ sql: String) {
        self.init(version) { db in try db.execute(sql: sql) }
    }

    func migrate(_ db: Database) throws { try body(db) }
}

struct Mishap: Error, CustomStringConvertible {
    var description: String { "a mishap" }
}
