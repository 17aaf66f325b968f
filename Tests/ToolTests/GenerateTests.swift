import Foundation
import TestSupport
import TestTraits
import Testing

@Suite("app-migrations new --from and diff", .timed)
struct GenerateTests {
    private static let schema = """
        CREATE TABLE shelf(id INTEGER PRIMARY KEY, name TEXT NOT NULL, color TEXT);
        CREATE TABLE book(
            id INTEGER PRIMARY KEY,
            title TEXT NOT NULL CHECK (title <> ''),
            shelf_id INTEGER REFERENCES shelf(id)
        );
        CREATE INDEX book_by_shelf ON book(shelf_id);

        """

    private static let sql = """
        ALTER TABLE shelf ADD COLUMN color TEXT;

        CREATE INDEX book_by_shelf ON book(shelf_id);

        """

    private static let definition = """
        -- book: column `title` changes.
        -- As in schema.sql: fails where rows break a new CHECK.
        -- allow: new-check
        CREATE TABLE book(
            id INTEGER PRIMARY KEY,
            title TEXT NOT NULL CHECK (title <> ''),
            shelf_id INTEGER REFERENCES shelf(id)
        );

        """

    @Test("new writes the migration to a schema, tries it, and says what it does")
    func new() async throws {
        let tool = try Tool(Tool.books)
        try tool.write(Self.schema, to: "schema.sql")
        let run = try await tool("new check_titles --from schema.sql --down")
        #expect(run.errors == "")
        let lines = run.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let paths = lines.prefix(4)
        #expect(
            paths.map { $0.replacing(#/\d{17}/#, with: "V") } == [
                "Migrations/V_check_titles.sql", "Migrations/V_check_titles.down.sql",
                "Migrations/V_check_titles_redefine.sql", "Migrations/V_check_titles_redefine.down.sql",
            ])
        #expect(
            lines.dropFirst(4).joined(separator: "\n").replacing(#/\d+ generated rows/#, with: "ROWS") == """
                  + column `shelf.color`
                  ~ table `book`, redefined: column `title` changes
                  + index `book_by_shelf`
                ✓ Tried on ROWS in 2 tables: it makes the schema of schema.sql, and every row stays. 4 more rows do not \
                fit it.

                Rows may not fit, and then the migration fails and changes nothing:
                  ! column `book.title` gets CHECK
                  ! of the generated rows, 4 rows of table `book`: CHECK constraint failed: title <> ''

                """)
        let texts = try paths.map { try String(contentsOf: tool.folder.file($0), encoding: .utf8) }
        let stems = paths.map { $0.split(separator: "/")[1] }
        let origin = "-- Written by `app-migrations new --from schema.sql`, and tried on generated rows."
        #expect(
            texts == [
                "-- check_titles\n--\n\(origin)\n\n\(Self.sql)",
                """
                -- Reverts \(stems[0]).

                DROP INDEX book_by_shelf;

                ALTER TABLE shelf DROP COLUMN color;

                """,
                "-- check_titles_redefine\n--\n\(origin)\n-- migrations: redefine\n\n\(Self.definition)",
                """
                -- Reverts \(stems[2]).

                -- migrations: redefine

                -- book: column `title` changes.
                CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT NOT NULL, shelf_id INTEGER REFERENCES shelf(id));

                """,
            ])
        let check = try await tool("check").output
        #expect(check == "✓ 4 migrations checked, not compared with a branch: nothing found\n")
        #expect(try await tool("migrate --database app.sqlite --quiet").status == 0)
        #expect(try await tool("rollback --database app.sqlite --to 20240601120000000").status == 0)
        let again = try await tool("new again --from schema.sql")
        #expect(
            again.errors == """
                error: The migrations make the schema of schema.sql already.
                Edit schema.sql first. Nothing was written.

                """)
        #expect(again.status == 1)
    }

    /// A column that names a row on all devices.
    private static let key =
        "id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (lower(hex(randomblob(16))))"

    private static let reasons = [
        """
        Column `mood` of table `entry` is NOT NULL: a row from a device with an older release has no value there, and is \
        rejected as a whole. Let it be NULL, or write NOT NULL ON CONFLICT REPLACE DEFAULT and a value.
        """,
        """
        Column `title` of table `entry` is gone: devices with older releases go on sending its values. Add a column or a \
        table, and keep the old one for good.
        """,
        """
        Table `tag` has a number as its key, which two devices give to two rows. Write id TEXT PRIMARY KEY NOT NULL ON \
        CONFLICT REPLACE DEFAULT (uuid()), in this order.
        """,
    ]

    @Test(
        "new writes nothing that a sync engine would not accept, and says why",
        arguments: [
            ("CREATE TABLE entry(\(key), title TEXT, mood TEXT NOT NULL DEFAULT '');", "", 0),
            ("CREATE TABLE entry(\(key));", " --drop entry.title", 1),
            (
                "-- tool: synced\nCREATE TABLE entry(\(key), title TEXT); CREATE TABLE tag(id INTEGER PRIMARY KEY);",
                "", 2
            ),
        ])
    func synchronized(schema: String, options: String, reason: Int) async throws {
        let tool = try Tool([
            "20240110090000000_entries.sql": "-- tool: synced\nCREATE TABLE entry(\(Self.key), title TEXT);"
        ])
        try tool.write(schema, to: "schema.sql")
        let run = try await tool("new moods --from schema.sql\(options)")
        #expect(
            run.errors == """
                error: A sync engine would not accept the migration: \(Self.reasons[reason])
                Correct schema.sql, or write the migration by hand. Nothing was written.

                """)
        #expect(run.status == 1)
        let diff = try await tool("diff --from schema.sql\(options)")
        #expect(diff.errors.contains("A sync engine would not accept it, so new --from does not write it:"))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: tool.folder.file("Migrations").path).count
                == 1)
    }

    @Test(
        "new says of the tables of a synchronized schema that they are synchronized, and check accepts them")
    func synchronizedTables() async throws {
        let tool = try Tool([
            "20240110090000000_entries.sql": "-- tool: synced\nCREATE TABLE entry(\(Self.key), title TEXT);"
        ])
        try tool.write(
            """
            -- tool: synced
            CREATE TABLE entry(\(Self.key), title TEXT, mood TEXT NOT NULL ON CONFLICT REPLACE DEFAULT '');
            CREATE TABLE tag(\(Self.key));
            """, to: "schema.sql")
        let run = try await tool("new moods --from schema.sql")
        #expect(run.errors == "")
        let path = try #require(run.output.split(separator: "\n").first)
        let text = try String(contentsOf: tool.folder.file(String(path)), encoding: .utf8)
        #expect(text.contains("-- migrations: compatible\n-- tool: synced\n"))
        #expect(try await tool("check").output.hasSuffix("nothing found\n"))
    }

    @Test("diff prints the migration, and what it leaves out")
    func diff() async throws {
        let tool = try Tool(Tool.books)
        try tool.write(Self.schema, to: "schema.sql")
        let run = try await tool("diff --from schema.sql")
        #expect(
            run.output == """
                \(Self.sql)
                -- The next file:
                -- migrations: redefine

                \(Self.definition)
                """)
        #expect(run.status == 0)
        #expect(try await tool("diff --from schema.sql --exit-code").status == 2)
        #expect(try tool.folder.fileNames.sorted() == ["Migrations", "schema.sql"])

        try tool.write(
            "CREATE TABLE shelf(id INTEGER PRIMARY KEY, label TEXT NOT NULL); CREATE INDEX by_label ON shelf(label);",
            to: "schema.sql")
        let questions = try await tool("diff --from schema.sql")
        #expect(questions.output == "")
        #expect(
            questions.errors == """

                Left out, because it would lose data or cannot be decided:
                  ? column `shelf.label`: It is NOT NULL, and has no default for the rows that exist. Give it a DEFAULT, or allow \
                NULL, in the schema.
                    Left out with it: index `by_label`.
                  ? column `shelf.name`: The schema has no such column. It stays, because dropping it loses its values. If it is \
                `label` now, pass --rename shelf.name=label.
                    To drop it, pass --drop shelf.name.
                  ? table `book`: The schema has no such table. It stays, because dropping it loses its rows.
                    To drop it, pass --drop book.

                """)
        let new = try await tool("new less --from schema.sql")
        #expect(new.status == 1)
        #expect(
            new.errors.hasPrefix(
                "error: Nothing can be written, because everything that differs would lose data"))
        #expect(new.errors.contains("pass --rename shelf.name=label. To drop it, pass --drop shelf.name. "))

        let renamed = try await tool("diff --from schema.sql --rename shelf.name=label")
        #expect(
            renamed.output == """
                ALTER TABLE shelf RENAME COLUMN name TO label;

                CREATE INDEX by_label ON shelf(label);

                """)
    }

    @Test("the option of a question can be pasted into a shell", arguments: ["", "\u{301}"])
    func shellWords(combiningMark: String) async throws {
        let tool = try Tool()
        let name = "it'\(combiningMark)s $HOME"
        try tool.write(
            "CREATE TABLE \"my shelf\"(a, \"\(name)\" TEXT);",
            to: "Migrations/20240101120000000_create.sql")
        try tool.write("CREATE TABLE \"my shelf\"(a, label TEXT);", to: "schema.sql")
        let option = "--rename 'my shelf.it'\\''\(combiningMark)s $HOME=label'"
        #expect(try await tool("diff --from schema.sql").errors.contains("now, pass \(option)."))

        let executable = try Products.executable("app-migrations").path
        let renamed = try await BuiltProcess(
            running: URL(fileURLWithPath: "/bin/sh"),
            ["-c", "'\(executable)' diff --from schema.sql \(option)"],
            in: tool.folder.url
        ).result()
        #expect(renamed.output == "ALTER TABLE \"my shelf\" RENAME COLUMN \"\(name)\" TO label;\n")

        try tool.write("CREATE TABLE \"new shelf\"(a, b);", to: "schema.sql")
        #expect(
            try await tool("diff --from schema.sql").errors
                .contains("now, pass --rename-table 'my shelf=new shelf'."))
    }

    @Test("new --from asks in a terminal what is renamed, dropped or kept", .needs(.terminal))
    func dialog() async throws {
        let tool = try Tool([
            "1_a.sql": "CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT, mood TEXT, stars INTEGER);"
        ])
        try tool.write(
            "CREATE TABLE entry(id INTEGER PRIMARY KEY, text TEXT, weather TEXT);", to: "schema.sql")
        let run = try await tool.onTerminal(
            "new change --from schema.sql", environment: ["NO_COLOR": "1"], typing: "1\n2\nmaybe\nd\nk\n")
        #expect(run.status == 0)
        #expect(
            run.output.contains(
                """
                Column `entry.mood` is not in schema.sql:\r
                  1  it is `text` now\r
                  d  drop it with its values\r
                  k  keep it for now\r

                """))
        let path = try #require(run.output.firstMatch(of: #/Migrations/\d+_change\.sql/#)).output
        let sql = try String(contentsOf: tool.folder.file(String(path)), encoding: .utf8)
        #expect(sql.contains("ALTER TABLE note RENAME TO entry;"))
        #expect(sql.contains("ALTER TABLE entry RENAME COLUMN body TO weather;"))
        #expect(sql.contains("ALTER TABLE entry DROP COLUMN mood;"))
        #expect(!sql.contains("stars"))
    }

    @Test("new --from writes the first migration too")
    func first() async throws {
        let tool = try Tool()
        try tool.write("CREATE TABLE a(x);", to: "schema.sql")
        let run = try await tool("new first --from schema.sql")
        #expect(run.errors == "")
        #expect(run.output.hasSuffix("  + table `a`\n✓ Tried: it makes the schema of schema.sql.\n"))
        let same = try await tool("diff --from schema.sql")
        #expect(same.output == "")
        #expect(same.errors == "✓ The migrations make the schema of schema.sql\n")
    }

    @Test("--rename needs --from")
    func renameAlone() async throws {
        let tool = try Tool()
        let run = try await tool("new first --rename a.b=c")
        #expect(run.status == 64)
        #expect(run.errors.hasPrefix("Error: --rename, --rename-table and --drop need --from."))
    }
}
