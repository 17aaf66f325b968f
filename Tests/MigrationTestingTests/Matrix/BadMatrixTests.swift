import AppMigrations
import Foundation
import GRDB
import MigrationTesting
import SchemaMigrations
import TestSupport
import Testing

@Suite("An upgrade matrix that cannot run", .timed)
struct BadMatrixTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private static func migrations(third: String = "CREATE TABLE c(x);") -> [any SchemaMigration] {
        [
            SQLMigration(version: 1, name: "a", sql: "CREATE TABLE a(x TEXT);"),
            SQLMigration(version: 2, name: "b", sql: "CREATE TABLE b(x TEXT);"),
            SQLMigration(version: 3, name: "c", sql: third),
            SQLMigration(version: 4, name: "d", sql: "CREATE TABLE d(x TEXT);"),
        ]
    }

    private func message(_ matrix: UpgradeMatrix) throws -> String {
        try #require(throws: UpgradeMatrixError.self) { try matrix.run() }.description
    }

    @Test("reports the third file, which was edited to the same effect")
    func edited() throws {
        try folder.migrate(Self.migrations(), in: "3.sqlite", upTo: 3)
        let schema = try SchemaMigrator(
            migrations: Self.migrations(third: "CREATE TABLE c(x); DELETE FROM c;"))
        #expect(
            try message(UpgradeMatrix(of: schema, from: [1], fixtures: folder.url)) == """
                1 of 2 upgrades failed.
                - 3_c.sql was edited after it had been applied: found in the upgrade from 3 (fixture 3.sqlite).
                  Undo the edit, and write a new migration. If the edit was intended, accept it: app-migrations \
                accept --database 3.sqlite 3
                """)
    }

    @Test("says that the app's launch migrates another database, and accuses no migration")
    func otherDatabase() throws {
        let schema = try SchemaMigrator(migrations: Array(Self.migrations().prefix(2)))
        let matrix = UpgradeMatrix(of: schema) { _, _ in
            let database = try DatabaseQueue()
            let manager = try MigrationManager(currentVersion: "1.0", adopting: .newApp, store: .inMemory())
            manager.whenMigratingToVersion("1.0", migrate: schema, in: database)
            return manager
        }
        #expect(
            try message(matrix) == """
                - A fresh install fails: the launch leaves 1_a.sql and 2_b.sql pending.
                  Have the closure passed as launching: migrate the database that it receives, to the end.
                """)
    }

    @Test("reports the failing file and line once for all versions")
    func failing() throws {
        let schema = try SchemaMigrator(
            migrations: Self.migrations(third: "\nCREATE UNIQUE INDEX ax ON a(x);\n"))
        let matrix = UpgradeMatrix(
            of: schema,
            filledWith: .rows { db, _ in try db.execute(sql: "INSERT INTO a VALUES ('x'), ('x')") })
        #expect(
            try message(matrix) == """
                4 of 4 upgrades failed.
                - The upgrade from 1 and 2 fails: 3_c.sql:2: UNIQUE constraint failed: a.x (SQLite 2067).
                  It was rolled back. Fix it and migrate again.
                - The rows could not be written for the upgrade from 3 and 4: UNIQUE constraint failed: a.x (SQLite \
                2067).
                  Fix what is passed as filledWith: for the tables of this version.
                """)
    }

    @Test("reports that not even a fresh install succeeds")
    func broken() throws {
        let schema = try SchemaMigrator(migrations: Self.migrations(third: "CREATE TABLE a(x);"))
        #expect(
            try message(UpgradeMatrix(of: schema)).hasPrefix(
                "- A fresh install fails: 3_c.sql:1: table a already exists (SQLite 1).\n"))
    }

    @Test("reports the version for which the test's closure throws")
    func closure() throws {
        struct Mishap: Error, CustomStringConvertible { let description = "no such diary" }
        let matrix = UpgradeMatrix(
            of: try SchemaMigrator(migrations: Self.migrations()),
            filledWith: .rows { _, version in if version == 2 { throw Mishap() } })
        #expect(
            try message(matrix) == """
                1 of 4 upgrades failed.
                - The rows could not be written for the upgrade from 2: no such diary.
                  Fix what is passed as filledWith: for the tables of this version.
                """)
    }

    @Test("reports a fixture that is empty or no database, and continues with the others")
    func fixtures() throws {
        try Data("not a database, but a long enough text to be none".utf8).write(to: folder.file("1.sqlite"))
        try Data().write(to: folder.file("2.db"))
        try folder.migrate(Self.migrations(), in: "3.sqlite3", upTo: 3)
        try Data().write(to: folder.file("README.md"))
        let schema = try SchemaMigrator(migrations: Self.migrations())
        let error = try #require(throws: UpgradeMatrixError.self) {
            try UpgradeMatrix(of: schema, from: [], fixtures: folder.url).run()
        }
        #expect(
            error.description == """
                - The fixture 1.sqlite cannot be used: file is not a database (SQLite 26).
                  Make it again with `app-migrations fixture`, or remove it from the folder.
                - The fixture 2.db cannot be used: it holds no table.
                  Make it again with `app-migrations fixture`, or remove it from the folder.
                """)
        #expect(error.report.upgrades.map(\.start.description) == ["3 (fixture 3.sqlite3)"])
        #expect(try folder.fileNames == ["1.sqlite", "2.db", "3.sqlite3", "README.md"])
    }

    @Test("reports a folder without fixtures, and unknown versions")
    func nothing() throws {
        let matrix = UpgradeMatrix(
            of: try SchemaMigrator(migrations: Self.migrations()), from: [1, 9],
            fixtures: folder.file("none"), rowCounts: .unchanged(except: [.dropped("a", by: 8)]))
        #expect(
            try message(matrix) == """
                - The matrix starts at version 9, which no migration has.
                  Remove it from the versions passed as from:; the latest is 4.
                - A change in the row counts is stated for version 8, which no migration has.
                  Name the version of the migration that makes the change in rowCounts:.
                - The folder \(folder.file("none").path) holds no fixture.
                  Fixtures are databases named .sqlite, .sqlite3 or .db; `app-migrations fixture` makes one from a real \
                database.
                """)
    }

    @Test("reports that there is nothing to upgrade")
    func empty() throws {
        let schema = try SchemaMigrator(migrations: Self.migrations())
        for matrix in [UpgradeMatrix(of: schema, from: []), UpgradeMatrix(of: DatabaseMigrator())] {
            #expect(try message(matrix).hasPrefix("- The matrix upgrades no database.\n  Pass a migrator"))
        }
    }

    @Test("reports a fixture without a ledger, and that the migrator has to adopt it")
    func unadopted() throws {
        try folder.execute("CREATE TABLE a(x TEXT)", in: "1.sqlite")
        let schema = try SchemaMigrator(migrations: Self.migrations())
        let message = try message(UpgradeMatrix(of: schema, fixtures: folder.url))
        #expect(
            message.contains("The fixture 1.sqlite cannot be used: The database has tables"), "\(message)")
        #expect(message.contains("Pass the migrator an `adopting:`"), "\(message)")
    }

    @Test("reports damage, and orphans")
    func damage() throws {
        try folder.execute(
            """
            PRAGMA foreign_keys = OFF;
            CREATE TABLE a(x INTEGER PRIMARY KEY); CREATE TABLE b(a INTEGER REFERENCES a(x)); INSERT INTO b VALUES (7);
            """, in: "1.sqlite")
        let schema = try SchemaMigrator(
            migrations: [
                SQLMigration(
                    version: 1, name: "a",
                    sql: "CREATE TABLE a(x INTEGER PRIMARY KEY); CREATE TABLE b(a INTEGER REFERENCES a(x));"),
                SQLMigration(version: 2, name: "b", sql: "CREATE TABLE c(x);"),
            ], adopting: SchemaAdoption { _ in 1 })
        #expect(
            try message(UpgradeMatrix(of: schema, fixtures: folder.url)) == """
                1 of 3 upgrades failed.
                - 1 row of table `b` refers to no row of `a` after upgrading from an unknown version (fixture 1.sqlite).
                  Write a migration that removes such rows, or gives them a row to refer to.
                """)
    }
}
