import Foundation
import MigrationTesting
import SchemaMigrations
import TestSupport
import Testing

@Suite("A rehearsal of a database file")
struct RehearsalTests {
    private static let migrations = [
        SQLMigration(
            version: 1, name: "a", sql: "CREATE TABLE a(x); CREATE TABLE b(x); INSERT INTO a VALUES (1), (2);"
        ),
        SQLMigration(
            version: 2, name: "b", sql: "DELETE FROM a WHERE x = 1; ALTER TABLE a ADD y; DROP TABLE b;"),
    ]

    @Test("reports what is lost, and leaves the file unchanged")
    func losses() throws {
        let folder = try TemporaryFolder()
        try folder.migrate(Self.migrations, in: "app.sqlite", upTo: 1)
        try folder.execute("INSERT INTO b VALUES (1)", in: "app.sqlite")
        let before = try folder.contents
        let rehearsal = try SchemaMigrator(migrations: Self.migrations)
            .rehearse(path: folder.file("app.sqlite").path)
        #expect(rehearsal.losses == ["table `a` has 1 row, and had 2", "table `b` is gone, and had 1 row"])
        #expect(
            rehearsal.summary.withoutTimes.hasPrefix(
                """
                The database: 1 migration on a copy, in TIME
                  ✓  2  b TIME

                Schema
                  table `a`: column `y` was added: without a type
                  table `b` was removed

                Rows
                  a  2  →  1  fewer
                  b  1  →  -  fewer

                """))
        #expect(try folder.contents == before)
    }

    @Test("needs an existing file")
    func missing() throws {
        let folder = try TemporaryFolder()
        let schema = try SchemaMigrator(migrations: Self.migrations)
        #expect(throws: SchemaMigrationError.self) {
            try schema.rehearse(path: folder.file("app.sqlite").path)
        }
        #expect(try folder.fileNames == [])
    }
}
