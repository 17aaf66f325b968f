import AppMigrations
import Foundation
import GRDB
import MigrationDiagnostics
import MigrationTools
import TestSupport
import TestTraits
import Testing

@testable import SchemaMigrations

@Suite("The ledger", .timed)
struct LedgerTests {
    let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
    }

    private func ledger() throws -> Ledger {
        try queue.read(Ledger.init)
    }

    @Test("has the same definition as in earlier tools")
    func definition() throws {
        try SchemaMigrator(migrations: [CodeMigration(1, sql: "")]).migrate(queue)
        #expect(
            try queue.strings("SELECT sql FROM sqlite_master WHERE name = 'schema_migrations'")
                == ["CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL)"])
        #expect(
            try queue.strings("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
                == ["schema_migrations", "schema_migrations_details"])
    }

    @Test("can be another tool's table")
    func foreign() throws {
        try queue.execute(
            "CREATE TABLE \"schema_migrations\" (\"version\" INTEGER PRIMARY KEY); INSERT INTO schema_migrations VALUES (1)"
        )
        #expect(
            try SchemaMigrator(migrations: [CodeMigration(1, sql: ""), CodeMigration(2, sql: "")]).migrate(
                queue
            )
            .applied == [2]
        )
        #expect(try queue.ledger() == [1, 2])
    }

    @Test("may have its name in capitals, for reading as for migrating")
    func capitals() throws {
        try queue.execute(
            "CREATE TABLE SCHEMA_MIGRATIONS(version INTEGER UNIQUE NOT NULL); INSERT INTO schema_migrations VALUES (1)"
        )
        let schema = try SchemaMigrator(migrations: [CodeMigration(1, sql: ""), CodeMigration(2, sql: "")])
        #expect(try queue.read(schema.status).pendingVersions == [2])
        #expect(try queue.read { try schema.pending($0) } == [2])
        #expect(try schema.migrate(queue).applied == [2])
        #expect(try queue.read(schema.status).appliedVersions == [1, 2])
        #expect(
            try SchemaMigrator(migrations: [CodeMigration(1, sql: "")]).migrate(DatabaseQueue()).applied == [
                1
            ])
    }

    @Test("that was emptied is an error while its details know better")
    func emptied() throws {
        let schema = try SchemaMigrator(migrations: [CodeMigration(1, sql: ""), CodeMigration(2, sql: "")])
        try schema.migrate(queue)
        try queue.execute("DELETE FROM schema_migrations")
        let expected = """
            The table schema_migrations is empty, although schema_migrations_details lists 2 applied migrations. Nothing \
            was changed. Insert the versions of the details into schema_migrations; or, if all migrations are to run \
            again, delete the details.
            """
        #expect(try failure { try schema.migrate(queue) }.description == expected)
        #expect(try failure { try queue.read(schema.status) }.description == expected)
        try queue.execute(
            "INSERT INTO schema_migrations SELECT version FROM schema_migrations_details WHERE version = 1")
        #expect(try schema.migrate(queue).applied == [2])
        #expect(try schema.rollback(queue, to: 2) == [])
    }

    @Test("whose details lack a column is left as it is, and nobody is told to drop them")
    func incompleteDetails() throws {
        let schema = try SchemaMigrator(migrations: [CodeMigration(1, sql: "")])
        try schema.migrate(queue)
        try queue.execute("ALTER TABLE schema_migrations_details DROP COLUMN seconds")
        #expect(
            try failure { try queue.read(AppliedMigration.fetchAll) }.description == """
                The table schema_migrations_details lacks a column: no such column: seconds. It was left as it is. Add the \
                column by hand. Do not drop the table: without it, the database looks as if another tool had migrated it.
                """)
    }

    @Test(
        "that is refused stays without details",
        arguments: [
            "CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL, who TEXT NOT NULL)",
            "CREATE TABLE schema_migrations(other)",
            "CREATE VIEW schema_migrations AS SELECT 0 AS version WHERE 0",
        ])
    func refused(sql: String) throws {
        try queue.execute(sql)
        let schema = try SchemaMigrator(migrations: [CodeMigration(1, sql: "CREATE TABLE a(x)")])
        for attempt in 0..<2 {
            let error = try failure {
                if attempt == 0 { try schema.migrate(queue) } else { try schema.markApplied(queue, upTo: 1) }
            }
            #expect(error.code == .databaseFailed)
            #expect(
                try queue.strings("SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite%'") == [
                    "schema_migrations"
                ])
        }
    }

    @Test("stores details about migrations in a second table")
    func details() throws {
        let folder = try TemporaryFolder()
        try folder.migrator(["1_first step.sql": "CREATE TABLE a(x)"]).migrate(queue)
        let row = try #require(
            try queue.read { db in try Row.fetchOne(db, sql: "SELECT * FROM schema_migrations_details") })
        #expect(row["version"] == 1)
        #expect(row["name"] == "first step")
        #expect(row["origin"] == "applied")
        #expect((row["checksum"] as String?)?.count == 16)
        #expect((row["applied"] as Date?) != nil)
        #expect((row["seconds"] as Double?).map { $0 >= 0 } == true)
    }

    @Test("has no versions and no floor if it is missing or empty", arguments: [false, true])
    func empty(exists: Bool) throws {
        if exists { try queue.execute("CREATE TABLE \(LedgerTables.versions)") }
        let ledger = try ledger()
        #expect(ledger.exists == exists)
        #expect(ledger.applied == [])
        #expect(ledger.originVersion == nil)
        #expect(ledger.currentVersion == nil)
        #expect(ledger.floor == nil)
    }

    @Test("has its lowest version as floor, unless that version was applied here")
    func floor() throws {
        try queue.execute(
            "CREATE TABLE \(LedgerTables.versions); INSERT INTO schema_migrations VALUES (7), (3), (5)")
        #expect(try ledger().floor == 3)
        #expect(try ledger().originVersion == 3)
        #expect(try ledger().currentVersion == 7)

        try queue.execute(
            """
            CREATE TABLE \(LedgerTables.details);
            INSERT INTO schema_migrations_details(version, name, origin, applied) VALUES (5, '', 'applied', '')
            """)
        #expect(try ledger().floor == 3)
        try queue.execute(
            "INSERT INTO schema_migrations_details(version, name, origin, applied) VALUES (3, '', 'marked', '')"
        )
        #expect(try ledger().floor == 3)
        try queue.execute("UPDATE schema_migrations_details SET origin = 'applied' WHERE version = 3")
        #expect(try ledger().floor == nil)
    }

    private static let remedy = """
        It was left as it is. If another tool or the app itself made it, let the app look for that tool's columns before \
        it migrates, rename the table if it has them, and return the version of the tables from `adopting`. If not, fix \
        it by hand: it needs a column `version`, with an integer for each migration.
        """

    @Test(
        "is refused if it holds values that are not versions",
        arguments: [
            ("NULL", "NULL"), ("'abc'", "\"abc\""), ("1.5", "1.5"), ("x'00'", "Data(1 bytes)"),
            ("''", "\"\""),
        ])
    func damagedRow(value: String, description: String) throws {
        try queue.execute(
            "CREATE TABLE schema_migrations(version); INSERT INTO schema_migrations VALUES (1), (\(value))")
        let error = try #require(throws: MigrationError.self) {
            try SchemaMigrator(migrations: [CodeMigration(2, sql: "")]).migrate(queue)
        }
        #expect(error.code == .databaseFailed)
        #expect(
            error.description
                == "The table schema_migrations holds \(description), which is not an integer. \(Self.remedy)"
        )
        #expect(try queue.integer("SELECT count(*) FROM schema_migrations") == 2)
    }

    @Test("is refused if it has no column `version`")
    func damagedTable() throws {
        try queue.execute("CREATE TABLE schema_migrations(number INTEGER)")
        let error = try #require(throws: MigrationError.self) {
            try SchemaMigrator(migrations: [CodeMigration(2, sql: "")]).migrate(queue)
        }
        #expect(error.code == .databaseFailed)
        #expect(error.description == "The table schema_migrations has no column `version`. \(Self.remedy)")
        #expect(error.underlyingError is DatabaseError)
    }

    @Test("is not confused with a temporary table of the same name")
    func temporary() throws {
        try queue.execute(
            "CREATE TEMP TABLE schema_migrations(version); INSERT INTO temp.schema_migrations VALUES ('x')")
        #expect(
            try SchemaMigrator(migrations: [CodeMigration(1, sql: "CREATE TABLE main.a(x)")]).migrate(queue)
                .applied == [1]
        )
        #expect(try queue.integers("SELECT version FROM main.schema_migrations") == [1])
        #expect(try queue.strings("SELECT version FROM temp.schema_migrations") == ["x"])
    }

    @Test("has no checksum of a migration in Swift, so that no edit is found")
    func codeIsNotEdited() throws {
        let queue = try DatabaseQueue()
        let schema = try SchemaMigrator(migrations: [CodeMigration(1, sql: "CREATE TABLE a(x)")])
        try schema.migrate(queue)
        try schema.acceptEdits(queue, of: [1])
        #expect(try queue.read(schema.status).editedVersions == [])
    }
}
