import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A schema migrator", .timed)
struct SchemaMigratorTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private static let files = [
        "1_a.sql": "CREATE TABLE a(x);", "2_b.sql": "CREATE TABLE b(x);", "3_c.sql": "CREATE TABLE c(x);",
    ]

    @Test("applies pending migrations once, in order")
    func migrate() throws {
        let schema = try folder.migrator(Self.files)
        let queue = try folder.queue()
        #expect(try schema.migrate(queue).applied == [1, 2, 3])
        #expect(try queue.tables() == ["a", "b", "c"])
        #expect(try queue.ledger() == [1, 2, 3])
        #expect(try schema.migrate(queue).applied == [])
    }

    @Test("migrates up to a version, and never down")
    func upTo() throws {
        let schema = try folder.migrator(Self.files)
        let queue = try folder.queue()
        #expect(try schema.migrate(queue, upTo: 2).applied == [1, 2])
        #expect(try schema.migrate(queue, upTo: 1).applied == [])
        #expect(try queue.tables() == ["a", "b"])
        #expect(try schema.migrate(queue, upTo: 3).applied == [3])
    }

    @Test("refuses an unknown version")
    func unknownVersion() throws {
        let schema = try folder.migrator(Self.files)
        let error = try #require(throws: MigrationError.self) {
            try schema.migrate(folder.queue(), upTo: 4)
        }
        #expect(error.code == .misuse)
        #expect(error.description == "No migration has version 4. The latest is 3.")
    }

    @Test("needs at least one migration")
    func none() throws {
        let error = try #require(throws: MigrationError.self) { try SchemaMigrator(migrations: []) }
        #expect(error.code == .invalidMigration)
        #expect(
            error.description == "There are no migrations. Pass at least one, or a folder that holds some.")
    }

    @Test("refuses a negative version")
    func negative() throws {
        let error = try #require(throws: MigrationError.self) {
            try SchemaMigrator(migrations: [CodeMigration(1, sql: ""), CodeMigration(-1, sql: "")])
        }
        #expect(error.code == .invalidMigration)
        #expect(
            error.description
                == "Code-1: has the negative version -1. Use a version of at least 0, preferably a timestamp."
        )
    }

    @Test("finds its folder in a bundle")
    func bundle() throws {
        let resources = try folder.folder(Self.files, named: "Test.bundle/schema").deletingLastPathComponent()
        let bundle = try #require(Bundle(path: resources.path))
        let schema = try SchemaMigrator(bundle: bundle, subdirectory: "schema")
        #expect(schema.migrations.map(\.version) == [1, 2, 3])
    }

    @Test("reports the status of a database")
    func status() throws {
        let schema = try folder.migrator(Self.files)
        let queue = try folder.queue()
        let new = try queue.read(schema.status)
        #expect(!new.hasMigrationsTable)
        #expect(new.originVersion == nil)
        #expect(new.currentVersion == nil)
        #expect(new.appliedVersions == [])
        #expect(new.pendingVersions == [1, 2, 3])
        #expect(!new.pendingVersions.isEmpty)
        #expect(try queue.strings("SELECT name FROM sqlite_master") == [])

        try schema.migrate(queue, upTo: 2)
        let half = try queue.read(schema.status)
        #expect(half.hasMigrationsTable)
        #expect(half.originVersion == 1)
        #expect(half.currentVersion == 2)
        #expect(half.appliedVersions == [1, 2])
        #expect(half.pendingVersions == [3])
        #expect(half.skippedVersions == [])
        #expect(half.unknownVersions == [])

        try schema.migrate(queue)
        #expect(try queue.read(schema.status).pendingVersions.isEmpty)
    }

    @Test("runs migrations added out of order, even below the lowest applied version")
    func late() throws {
        let queue = try folder.queue()
        try SchemaMigrator(migrations: [CodeMigration(2, sql: "CREATE TABLE b(x)")]).migrate(queue)
        try SchemaMigrator(migrations: [
            CodeMigration(2, sql: ""), CodeMigration(4, sql: "CREATE TABLE d(x)"),
        ]).migrate(
            queue)
        let schema = try SchemaMigrator(migrations: [
            CodeMigration(1, sql: "CREATE TABLE a(x)"), CodeMigration(2, sql: ""),
            CodeMigration(3, sql: "CREATE TABLE c(x)"),
            CodeMigration(4, sql: ""),
        ])
        #expect(try queue.read(schema.status).skippedVersions == [])
        #expect(try schema.migrate(queue).applied == [1, 3])
        #expect(try queue.tables() == ["a", "b", "c", "d"])
        #expect(try queue.read(schema.status).originVersion == 1)
    }

    // MARK: Databases that it refuses or adopts

    @Test("refuses a database of a newer app, and leaves it unchanged")
    func newer() throws {
        let schema = try folder.migrator(Self.files)
        let queue = try folder.queue()
        try schema.migrate(queue)
        let older = try SchemaMigrator(migrations: [CodeMigration(1, sql: ""), CodeMigration(2, sql: "")])
        let error = try #require(throws: MigrationError.self) { try older.migrate(queue) }
        #expect(error.code == .newerThanThisProcess)
        #expect(
            error.description == """
                The database has had migrations that are unknown and not compatible: 3_c. A newer version of the app has \
                applied them: update the app. If their files were removed, put them back. Nothing was changed.
                """)
        #expect(try queue.read(older.status).unknownVersions == [3])
        #expect(try queue.ledger() == [1, 2, 3])
    }

    @Test(
        "refuses a database with tables that it does not know",
        arguments: ["TABLE t(x)", "VIEW t AS SELECT 1"])
    func unmanaged(object: String) throws {
        let schema = try folder.migrator(Self.files, adopting: SchemaAdoption { _ in nil })
        let queue = try folder.queue()
        try queue.execute("CREATE \(object)")
        let error = try #require(throws: MigrationError.self) { try schema.migrate(queue) }
        #expect(error.code == .undecided)
        #expect(
            error.description == """
                The database has tables, but there is no `schema_migrations` table, and `adopting` finds no version. \
                Pass the migrator an `adopting:` that returns the version of the tables, such as `SchemaAdoption { db in … }`. \
                Nothing was changed.
                """)
        #expect(try queue.strings("SELECT name FROM sqlite_master") == ["t"])
    }

    @Test("marks the migrations of an adopted database, and runs the rest")
    func adopting() throws {
        let schema = try folder.migrator(
            Self.files, adopting: SchemaAdoption { db in try db.tableExists("b") ? 2 : nil })
        let queue = try folder.queue()
        try queue.execute("CREATE TABLE a(x); CREATE TABLE b(x)")
        #expect(try schema.migrate(queue).applied == [3])
        #expect(try queue.ledger() == [1, 2, 3])
        #expect(
            try queue.strings("SELECT origin FROM schema_migrations_details ORDER BY version")
                == ["marked", "marked", "applied"])
        #expect(try queue.tables() == ["a", "b", "c"])
    }

    @Test("writes the ledger of an adopted database that is up to date, and runs nothing")
    func adoptingLatest() throws {
        let schema = try folder.migrator(Self.files, adopting: SchemaAdoption { _ in 3 })
        let queue = try folder.queue()
        try queue.execute("CREATE TABLE a(x); CREATE TABLE b(x); CREATE TABLE c(x)")
        #expect(try schema.migrate(queue).applied == [])
        #expect(try queue.ledger() == [1, 2, 3])
        #expect(try schema.migrate(queue).applied == [])
    }

    @Test("does not adopt a new database or one with a ledger")
    func adoptingNothing() throws {
        let schema = try folder.migrator(Self.files, adopting: SchemaAdoption { _ in throw Mishap() })
        let queue = try folder.queue()
        #expect(try schema.migrate(queue, upTo: 1).applied == [1])
        #expect(try schema.migrate(queue).applied == [2, 3])
    }

    @Test("refuses to adopt a database at an unknown version")
    func adoptingUnknown() throws {
        let schema = try folder.migrator(Self.files, adopting: SchemaAdoption { _ in 4 })
        let queue = try folder.queue()
        try queue.execute("CREATE TABLE a(x)")
        let error = try #require(throws: MigrationError.self) { try schema.migrate(queue) }
        #expect(error.code == .newerThanThisProcess)
        #expect(error.description.hasPrefix("`adopting` says 4; the latest migration is 3. If a newer"))
        #expect(try queue.strings("SELECT name FROM sqlite_master") == ["a"])
    }

    @Test("does not run migrations below the origin of another tool's ledger, and lists them")
    func belowOrigin() throws {
        let schema = try folder.migrator(Self.files)
        let queue = try folder.queue()
        try queue.execute(
            """
            CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL);
            INSERT INTO schema_migrations VALUES (2);
            """)
        let status = try queue.read(schema.status)
        #expect(status.originVersion == 2)
        #expect(status.skippedVersions == [1])
        #expect(status.pendingVersions == [3])
        #expect(try schema.migrate(queue).applied == [3])
        #expect(try queue.tables() == ["c"])
        #expect(try queue.read(schema.status).skippedVersions == [1])
    }
}
