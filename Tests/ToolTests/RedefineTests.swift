import Foundation
import GRDB
import TestSupport
import Testing

@Suite("app-migrations with files that redefine tables", .timed)
struct RedefineTests {
    private static let migrations = [
        "1_a.sql": """
        CREATE TABLE shelf(id INTEGER PRIMARY KEY);
        CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT, shelf INTEGER);
        CREATE INDEX book_shelf ON book(shelf);
        """,
        "2_b.sql": """
        -- migrations: redefine
        CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT DEFAULT '', shelf INTEGER REFERENCES shelf(id));
        CREATE TABLE shelf(id INTEGER PRIMARY KEY CHECK (id <> 0));
        """,
        "2_b.down.sql": """
        -- migrations: redefine
        CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT, shelf INTEGER);
        CREATE TABLE shelf(id INTEGER PRIMARY KEY);
        """,
        "3_c.sql": "ALTER TABLE book ADD COLUMN pages INTEGER;",
        "3_c.down.sql": "ALTER TABLE book DROP COLUMN pages;",
    ]

    private func tool() async throws -> Tool {
        let tool = try Tool(Self.migrations)
        _ = try await tool("migrate --database app.sqlite --up-to 1")
        try tool.execute("INSERT INTO book(title) VALUES ('Middlemarch'), (NULL)")
        return tool
    }

    @Test("plan, rehearse, migrate and rollback know them")
    func run() async throws {
        let tool = try await tool()
        #expect(
            try await tool("plan --database app.sqlite").output == """
                app.sqlite: 2 migrations would be applied
                  2  b  redefines 2 tables
                  3  c  1 statement

                """)
        #expect(try await tool("plan --database app.sqlite --json").output.contains("\"redefines\" : true"))
        let rehearsal = try await tool("rehearse --database app.sqlite").output
        #expect(
            rehearsal.contains("  table `book`: foreign key (shelf) was added: `shelf`(id)\n"),
            "\(rehearsal)")
        #expect(rehearsal.contains("and is id INTEGER PRIMARY KEY CHECK (id <> 0)\n"), "\(rehearsal)")
        #expect(!rehearsal.contains("fewer"))
        #expect(try await tool("migrate --database app.sqlite --quiet").status == 0)
        #expect(try await tool("drift --database app.sqlite").status == 0)
        #expect(try await tool("rollback --database app.sqlite --to 1").status == 0)
        #expect(try await tool("dump --database app.sqlite").output.contains("title TEXT, shelf INTEGER)"))
    }

    @Test("check accepts them, and says what rows may break")
    func check() async throws {
        let tool = try Tool(Self.migrations)
        let run = try await tool("check --oldest 3.39")
        #expect(
            run.output.hasPrefix(
                """
                Migrations/2_b.sql:2: warning: Over generated rows: The rows of table book break its new definition: foreign \
                key shelf → shelf(id) refers to no row in 30 rows
                """), "\(run.output)")
        #expect(
            run.output.hasSuffix(
                """
                . Correct such rows in a file before it; where one does, `-- allow: orphans` says so. [orphans]
                3 migrations checked, not compared with a branch: 0 errors, 1 warning

                """), "\(run.output)")
        #expect(run.status == 0)
        let corrected = try Tool(
            Self.migrations.merging(["2_b.sql": "-- allow: orphans\n\(Self.migrations["2_b.sql"] ?? "")"]) {
                $1
            })
        #expect(
            try await corrected("check").output
                == "✓ 3 migrations checked, not compared with a branch: nothing found\n")
    }

    @Test("squash and snapshot write what they make, which is plain SQL")
    func squash() async throws {
        let tool = try await tool()
        let snapshot = try await tool("snapshot write --output snapshot.sql")
        #expect(snapshot.status == 0, "\(snapshot)")
        #expect(try await tool("snapshot verify --output snapshot.sql").status == 0)
        let squash = try await tool("squash --before 2")
        #expect(squash.status == 0, "\(squash)")
        let text = try String(
            contentsOf: tool.folder.file("Migrations/2_baseline.sql"), encoding: .utf8)
        #expect(text.contains("title TEXT DEFAULT '', shelf INTEGER REFERENCES shelf(id))"))
        #expect(text.contains("id INTEGER PRIMARY KEY CHECK (id <> 0)"))
        #expect(!text.contains("redefine"))
        #expect(try await tool("migrate --database fresh.sqlite --quiet").status == 0)
        #expect(try await tool("check").status == 0)
    }

    @Test("the build runs them, and reports one that rows or tables do not fit")
    func embed() async throws {
        let create = "CREATE TABLE a(x, y AS (x + 1)); INSERT INTO a VALUES (1), (2); CREATE INDEX i ON a(x);"
        let good = try EmbedTool([
            "1_a.sql": "\(create) CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT 1; END;",
            "2_b.sql": "/* A note. */\n-- migrations: redefine\nCREATE TABLE a(x NOT NULL, y AS (x + 1));",
            "3_c.sql": "INSERT INTO a SELECT max(x) + 1 FROM a; DROP INDEX i; DROP TRIGGER t;",
        ])
        let run = try await good()
        #expect(run.errors == "")
        #expect(run.status == 0)
        for (sql, message) in [
            ("CREATE TABLE a(x CHECK (x > 1), y AS (x + 1));", "1:1: error: CHECK constraint failed: x > 1."),
            ("CREATE TABLE b(x);", "1:1: error: no such table to redefine: b."),
            ("CREATE TABEL a(x);", "2:8: error: near \"TABEL\": syntax error."),
        ] {
            let bad = try EmbedTool(["1_a.sql": create, "2_b.sql": "-- migrations: redefine\n\(sql)"])
            let run = try await bad()
            #expect(
                run.errors.hasPrefix("\(bad.migrations.path)/2_b.sql:\(message) "), "\(run.errors)")
            #expect(run.status == 1)
        }
    }
}
