import SchemaMigrations

/// The rows that can be read from a file and its write-ahead log, whatever is in them: for tests.
package struct DamagedRows {
    /// The number of rows in the trees of tables and indexes, and in pages that no root leads to.
    package private(set) var count = 0

    /// Reads every row.
    package init(in database: [UInt8], log: [UInt8]) throws {
        var isCut = false
        let log = try JournalPages(log: DamagedFile(log), isCut: &isCut)
        guard let damaged = try DamagedDatabase.read(DamagedFile(database), log) else { return }
        for tree in Array(damaged.trees.values) + damaged.loose { count += try damaged.rows(of: tree).count }
        let migration = SQLMigration(version: 1, name: "begin", sql: "CREATE TABLE note(id)")
        _ = try SchemaSet(SchemaMigrator(migrations: [migration])).traces(in: damaged)
    }
}
