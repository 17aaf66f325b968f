import AppMigrations
import Foundation
import GRDB
import MigrationTools
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("The sample migrations", .timed)
struct SampleMigrationsTests {
    private let trial: MigrationSetTrial

    init() throws {
        trial = try MigrationSetTrial(SampleMigrations.garden)
    }

    @Test("build the same database as plain SQLite on a fresh install")
    func freshInstall() throws { try trial.freshInstall() }

    @Test("build the same database as plain SQLite in an upgrade with user data")
    func upgrade() throws { try trial.upgrade() }

    @Test("build the same database as plain SQLite, one at a time")
    func oneAtATime() throws { try trial.oneAtATime() }

    @Test("continue after another tool has run the first half")
    func secondHalf() throws { try trial.secondHalf() }

    @Test("come out the same if the oldest are squashed", arguments: [1, 9, 17])
    func squashed(place: Int) throws {
        let versions = trial.schema.migrations.map(\.version)
        let squash = try Squash.verified(directory: trial.set.folder, before: versions[place])
        #expect(squash.databases >= versions.count - place + 2)
    }

    @Test(
        "keep the children of a rebuilt table, unless a file relies on ON DELETE CASCADE")
    func children() throws {
        let rows = try #require(trial.set.rows)
        let queue = try trial.folder.queue()
        try trial.schema.migrate(queue, upTo: rows.version)
        try trial.run(rows.file, in: queue)
        try trial.schema.migrate(queue, upTo: 20190412083000)
        let children = {
            try queue.integers("SELECT count(*) FROM watering UNION ALL SELECT count(*) FROM photo")
        }
        #expect(try children() == [6, 5])

        try trial.schema.migrate(queue, upTo: 20190920101500)
        #expect(try children() == [6, 5])
        try trial.schema.migrate(queue, upTo: 20220228235959)
        #expect(try children() == [6, 5])
        #expect(try queue.strings("SELECT name FROM plant WHERE id = 21") == ["Pumpkin"])

        try trial.schema.migrate(queue, upTo: 20230101000000)
        #expect(try children() == [5, 4])
        #expect(try queue.strings("SELECT name FROM plant WHERE id = 21") == [])
    }

    @Test("keep the full-text index up to date")
    func search() throws {
        let rows = try #require(trial.set.rows)
        let queue = try trial.folder.queue()
        try trial.schema.migrate(queue, upTo: rows.version)
        try trial.run(rows.file, in: queue)
        try trial.schema.migrate(queue)
        try queue.execute("INSERT INTO plant_search(plant_search) VALUES ('integrity-check')")
        #expect(
            try queue.strings(
                "SELECT name FROM plant_search WHERE plant_search MATCH 'barenherz OR nantes OR hokkaido' ORDER BY 1"
            ) == ["Carrot", "Tomate"])
    }

    @Test("roll back to the first irreversible migration, and migrate up again")
    func rollback() throws {
        let files = try trial.set.files
        let (ours, plain) = (try trial.folder.queue(), try trial.folder.queue("plain.sqlite"))
        try trial.schema.migrate(ours)
        #expect(
            try trial.schema.rollback(ours, to: 20240601120000000)
                == [20250214073000000, 20241105000000000, 20240922101112345])
        for file in files where file.version <= 20240601120000000 { try trial.run(file.url, in: plain) }
        // A renamed table has its name in quotes.
        let plainly = { (schema: [String]) in
            schema.map { $0.replacing(#/["`\s]+/#, with: "") }
        }
        #expect(try plainly(ours.schema()) == plainly(plain.schema()))

        #expect(try trial.schema.migrate(ours).applied.count == 3)
        for file in files where file.version > 20240601120000000 { try trial.run(file.url, in: plain) }
        #expect(try plainly(ours.schema()) == plainly(plain.schema()))
        let error = try failure { try trial.schema.rollback(ours, to: 20230704160000) }
        #expect(error.message.contains("20240110090000000_tags.sql"))
    }

    @Test("are refused if two files have the same version")
    func doubleVersion() throws {
        let error = try failure { try SchemaMigrator(directory: SampleMigrations.doubleVersion.folder) }
        #expect(
            error.description == """
                2_add_packets.sql: has version 2, which 002_add_supplier.sql has too. Give the newer one a version \
                of its own.
                """)
    }
}
