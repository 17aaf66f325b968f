import Foundation
import TestSupport
import Testing

@Suite("app-migrations drift", .timed)
struct DriftTests {
    @Test("finds what somebody changed in a database, and nothing in one that was migrated")
    func drift() async throws {
        let tool = try Tool(Tool.books)
        _ = try await tool("migrate --database app.sqlite --up-to 20240110090000000")
        let same = try await tool("drift --database app.sqlite")
        #expect(same.output == "✓ app.sqlite has the schema that its migrations make\n")
        #expect(same.status == 0)
        try tool.execute(
            "ALTER TABLE book ADD COLUMN pages INTEGER; CREATE INDEX by_title ON book(title); PRAGMA user_version = 5"
        )
        let run = try await tool("drift --database app.sqlite")
        #expect(
            run.output == """
                app.sqlite: 2 differences from what its migrations make
                  ! index `by_title` is missing in its migrations
                  ! table `book`: column `pages` is missing in its migrations

                """)
        #expect(run.status == 1)
        #expect(
            try await tool("drift --database app.sqlite --json").output == """
                {
                  "database" : "app.sqlite",
                  "differences" : [
                    "index `by_title` is missing in its migrations",
                    "table `book`: column `pages` is missing in its migrations"
                  ],
                  "drifted" : true
                }

                """)
    }

    @Test("finds every difference of a table")
    func severalInOne() async throws {
        let tool = try Tool(["1_a.sql": "CREATE TABLE a(x TEXT, y INTEGER, CHECK (y > 0));"])
        _ = try await tool("migrate --database app.sqlite")
        try tool.execute(
            """
            DROP TABLE a;
            CREATE TABLE a(x TEXT COLLATE NOCASE, y INTEGER NOT NULL, CHECK (y > 1)) STRICT;
            """)
        #expect(
            try await tool("drift --database app.sqlite").output == """
                app.sqlite: 5 differences from what its migrations make
                  ! table `a`: column `y` is INTEGER NOT NULL in app.sqlite, INTEGER in its migrations
                  ! table `a`: definition of column `x` is x TEXT COLLATE NOCASE in app.sqlite, x TEXT in its migrations
                  ! table `a`: `STRICT` is missing in its migrations
                  ! table `a`: `CHECK (y > 0)` is missing in app.sqlite
                  ! table `a`: `CHECK (y > 1)` is missing in its migrations

                """)
    }

    @Test("refuses a database of other migrations")
    func others() async throws {
        let tool = try Tool(Tool.books)
        try tool.execute(
            "CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL); INSERT INTO schema_migrations VALUES (7)"
        )
        let run = try await tool("drift --database app.sqlite")
        #expect(
            run.errors == """
                error: app.sqlite has had migrations that the folder does not hold.
                Pass the folder of its own migrations as --directory.

                """)
        #expect(run.status == 1)
    }
}
