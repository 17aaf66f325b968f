import GRDB
import SchemaMigrations

extension CodeMigration {
    /// Creates a migration named `Code` and its version that executes SQL.
    init(_ version: SchemaVersion, sql: String) {
        self.init(version, "Code\(version)") { db in try db.execute(sql: sql) }
    }
}
