import AppMigrations
import DatabaseBatches
import GRDB
import MigrationTesting
import SchemaMigrations
import TestTraits
import Testing

@Suite("An upgrade matrix with steps that are needed again", .timed)
struct ConditionMatrixTests {
    /// Returns the notes about an app that asks for entries without a mood, and for photos without a hash.
    private func notes(indexes: String) throws -> [String] {
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(
                version: 1, name: "tables",
                sql: """
                    CREATE TABLE entry(id INTEGER PRIMARY KEY, mood TEXT);
                    CREATE TABLE photo(id INTEGER PRIMARY KEY, hash TEXT);
                    \(indexes)
                    """)
        ])
        let condition: @Sendable (Database) throws -> Bool = { db in
            try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM entry WHERE mood IS NULL)") ?? false
        }
        let matrix = UpgradeMatrix(of: schema) { database, version in
            let manager = try MigrationManager(
                currentVersion: "3.0", adopting: Adoption { version == 0 ? nil : "1.0" }, store: .inMemory())
            manager.whenMigratingToVersion(migrate: schema, in: database)
            manager.whenMigratingToVersion("2.0", in: database, again: condition) { db, _ in
                try db.execute(sql: "UPDATE entry SET mood = 'none' WHERE mood IS NULL")
            }
            manager.afterMigratingToVersion(
                "2.0-1", in: database, overRowsOf: "photo", again: "hash IS NULL"
            ) { db, rows in
                try db.execute(literal: "UPDATE photo SET hash = 'x' WHERE \(rows.condition)")
            }
            return manager
        }
        return try matrix.run().notes
    }

    @Test("notes which condition reads a whole table at each launch")
    func wholeTables() throws {
        let notes = try notes(indexes: "")
        #expect(
            notes == [
                """
                a launch with nothing to do reads all of table `entry`: `SELECT EXISTS (SELECT 1 FROM entry WHERE mood IS \
                NULL)`; give the condition an index, best a partial one
                """,
                """
                a launch with nothing to do reads all of table `photo`: `SELECT EXISTS (SELECT 1 FROM main."photo" WHERE 1 \
                AND (hash IS NULL ))`; give the condition an index, best a partial one
                """,
            ])
    }

    @Test(
        "notes nothing about conditions with an index",
        arguments: [
            "CREATE INDEX mood ON entry(mood); CREATE INDEX hash ON photo(hash);",
            "CREATE INDEX mood ON entry(id) WHERE mood IS NULL; CREATE INDEX hash ON photo(id) WHERE hash IS NULL;",
        ])
    func indexes(sql: String) throws {
        #expect(try notes(indexes: sql).isEmpty)
    }
}
