import SchemaMigrations

extension SchemaMigrator {
    /// Creates a migrator whose one migration makes some tables.
    init(tables sql: String) throws {
        try self.init(migrations: [SQLMigration(version: 1, name: "begin", sql: sql)])
    }
}
