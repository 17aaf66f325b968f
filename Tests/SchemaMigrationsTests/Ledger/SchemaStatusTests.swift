import AppMigrations
import Foundation
import GRDB
import MigrationTools
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("Inspecting a database", .timed)
struct SchemaStatusTests {
    let folder: TemporaryFolder
    let queue: DatabaseQueue

    private static let files = [
        "1_first step.sql": "CREATE TABLE a(x);\nINSERT INTO a VALUES ('it''s');",
        "2_b.sql": "CREATE TABLE b(x);",
        "4_d.sql": "CREATE TABLE d(x);",
    ]

    init() throws {
        folder = try TemporaryFolder()
        queue = try folder.queue()
    }

    @Test("reports its whole status")
    func status() throws {
        let schema = try folder.migrator(Self.files)
        try queue.execute("CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL)")
        var status = try queue.read(schema.status)
        #expect(status.hasMigrationsTable)
        #expect(status.originVersion == nil)
        #expect(status.pendingVersions == [1, 2, 4])
        #expect(try queue.tables() == [])

        try queue.execute("INSERT INTO schema_migrations VALUES (2), (3), (9)")
        status = try queue.read(schema.status)
        #expect(status.originVersion == 2)
        #expect(status.currentVersion == 9)
        #expect(status.appliedVersions == [2, 3, 9])
        #expect(status.pendingVersions == [4])
        #expect(!status.pendingVersions.isEmpty)
        #expect(status.skippedVersions == [1])
        #expect(status.editedVersions == [])
        #expect(status.unknownVersions == [3, 9])
    }

    @Test("lists the history with names, origins, dates, durations and app versions")
    func history() throws {
        let start = Date()
        try queue.execute(
            "CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL); INSERT INTO schema_migrations VALUES (1)"
        )
        let schema = try SchemaMigrator(
            directory: folder.folder(Self.files), options: SchemaOptions(appVersion: "2.1+417"))
        try schema.migrate(queue, upTo: 2)
        try schema.markApplied(queue, upTo: 4)
        let history = try queue.read(AppliedMigration.fetchAll)
        #expect(history.map(\.version) == [1, 2, 4])
        #expect(history.map(\.name) == [nil, "b", "d"])
        #expect(history.map(\.origin) == [.unknown, .applied, .marked])
        #expect(history.map(\.appVersion?.description) == [nil, "2.1+417", nil])
        #expect(history.map { $0.duration == nil } == [true, false, true])
        #expect(history[0].date == nil)
        let date = try #require(history[1].date)
        // Dates have a precision of one second.
        #expect(date >= start.addingTimeInterval(-1) && date <= Date())
    }

    @Test("finds a migration by its version")
    func find() throws {
        let schema = try SchemaMigrator(
            directories: [folder.folder(Self.files)],
            migrations: [CodeMigration(3, sql: ""), CodeMigration(5, sql: "")])
        #expect(schema.migration(version: 1)?.name == "first step")
        #expect(schema.migration(version: 6) == nil)
    }

    @Test(
        "reports no edit if only white space, comments and line ends change",
        arguments: [
            "CREATE TABLE a(x);\nINSERT INTO a VALUES ('it''s');",
            "\u{FEFF}-- Why.\r\nCREATE  TABLE a ( x ) ;\r\n\r\nINSERT INTO a VALUES('it''s') /* text */ ;\n",
        ])
    func sameTokens(sql: String) throws {
        try folder.migrator(Self.files).migrate(queue)
        var schema = try folder.migrator(["1_first step.sql": sql])
        #expect(try queue.read(schema.status).editedVersions == [])
        schema.options.editedMigrations = .refuse
        #expect(try schema.migrate(queue).applied == [])
    }

    @Test(
        "reports an edit if tokens change",
        arguments: [
            "CREATE TABLE a(y);\nINSERT INTO a VALUES ('it''s');",
            "CREATE TABLE a(x);\nINSERT INTO a VALUES ('its');",
            "CREATE TABLE a(x);\nINSERT INTO a VALUES ('it''s'); SELECT 1;", "CREATE TABLE a(x);",
            "-- Nothing.",
            "create table a(x);\nINSERT INTO a VALUES ('it''s');",
        ])
    func otherTokens(sql: String) throws {
        try folder.migrator(Self.files).migrate(queue)
        var schema = try folder.migrator(["1_first step.sql": sql])
        #expect(try queue.read(schema.status).editedVersions == [1])
        #expect(try schema.migrate(queue).applied == [])

        schema.options.editedMigrations = .refuse
        let error = try failure { try schema.migrate(queue) }
        #expect(error.code == .differentSchema)
        #expect(
            error.description == """
                1_first step.sql: was edited after it had been applied to this database. Undo the edit and write a \
                new migration, or accept it with `app-migrations accept`.
                """)
        #expect(error.file == "1_first step.sql")

        try schema.acceptEdits(queue, of: [1])
        #expect(try queue.read(schema.status).editedVersions == [])
        #expect(try schema.migrate(queue).applied == [])
        #expect(try queue.tables() == ["a", "b", "d"])
    }

    @Test("refuses to accept an edit of an unknown version")
    func acceptUnknown() throws {
        let schema = try folder.migrator(Self.files)
        let error = try failure { try schema.acceptEdits(queue, of: [1, 3]) }
        #expect(error.description == "No migration has version 3. The latest is 4.")
    }

    @Test("reports no edit of a migration that another tool has applied")
    func unknownChecksum() throws {
        try queue.execute(
            "CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL); INSERT INTO schema_migrations VALUES (1)"
        )
        #expect(try queue.read(folder.migrator(Self.files).status).editedVersions == [])
    }

    @Test("reports an edit of a migration in the app's code")
    func editedCode() throws {
        func schema(_ sql: String) throws -> SchemaMigrator {
            try SchemaMigrator(migrations: [SQLMigration(version: 1, name: "a", sql: sql)])
        }
        try schema("CREATE TABLE a(x)").migrate(queue)
        #expect(try queue.read(schema("CREATE TABLE a(y)").status).editedVersions == [1])
        #expect(try queue.read(schema("CREATE TABLE a(x) -- x").status).editedVersions == [])
    }

    @Test("allows a newer database if the option is set")
    func allowNewer() throws {
        try folder.migrator(Self.files).migrate(queue)
        var older = try SchemaMigrator(migrations: [
            CodeMigration(1, sql: ""), CodeMigration(2, sql: ""), CodeMigration(3, sql: "CREATE TABLE c(x)"),
        ])
        #expect(try failure { try older.migrate(queue) }.code == .newerThanThisProcess)
        older.options.newerDatabases = .allow
        #expect(try older.migrate(queue).applied == [3])
        #expect(try queue.ledger() == [1, 2, 3, 4])
        let status = try queue.read(older.status)
        #expect(status.currentVersion == 4)
    }

    @Test("refuses a database with a different set of migrations")
    func differentSet() throws {
        try folder.migrator(Self.files).migrate(queue)
        let other = try SchemaMigrator(migrations: [
            CodeMigration(3, sql: "CREATE TABLE c(x)"), CodeMigration(7, sql: ""),
        ])
        let error = try failure { try other.migrate(queue) }
        #expect(error.code == .differentSchema)
        #expect(
            error.description == """
                The database has had 3 migrations, none of which is known to this migrator. One database has one set \
                of migrations: join the folders in one SchemaMigrator. Nothing was changed.
                """)
        #expect(try queue.tables() == ["a", "b", "d"])
    }

    @Test("refuses a database with one migration of a different set, in the singular")
    func oneOfDifferentSet() throws {
        try SchemaMigrator(migrations: [CodeMigration(1, sql: "CREATE TABLE a(x)")]).migrate(queue)
        let other = try SchemaMigrator(migrations: [CodeMigration(7, sql: "")])
        let error = try failure { try other.migrate(queue) }
        #expect(error.message == "The database has had 1 migration, which is not known to this migrator.")
    }
}
