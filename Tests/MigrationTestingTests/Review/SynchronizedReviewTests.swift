import GRDB
import MigrationTesting
import TestTraits
import Testing

@Suite("A review of synchronized tables in code", .timed)
struct SynchronizedReviewTests {
    @Test("knows the tables by their names, or by a comment in the SQL")
    func tables() throws {
        func review(_ comment: String = "", synchronizing tables: Set<String> = []) throws -> [String] {
            var migrator = DatabaseMigrator()
            migrator.registerMigration("addEntry") { db in
                try db.execute(sql: "\(comment)CREATE TABLE entry(id INTEGER PRIMARY KEY)")
            }
            return try MigrationReview(of: migrator, synchronizing: tables).findings.map {
                "\($0.migration): \($0.severity): \($0.reason) [\($0.rule)]"
            }
        }
        let expected = """
            addEntry: error: Table `entry` has a number as its key, which two devices give to two rows. Write id TEXT PRIMARY \
            KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()), in this order. [synced-key]
            """
        #expect(try review() == [])
        #expect(try review(synchronizing: ["Entry"]) == [expected])
        #expect(try review("-- tool: synced\n") == [expected])
    }
}
