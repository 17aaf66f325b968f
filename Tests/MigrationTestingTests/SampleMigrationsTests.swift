import MigrationTesting
import SchemaMigrations
import TestSupport
import Testing

@Suite("An upgrade matrix of a garden app", .timed)
struct SampleMigrationsTests {
    /// The intended changes in the numbers of rows.
    private static let changes: [RowCounts.Change] =
        [
            .changed("bed", by: 2) { $0 + 4 }, .changed("plant", by: 2) { $0 + 4 },
            .changed("reminder", by: 2) { $0 + 1 }, .emptied("reminder", by: 20200301000000),
            .changed("plant", by: 20201101090000) { $0 + 1 },
            .changed("bed", by: 20210612074500) { $0 + 1 },
            .dropped("calendar", by: 20241105000000000),
        ]
        // How many rows go with a bed that is deleted depends on the generated rows.
        + ["bed", "photo", "plant", "plant_search", "reminder", "watering"].map {
            .uncounted($0, by: 20230101000000)
        }

    @Test("upgrades generated rows from every version", arguments: [1] as [UInt64])
    func everyVersion(seed: UInt64) throws {
        let schema = try SchemaMigrator(directory: SampleMigrations.garden.folder)
        let report = try UpgradeMatrix(
            of: schema, filledWith: .generatedRows(seed: seed),
            rowCounts: .unchanged(except: Self.changes)
        ).run()
        #expect(report.upgrades.count == SampleMigrations.garden.count)
        #expect(
            report.notes == [
                "20220228235959_rebuild_bed.sql rebuilds table `bed`, and index `bed_area` is not made again"
            ])
    }

    @Test("reports the files that lose rows unless the test states it")
    func notStated() throws {
        let schema = try SchemaMigrator(directory: SampleMigrations.garden.folder)
        let error = try #require(throws: UpgradeMatrixError.self) { try UpgradeMatrix(of: schema).run() }
        for problem in [
            "20200301000000_new_reminders.sql leaves 0 rows in table `reminder`, which had 21 rows",
            "20230101000000_clear_compost.sql leaves 24 rows in table `bed`, which had 25 rows",
            "20241105000000000_drop_calendar.sql removes table `calendar`, which had 72 rows",
        ] {
            #expect(error.description.contains(problem), "\(error)")
        }
    }
}
