import AppMigrations
import DatabaseBatches
import DatabaseFiles
import Foundation
import GRDB
import MigrationTesting
import MigrationTools
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

/// Where what is unknown, or squashed, meets the other features.
@Suite("A database with unknown migrations", .timed)
struct NewerPairsTests {
    let folder: TemporaryFolder
    let queue: DatabaseQueue

    private static let known = ["1_photo.sql": "CREATE TABLE photo(id INTEGER PRIMARY KEY, data)"]
    private static let unknown = [
        "2_hash.sql": "-- migrations: compatible\nALTER TABLE photo ADD COLUMN hash",
        "2_hash.down.sql": "ALTER TABLE photo DROP COLUMN hash",
    ]

    init() throws {
        folder = try TemporaryFolder()
        queue = try folder.queue()
    }

    private func schema(
        _ files: [String: String], _ options: SchemaOptions = SchemaOptions()
    ) throws -> SchemaMigrator {
        try SchemaMigrator(directory: folder.folder(files, named: UUID().uuidString), options: options)
    }

    private func older(_ rule: SchemaOptions.NewerDatabaseRule = .refuse) throws -> SchemaMigrator {
        try schema(Self.known, SchemaOptions(newerDatabases: rule))
    }

    private func newer() throws -> SchemaMigrator { try schema(Self.known.merging(Self.unknown) { $1 }) }

    private func manager(
        _ version: String, _ schema: SchemaMigrator, isNewer: Bool = false
    ) throws -> MigrationManager {
        let manager = try MigrationManager(
            name: "Library", currentVersion: version, adopting: .newApp,
            store: .jsonFile(at: folder.url.appendingPathComponent("migrations.json")))
        manager.whenMigratingToVersion("1.0", migrate: schema, upTo: 1, in: queue)
        manager.afterMigratingToVersion("1.1", in: queue, overRowsOf: "photo") { db, rows in
            try db.execute(
                literal: "UPDATE photo SET data = upper(data) WHERE data = 'a' AND \(rows.condition)")
        }
        guard isNewer else { return manager }
        manager.whenMigratingToVersion("2.0", migrate: schema, in: queue)
        manager.whenMigratingToVersion("2.0", in: queue) { db in
            try db.execute(sql: "UPDATE photo SET hash = 'hash of ' || data")
        }
        return manager
    }

    private func launchNewer() throws {
        try manager("2.0", newer(), isNewer: true).migrate()
    }

    /// Installs version 1.0, adds rows, and then launches the newer version.
    private func installAndUpgrade() throws {
        let first = try MigrationManager(
            name: "Library", currentVersion: "1.0", adopting: .newApp,
            store: .jsonFile(at: folder.url.appendingPathComponent("migrations.json")))
        first.whenMigratingToVersion("1.0", migrate: try older(), upTo: 1, in: queue)
        try first.migrate()
        try queue.execute("INSERT INTO photo(data) VALUES ('a'), ('b')")
        try launchNewer()
    }

    @Test("is rehearsed on a copy, and stays as it is")
    func rehearsal() throws {
        try newer().migrate(queue)
        try queue.execute("INSERT INTO photo(data, hash) VALUES ('a', 1)")
        let rehearsal = try older(.rollBack).rehearse(queue)
        #expect(rehearsal.undone == [2])
        #expect(rehearsal.summary.contains("↶  2  undone"))
        let change = "table `photo`: column `hash` was removed: it was without a type"
        #expect(rehearsal.schemaChanges == [change])
        #expect(rehearsal.rows.map { [$0.before, $0.after] } == [[1, 1]])
        #expect(try queue.ledger() == [1, 2])
        let columns = try queue.strings("SELECT name FROM pragma_table_info('photo')")
        #expect(columns == ["id", "data", "hash"])
    }

    @Test("keeps them when an edit of a known file is accepted")
    func acceptedEdit() throws {
        try newer().migrate(queue)
        let edited = try schema(
            ["1_photo.sql": "CREATE TABLE photo(id INTEGER PRIMARY KEY, data TEXT)"],
            SchemaOptions(editedMigrations: .refuse))
        #expect(try failure { try edited.migrate(queue) }.code == .differentSchema)
        try edited.acceptEdits(queue, of: [1])
        #expect(try edited.migrate(queue).newer == [2])
        #expect(try queue.ledger() == [1, 2])
    }

    @Test("has deferred steps after a downgrade, which wait for the newer version")
    func deferred() throws {
        try installAndUpgrade()
        let older = try manager("1.1", older())
        #expect(try older.migrate().launch == .downgrade(from: "2.0"))
        #expect(try older.runDeferred().completed == [])
        #expect(try queue.strings("SELECT data FROM photo") == ["a", "b"])
        let newer = try manager("2.0", newer(), isNewer: true)
        #expect(try newer.migrate().returnedFromDowngrade)
        #expect(try newer.runDeferred().completed.versions == ["1.1"])
        #expect(try queue.strings("SELECT data FROM photo") == ["A", "b"])
    }

    @Test("repeats no step of the newer version after they were undone, unless it is asked to")
    func rerun() throws {
        try installAndUpgrade()
        #expect(try manager("1.1", older(.rollBack)).migrate().schemaSteps.map(\.undone) == [["2"]])
        let newer = try manager("2.0", newer(), isNewer: true)
        #expect(try newer.migrate().completed == [])
        #expect(try queue.strings("SELECT coalesce(hash, 'none') FROM photo") == ["none", "none"])
        try newer.rerun("2.0")
        #expect(try newer.migrate().completed.versions == ["2.0"])
        #expect(
            try queue.strings("SELECT coalesce(hash, 'none') FROM photo") == ["hash of a", "hash of b"])
    }

    @Test("has a backup that the older build restores, and then undoes again")
    func backup() throws {
        try newer().migrate(queue)
        var older = try older(.rollBack)
        older.options.backupFolder = folder.url.appendingPathComponent("Backups")
        let backup = try #require(try older.migrate(queue).backup)
        try older.restore(backup, to: queue)
        #expect(try queue.ledger() == [1, 2])
        #expect(try older.migrate(queue).undone == [2])
    }

    @Test("goes on with a squashed set that does not have them either")
    func squashed() throws {
        let first = Self.known.merging(["2_tag.sql": "CREATE TABLE tag(id INTEGER PRIMARY KEY)"]) { $1 }
        let later = ["3_hash.sql": "-- migrations: compatible\nALTER TABLE photo ADD COLUMN hash"]
        try schema(first.merging(later) { $1 }).migrate(queue)
        let squashed = try schema([
            "2_baseline.sql": """
            -- replaces: 1 photo
            -- replaces: 2 tag
            CREATE TABLE photo(id INTEGER PRIMARY KEY, data);
            CREATE TABLE tag(id INTEGER PRIMARY KEY);
            """
        ])
        #expect(try squashed.migrate(queue).newer == [3])
        #expect(try squashed.migrate(queue).applied == [])
        #expect(try queue.ledger() == [1, 2, 3])
    }

    @Test("is one on which a squashed set begins, whose unknown migrations are undone as before")
    func squashedAndUndone() throws {
        let baseline = [
            "1_baseline.sql": "-- replaces: 1 photo\nCREATE TABLE photo(id INTEGER PRIMARY KEY, data)"
        ]
        try schema(baseline.merging(Self.unknown) { $1 }).migrate(queue)
        let report = try schema(baseline, SchemaOptions(newerDatabases: .rollBack)).migrate(queue)
        #expect(report.undone == [2])
        #expect(try queue.ledger() == [1])
        #expect(try older().migrate(queue).applied == [])
    }
}
