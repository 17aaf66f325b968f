import Foundation
import GRDB
import TestSupport
import Testing

@Suite("app-migrations fixture", .timed)
struct FixtureTests {
    private func tool() async throws -> Tool {
        let tool = try Tool([
            "1_a.sql": """
            CREATE TABLE author(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            CREATE TABLE book(
                id INTEGER PRIMARY KEY, author INTEGER NOT NULL REFERENCES author(id), title TEXT, genre TEXT);
            """,
            "2_b.sql": "ALTER TABLE book ADD COLUMN shelf TEXT;",
        ])
        _ = try await tool("migrate --database app.sqlite --up-to 1")
        try tool.execute(
            """
            INSERT INTO author VALUES (1, 'George Eliot'), (2, 'Jane Austen');
            WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 90)
            INSERT INTO book SELECT value, 1 + value % 2, 'Title ' || value, 'novel' FROM n;
            """)
        return tool
    }

    @Test("makes a small database that can be migrated, and leaves the original unchanged")
    func fixture() async throws {
        let tool = try await tool()
        let before = try Data(contentsOf: tool.folder.file("app.sqlite"))
        let run = try await tool(
            "fixture --database app.sqlite --output 1.0.sqlite --rows 10 --keep book.genre")
        #expect(
            run.output == """
                1.0.sqlite: 2 tables, 24.0 KiB
                  author   2  of   2 rows
                  book    10  of  90 rows
                  note: numbers are as they were
                  note: the texts of book.genre are as they were

                """)
        #expect(run.errors == "")
        #expect(run.status == 0)
        #expect(try Data(contentsOf: tool.folder.file("app.sqlite")) == before)
        #expect(try tool.folder.fileNames == ["1.0.sqlite", "Migrations", "app.sqlite"])
        let migrated = try await tool("rehearse --database 1.0.sqlite")
        #expect(migrated.output.contains("  book    10  →  10\n"))
        #expect(migrated.output.contains("no row refers to a missing row"))
    }

    @Test("prints JSON")
    func json() async throws {
        let tool = try await tool()
        let run = try await tool("fixture --database app.sqlite --output 1.0.sqlite --rows 45 --json")
        #expect(
            run.output == """
                {
                  "fixture" : "1.0.sqlite",
                  "notes" : [

                  ],
                  "size" : 24576,
                  "tables" : [
                    {
                      "all" : 2,
                      "rows" : 2,
                      "table" : "author"
                    },
                    {
                      "all" : 90,
                      "rows" : 45,
                      "table" : "book"
                    }
                  ]
                }

                """)
    }

    @Test(
        "refuses invalid requests, and explains the cause",
        arguments: [
            (
                "fixture --database app.sqlite --output app.sqlite",
                "exists already.\nRemove it, or give the fixture another name.\n", 1
            ),
            (
                "fixture --database app.sqlite --output Tests/Fixtures/1.sqlite",
                "Tests/Fixtures does not exist.\nCreate it, or name another file.\n", 1
            ),
            (
                "fixture --database app.sqlite --output 1.sqlite --keep book.gnre",
                "error: There is no column book.gnre, which was to be kept.\n", 1
            ),
            (
                "fixture --database none.sqlite --output 1.sqlite",
                "error: There is no database none.sqlite.\n", 1
            ),
            ("fixture --database app.sqlite --output 1.sqlite --rows 0", "--rows must be at least 1.", 64),
            ("fixture --database app.sqlite --output 1.sqlite --numbers none", "'none' is invalid", 64),
        ])
    func refusals(arguments: String, message: String, status: Int32) async throws {
        let tool = try await tool()
        let run = try await tool(arguments)
        #expect(run.errors.contains(message), "\(run.errors)")
        #expect(run.output == "")
        #expect(run.status == status)
        #expect(try tool.folder.fileNames == ["Migrations", "app.sqlite"])
    }
}
