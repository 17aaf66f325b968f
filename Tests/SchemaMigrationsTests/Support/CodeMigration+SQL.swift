import GRDB
import SchemaMigrations

extension CodeMigration {
    /// Creates a migration that executes SQL in Swift, called `Code` and its version.
    init(_ version: SchemaVersion, sql: String) {
        self.init(version, "Code\(version)") { db in try db.execute(sql: sql) }
    }
}
