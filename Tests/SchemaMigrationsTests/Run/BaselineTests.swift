import GRDB
import MigrationTesting
import SchemaMigrations
import TestSupport
import Testing

@Suite("A set of migrations with a baseline", .timed)
struct BaselineTests {
    let folder: TemporaryFolder
    let queue: DatabaseQueue

    private static let unsquashed = [
        "1_a.sql": "CREATE TABLE a(x)", "2_b.sql": "CREATE TABLE b(x)",
        "3_c.sql": "CREATE TABLE c(x); INSERT INTO c VALUES (1)", "4_d.sql": "CREATE TABLE d(x)",
    ]
    private static let squashed = [
        "3_baseline.sql": """
        -- replaces: 1 a
        -- replaces: 2 b
        -- replaces: 3 c
        -- last release: 2.4
        CREATE TABLE a(x); CREATE TABLE b(x); CREATE TABLE c(x); INSERT INTO c VALUES (1);
        """,
        "4_d.sql": "CREATE TABLE d(x)",
    ]

    init() throws {
        folder = try TemporaryFolder()
        queue = try folder.queue()
    }

    private var before: SchemaMigrator { get throws { try migrator(Self.unsquashed, "before") } }
    private var after: SchemaMigrator { get throws { try migrator(Self.squashed, "after") } }

    private func migrator(_ files: [String: String], _ name: String) throws -> SchemaMigrator {
        try SchemaMigrator(
            directory: folder.folder(files, named: name), options: SchemaOptions(differentSchemas: .refuse))
    }

    @Test("builds a new database from it, which an older build without it can use")
    func fresh() throws {
        #expect(try after.migrate(queue).applied == [3, 4])
        #expect(try queue.tables() == ["a", "b", "c", "d"])
        #expect(try queue.integers("SELECT x FROM c") == [1])
        #expect(try after.migrate(queue).applied == [])
        #expect(try before.migrate(queue).applied == [])
        #expect(try queue.read(before.status).skippedVersions == [1, 2])
    }

    @Test("skips it in a database that has had its migrations", arguments: [3, 4] as [SchemaVersion])
    func above(version: SchemaVersion) throws {
        try before.migrate(queue, upTo: version)
        #expect(try after.migrate(queue).applied == (version == 3 ? [4] : []))
        #expect(try queue.ledger() == [1, 2, 3, 4])
        let status = try queue.read(after.status)
        #expect(status.unknownVersions == [])
        #expect(status.editedVersions == [])
        #expect(status.pendingVersions == [])
        #expect(try before.migrate(queue).applied == [])
    }

    @Test("refuses a database below it, and names the last release that could migrate it")
    func tooOld() throws {
        try before.migrate(queue, upTo: 2)
        let error = try failure { try after.migrate(queue) }
        #expect(error.code == .tooOld)
        #expect(
            error.description == """
                The database is too old: it is without migration 3, which was squashed into 3_baseline.sql. Version 2.4 of \
                the app can still migrate it: launch that first. Nothing was changed.
                """)
        #expect(try queue.tables() == ["a", "b"])
    }

    @Test("refuses a database that lacks a migration in between, which came late")
    func gap() throws {
        try migrator(Self.unsquashed.filter { $0.key != "2_b.sql" }, "gap").migrate(queue, upTo: 3)
        let error = try failure { try after.migrate(queue) }
        #expect(error.message.hasPrefix("The database is too old: it is without migration 2"))
    }

    @Test("accepts a database that began above some of its migrations")
    func floor() throws {
        try before.markApplied(queue, upTo: 2)
        try queue.execute("DELETE FROM schema_migrations WHERE version = 1")
        try queue.execute("CREATE TABLE a(x); CREATE TABLE b(x)")
        #expect(try before.migrate(queue, upTo: 3).applied == [3])
        #expect(try after.migrate(queue).applied == [4])
    }

    @Test("refuses tables that are adopted at a version below it")
    func adoption() throws {
        try queue.execute("CREATE TABLE a(x); PRAGMA user_version = 1")
        func schema(_ version: SchemaVersion) throws -> SchemaMigrator {
            try SchemaMigrator(
                directory: folder.folder(Self.squashed, named: "after"),
                adopting: .userVersion(means: [1: version]))
        }
        let error = try failure { try schema(1).migrate(queue) }
        #expect(error.code == .tooOld)
        #expect(error.message.hasPrefix("The database is too old: it is at version 1"))
        #expect(try schema(3).migrate(queue).applied == [4])
    }

    @Test("refuses a database of another set")
    func differentSet() throws {
        try SchemaMigrator(migrations: [CodeMigration(7, sql: "")]).migrate(queue)
        #expect(try failure { try after.migrate(queue) }.code == .differentSet)
    }

    @Test("passes the upgrade matrix, and a snapshot can be made of it")
    func matrixAndSnapshot() throws {
        #expect(try UpgradeMatrix(of: after).run().upgrades.count == 2)
        let snapshot = folder.file("schema.sql")
        try after.writeSnapshot(to: snapshot)
        let schema = try SchemaMigrator(
            directory: folder.folder(Self.squashed, named: "after"), snapshot: snapshot)
        #expect(try schema.migrate(queue).applied == [3, 4])
        #expect(try before.migrate(queue).applied == [])
    }

    @Test("refuses a migration below it")
    func below() throws {
        let schema = try migrator(
            Self.squashed.merging(["2_late.sql": "CREATE TABLE late(x)"]) { $1 }, "below")
        let error = try failure { try schema.migrate(queue) }
        #expect(
            error.message
                == "3_baseline.sql: stands for older migrations, but 2_late.sql has a lower version.")
    }
}
