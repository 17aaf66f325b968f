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
