import AppMigrations
import Foundation
import GRDB
import MigrationTools
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A database newer than the app", .timed)
struct NewerDatabaseTests {
    let folder: TemporaryFolder
    let queue: DatabaseQueue

    /// The files of the newer build: 3 adds a column, 4 a table.
    private static let files = [
        "1_book.sql": "CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT NOT NULL)",
        "2_data.sql": "INSERT INTO book(title) VALUES ('Emma')",
        "3_author.sql": "-- migrations: compatible\nALTER TABLE book ADD COLUMN author TEXT",
        "3_author.down.sql": "ALTER TABLE book DROP COLUMN author",
        "4_tag.sql":
            "-- migrations: compatible\nCREATE TABLE tag(id INTEGER PRIMARY KEY, book REFERENCES book)",
        "4_tag.down.sql": "DROP TABLE tag",
    ]

    init() throws {
        folder = try TemporaryFolder()
        queue = try folder.queue()
    }

    /// Migrates the database as the newer build does, with some files replaced; nil removes one.
    private func migrateAsNewer(_ changes: [String: String?] = [:], snapshot: URL? = nil) throws {
        let files = Self.files.merging(changes.compactMapValues { $0 ?? "" }) { $1 }.filter { $0.value != "" }
        let directory = try folder.folder(files, named: UUID().uuidString)
        try SchemaMigrator(directory: directory, snapshot: snapshot).migrate(queue)
    }

    /// Creates the migrator of an older build, which knows the first two files, and perhaps others of its own.
    private func older(
        _ more: [String: String] = [:], _ rule: SchemaOptions.NewerDatabaseRule = .refuse
    ) throws -> SchemaMigrator {
        let known = Self.files.filter { $0.key < "3" }.merging(more) { $1 }
        return try SchemaMigrator(
            directory: folder.folder(known, named: UUID().uuidString),
            options: SchemaOptions(newerDatabases: rule))
    }

    private var columns: [String] {
        get throws { try queue.strings("SELECT name FROM pragma_table_info('book')") }
    }

    // MARK: Compatible migrations

    @Test("is used if every unknown migration is compatible, and reported")
    func compatible() throws {
        try migrateAsNewer()
        let report = try older().migrate(queue)
        #expect(report.applied == [])
        #expect(report.newer == [3, 4])
        #expect(try queue.ledger() == [1, 2, 3, 4])
        let status = try queue.read(older().status)
        #expect(status.unknownMigrations.map(\.isCompatible) == [true, true])
        #expect(status.unknownMigrations.map(\.canBeUndone) == [true, true])
        #expect(status.unknownMigrations.map(\.name) == ["author", "tag"])
    }

    @Test("is refused if one of two unknown migrations is not compatible")
    func oneIncompatible() throws {
        try migrateAsNewer(["3_author.sql": "ALTER TABLE book ADD COLUMN author TEXT"])
        let error = try failure { try older().migrate(queue) }
        #expect(error.code == .newerThanThisProcess)
        #expect(
            error.message
                == "The database has had migrations that are unknown and not compatible: 3_author.")
    }

    @Test("is judged by every unknown migration, also one below a known migration of another branch")
    func between() throws {
        let own = ["5_own.sql": "CREATE TABLE own(x)"]
        try migrateAsNewer(["3_author.sql": "ALTER TABLE book ADD COLUMN author TEXT"])
        #expect(try failure { try older(own).migrate(queue) }.code == .newerThanThisProcess)
        #expect(try queue.ledger() == [1, 2, 3, 4])
    }

    @Test("gets the pending migrations of a branch, above and below the unknown compatible ones")
    func ownBranch() throws {
        try migrateAsNewer(["3_author.sql": nil, "3_author.down.sql": nil])
        let own = ["3_low.sql": "CREATE TABLE low(x)", "5_high.sql": "CREATE TABLE high(x)"]
        let report = try older(own).migrate(queue)
        #expect(report.applied == [3, 5])
        #expect(report.newer == [4])
        #expect(try older(own).migrate(queue).newer == [4])
    }

    @Test("that began with a snapshot, or was adopted, is judged by the files that it stands for")
    func snapshotAndAdoption() throws {
        let directory = try folder.folder(Self.files, named: "all")
        try SchemaMigrator(directory: directory).markApplied(queue, upTo: 4)
        #expect(try older().migrate(queue).newer == [3, 4])
        let status = try queue.read(older().status)
        #expect(status.unknownMigrations.map(\.canBeUndone) == [true, true])
    }

    @Test("that another tool has migrated is refused above the known migrations, and accepted between them")
    func otherTool() throws {
        try queue.execute(
            """
            CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL);
            INSERT INTO schema_migrations VALUES (1), (2), (3), (4);
            """)
        #expect(try older(["5_own.sql": "CREATE TABLE own(x)"]).migrate(queue).applied == [5])
        let error = try failure { try older().migrate(queue) }
        #expect(error.message.hasSuffix("not compatible: 3, 4, 5_own."))
    }

    @Test("is compatible after migrations in Swift that say so")
    func code() throws {
        let both: [any SchemaMigration] = [
            CodeMigration(1, "a") { _ in }, CodeMigration(2, "b", isCompatible: true) { _ in },
        ]
        try SchemaMigrator(migrations: both).migrate(queue)
        let older = try SchemaMigrator(migrations: [both[0]])
        #expect(try older.migrate(queue).newer == [2])
        #expect(try queue.read(older.status).unknownMigrations.map(\.canBeUndone) == [false])
    }

    @Test("is not compared with the schema that the known migrations make")
    func verify() throws {
        try migrateAsNewer()
        var older = try older(["5_own.sql": "CREATE TABLE own(x)"])
        older.options.differentSchemas = .refuse
        #expect(try older.migrate(queue).applied == [5])
    }

    // MARK: Undoing

    @Test("is rolled back by the ledger alone, newest first, after a backup")
    func undone() throws {
        try migrateAsNewer()
        let before = try folder.queue("before.sqlite")
        try older().migrate(before)
        var older = try older([:], .rollBack)
        older.options.backupFolder = folder.url.appendingPathComponent("Backups")
        older.options.differentSchemas = .refuse
        let report = try older.migrate(queue)
        #expect(report.undone == [4, 3])
        #expect(report.newer == [])
        #expect(try queue.schema() == before.schema())
        #expect(try queue.strings("SELECT title FROM book") == ["Emma"])
        #expect(try queue.ledger() == [1, 2])
        #expect(try older.migrate(queue).applied == [])
        let copy = try DatabaseQueue(path: #require(report.backup).path)
        #expect(try copy.ledger() == [1, 2, 3, 4])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: #require(older.options.backupFolder).path)
                .count == 1)
    }

    @Test("is rolled back by down migrations that begin with another tool's mark")
    func markedDowns() throws {
        try migrateAsNewer([
            "3_author.down.sql": "-- +goose Down\nALTER TABLE book DROP COLUMN author",
            "4_tag.down.sql": "-- migrate:down\nDROP TABLE tag",
        ])
        #expect(try older([:], .rollBack).migrate(queue).undone == [4, 3])
        #expect(try columns == ["id", "title"])
    }

    @Test("is rolled back newest first, also if the newer app migrates on while this one waits")
    func migratedMeanwhile() throws {
        try migrateAsNewer(["4_tag.sql": nil, "4_tag.down.sql": nil])
        let newer = try SchemaMigrator(
            directory: folder.folder(
                Self.files.merging([
                    "4_tag.sql": "CREATE VIEW names AS SELECT author FROM book",
                    "4_tag.down.sql": "DROP VIEW names",
                ]) { $1 }, named: "newer"))
        let waits = Locked(true)
        var configuration = Configuration()
        configuration.prepareDatabase { [queue] db in
            // The statement that is traced has not taken the lock yet.
            db.trace { event in
                guard event.description.hasPrefix("BEGIN IMMEDIATE"),
                    waits.withLock({ waits in
                        defer { waits = false }
                        return waits
                    })
                else { return }
                #expect(throws: Never.self) { try newer.migrate(queue) }
            }
        }
        let waiting = try DatabaseQueue(path: queue.path, configuration: configuration)
        #expect(try older([:], .rollBack).migrate(waiting).undone == [4, 3])
        #expect(try columns == ["id", "title"])
    }

    @Test("changes branches: what the other branch did is undone, what this one lacks is applied")
    func branches() throws {
        try migrateAsNewer()
        let own = ["3_low.sql": "CREATE TABLE low(x)"]
        let schema = try older(
            ["5_own.sql": "CREATE TABLE own(x)", "5_own.down.sql": "DROP TABLE own"], .rollBack)
        let report = try schema.migrate(queue)
        #expect(report.undone == [4, 3])
        #expect(report.applied == [5])
        let next = try older(own, .rollBack).migrate(queue)
        #expect(next.undone == [5])
        #expect(next.applied == [3])
        #expect(try queue.tables() == ["book", "low"])
    }

    @Test("stays as it is if one unknown migration has no down migration")
    func allOrNone() throws {
        try migrateAsNewer([
            "3_author.sql": "ALTER TABLE book ADD COLUMN author TEXT", "4_tag.down.sql": "-- nothing",
        ])
        let error = try failure { try older([:], .rollBack).migrate(queue) }
        #expect(error.code == .newerThanThisProcess)
        #expect(error.message.hasSuffix("not compatible: 3_author; the ledger cannot undo 4_tag."))
        #expect(try queue.ledger() == [1, 2, 3, 4])
    }

    @Test("stays as it is if the down migrations cannot share a transaction")
    func differentModes() throws {
        try migrateAsNewer([
            "3_author.sql": "ALTER TABLE book ADD COLUMN author TEXT",
            "4_tag.down.sql": "-- migrations: foreign-keys=immediate\nDROP TABLE tag",
        ])
        let error = try failure { try older([:], .rollBack).migrate(queue) }
        #expect(error.code == .newerThanThisProcess)
        #expect(
            error.message.hasSuffix(
                "not compatible: 3_author; their down migrations use different foreign-key modes."))
        #expect(try queue.ledger() == [1, 2, 3, 4])
    }

    @Test("goes on as it is if it cannot be undone, and every unknown migration is compatible")
    func compatibleInstead() throws {
        try migrateAsNewer(["4_tag.down.sql": nil])
        #expect(try older([:], .rollBack).migrate(queue).newer == [3, 4])
    }

    @Test("stays as it is if a down migration fails")
    func failing() throws {
        try migrateAsNewer(["3_author.down.sql": "ALTER TABLE book DROP COLUMN author; DROP TABLE nowhere"])
        let error = try failure { try older([:], .rollBack).migrate(queue) }
        #expect(error.code == .stepFailed)
        #expect(
            error.message
                == "3_author (from the ledger).down.sql:1: no such table: nowhere (SQLite 1).")
        #expect(try columns == ["id", "title", "author"])
        #expect(try queue.ledger() == [1, 2, 3, 4])
    }

    @Test("stays as it is if undoing leaves rows without their parents")
    func orphans() throws {
        try migrateAsNewer([
            "3_author.down.sql": "DELETE FROM book; ALTER TABLE book DROP COLUMN author",
            "4_tag.down.sql": "SELECT 1",
        ])
        try queue.execute("INSERT INTO tag VALUES (1, 1)")
        #expect(try failure { try older([:], .rollBack).migrate(queue) }.code == .stepFailed)
        #expect(try queue.ledger() == [1, 2, 3, 4])
    }

    @Test("rolls back by the file where it is known, also if it was edited since")
    func knownDown() throws {
        try migrateAsNewer()
        let directory = try folder.folder(
            Self.files.merging(["4_tag.down.sql": "DROP TABLE tag; CREATE TABLE undone(x)"]) { $1 })
        try SchemaMigrator(directory: directory).rollback(queue, to: 3)
        #expect(try queue.tables() == ["book", "undone"])
    }

    // MARK: The ledger

    @Test("keeps no down migration that could not run in a transaction, or is broken")
    func unusableDowns() throws {
        try migrateAsNewer([
            "3_author.down.sql": "-- migrations: transaction=none\nVACUUM", "4_tag.down.sql": "COMMIT",
        ])
        #expect(try queue.read(older().status).unknownMigrations.map(\.canBeUndone) == [false, false])
    }

    @Test("has a ledger of an earlier format, which the next migration extends")
    func oldLedger() throws {
        try queue.execute(
            """
            CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL);
            CREATE TABLE schema_migrations_details(
                version INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL, origin TEXT NOT NULL, checksum TEXT,
                applied TEXT NOT NULL, seconds REAL, app TEXT);
            INSERT INTO schema_migrations VALUES (1), (2);
            INSERT INTO schema_migrations_details VALUES
                (1, 'book', 'applied', NULL, '2026-01-01T00:00:00Z', 0.1, '1.0'),
                (2, 'data', 'applied', NULL, '2026-01-01T00:00:00Z', 0.1, '1.0');
            CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT NOT NULL);
            """)
        let status = try queue.read(older().status)
        #expect(status.unknownVersions == [])
        #expect(status.appliedVersions == [1, 2])
        try migrateAsNewer()
        #expect(try older().migrate(queue).newer == [3, 4])
        // What an earlier format reads is where it was.
        #expect(
            try queue.strings(
                "SELECT version || name || origin || app FROM schema_migrations_details WHERE version < 3")
                == ["1bookapplied1.0", "2dataapplied1.0"])
    }
}
