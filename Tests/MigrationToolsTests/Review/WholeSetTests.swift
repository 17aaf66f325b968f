import Foundation
import MigrationTools
import TestSupport
import TestTraits
import Testing

@Suite("A review of whole sets", .timed)
struct WholeSetTests {
    /// Returns the findings but those about statements that destroy data plainly.
    private func findings(in folder: URL) throws -> [String] {
        try FolderReview.review(directory: folder).findings
            .map { (place: "\($0.file):\($0.line)", rule: $0.rule.name) }
            .filter {
                ![
                    "drop-table", "delete-without-where", "ignored-pragma", "renamed-table", "renamed-column",
                    "name-style",
                ].contains($0.rule)
            }
            .map { "\($0.place) \($0.rule)" }
    }

    @Test("finds what the sample migrations lose, and nothing else")
    func garden() throws {
        #expect(
            try findings(in: SampleMigrations.garden.folder) == [
                "003_species.sql:3 unindexed-foreign-key",
                "20190412083000_add_species_to_plants.sql:2 unindexed-foreign-key",
                "20220228235959_rebuild_bed.sql:10 lost-trigger",
                "20220228235959_rebuild_bed.sql:12 lost-sequence",
                "20230704160000_harvests.sql:1 unindexed-foreign-key",
                "20240110090000000_tags.sql:2 unindexed-foreign-key",
                "20240110090000000_tags.sql:15 changed-values",
                // The new key numbers the rows of a plant, and the old ids are gone.
                "20240922101112345_rebuild_watering.sql:2 drop-column",
                "20240922101112345_rebuild_watering.sql:2 lost-default",
            ])
    }

    @Test(
        "finds nothing that SQLite 3.39 lacks in sets that run on it",
        arguments: [SampleMigrations.garden])
    func oldest(set: MigrationSet) throws { try checkOldest(set) }

    @Test(
        "finds nothing that SQLite 3.39 lacks in migrations of real applications, which run on it",
        .needs(.realMigrations), arguments: [RealMigrations.atuin, RealMigrations.eventCache])
    func oldestReal(set: MigrationSet) throws { try checkOldest(set) }

    private func checkOldest(_ set: MigrationSet) throws {
        let review = try FolderReview.review(directory: set.folder, oldest: SQLiteVersion("3.39"))
        #expect(review.findings.filter { $0.rule.name == "newer-sqlite" } == [])
    }

    @Test(
        "finds what the migrations of real applications lose, and nothing else",
        .needs(.realMigrations)
    )
    func real() throws {
        #expect(try findings(in: RealMigrations.atuin.folder) == [])
        #expect(
            try findings(in: RealMigrations.eventCache.folder) == [
                "005_events_index_on_event_id.sql:2 new-unique", "007_event_chunks.sql:6 orphans",
            ])
        #expect(
            try findings(in: RealMigrations.crypto.folder) == [
                "017_drop_old_secrets_inbox.sql:1 double-version"
            ])
    }
}
