import Foundation
import MigrationTesting
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite(
    "An upgrade matrix of real applications", .timed,
    .needs(.realMigrations))
struct RealMigrationsTests {
    @Test(
        "reports the table that Atuin's history drops, and nothing else",
        arguments: [1, 2, 3] as [UInt64])
    func atuin(seed: UInt64) throws {
        let schema = try SchemaMigrator(directory: RealMigrations.atuin.folder)
        let rows = UpgradeMatrix.Rows.generatedRows(seed: seed)
        let error = try #require(throws: UpgradeMatrixError.self) {
            try UpgradeMatrix(of: schema, filledWith: rows).run()
        }
        #expect(
            error.description == """
                2 of 12 upgrades failed.
                - 20230315220114_drop-events.sql removes table `events`, which had 20 rows, in the upgrade from \
                20220505083406 and 20220806155627.
                  Fix it, or, if it is intended, state it: rowCounts: .unchanged(except: [.dropped("events", by: \
                20230315220114)])
                """)
        let counts = RowCounts.unchanged(except: [.dropped("events", by: 20230315220114)])
        let report = try UpgradeMatrix(of: schema, filledWith: rows, rowCounts: counts).run()
        #expect(report.upgrades.count == 12)
        #expect(report.upgrades.flatMap(\.notes) == [])
    }

    @Test("reports what the event cache deletes, and which files rely on foreign keys")
    func eventCache() throws {
        let schema = try SchemaMigrator(
            directory: RealMigrations.eventCache.folder,
            options: SchemaOptions(commits: .grouped(after: .seconds(600))))
        // The tables of the cache are emptied again and again, on purpose.
        let cleared = ["events", "event_chunks", "gaps", "gap_chunks", "linked_chunks"]
        let changes = cleared.flatMap { table in
            [6, 7, 8, 11, 12, 14, 15].map { RowCounts.Change.uncounted(table, by: $0) }
        }
        let error = try #require(throws: UpgradeMatrixError.self) {
            try UpgradeMatrix(
                of: schema, rowCounts: .unchanged(except: changes + [.dropped("media", by: 10)])
            ).run()
        }
        #expect(
            error.description == """
                3 of 16 upgrades failed.
                - The upgrade from 3 and 4 fails: 005_events_index_on_event_id.sql:2: UNIQUE constraint failed: \
                events.event_id, events.room_id (SQLite 2067).
                  It was rolled back. Fix it and migrate again.
                - With each migration committed alone, as on a slow device, the upgrade from 6 fails: \
                007_event_chunks.sql: leaves 20 rows of table gap_chunks whose chunk_id, room_id refer to no row of \
                linked_chunks.
                  Keep the rows that others refer to, or delete the rows that refer to them. It was rolled back. \
                Fix it and migrate again.
                """)
        #expect(error.report.upgrades.flatMap(\.notes) == [])
    }
}
