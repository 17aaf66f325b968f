import AppMigrations
import Foundation
import GRDB
import TestSupport
import TestTraits
import Testing

@Suite("app-migrations new, history, adopt and --help", .timed)
struct OtherCommandsTests {
    @Test("new creates files named after the current time, and prints their paths")
    func new() async throws {
        let tool = try Tool()
        let run = try await tool.run(["new", "create books", "--down"])
        let paths = run.output.split(separator: "\n").map(String.init)
        #expect(paths.count == 2)
        let path = try #require(paths.first)
        let version = try #require(path.firstMatch(of: #/^Migrations/(\d{17})_create_books\.sql$/#)?.output.1)
        #expect(paths.last == "Migrations/\(version)_create_books.down.sql")
        let year = Calendar(identifier: .gregorian).component(.year, from: Date())
        #expect(abs((Int(version.prefix(4)) ?? 0) - year) <= 1)
        #expect(
            try String(contentsOf: tool.folder.file(path), encoding: .utf8) == """
                -- create_books
                --
                -- Runs once, in a transaction together with its record: it needs no BEGIN and no COMMIT.
                -- Foreign keys are deferred: they are checked before the commit, not while the file runs.
                -- Statements that destroy data need a comment above them for `app-migrations check`,
                -- such as `-- allow: drop-table`. To be able to take it back, write \(version)_create_books.down.sql.

                -- CREATE TABLE example(
                --     id INTEGER PRIMARY KEY,
                --     name TEXT NOT NULL
                -- );

                """)
        let other = try await tool("new add_shelves --directory Sources/Migrations")
        #expect(other.output.hasPrefix("Sources/Migrations/"))
    }

    @Test("new creates files after all others, whatever the clocks say")
    func newAfterOthers() async throws {
        let tool = try Tool([
            "99991231235959999_a.sql": "CREATE TABLE a(b);", "1_b.sql": "CREATE TABLE b(c);",
        ])
        #expect(try await tool("new c").output == "Migrations/99991231235960000_c.sql\n")
        let full = try Tool(["9223372036854775807_a.sql": "CREATE TABLE a(b);"])
        let run = try await full.run(["new", "b"])
        #expect(run.status == 1)
        #expect(
            run.errors == """
                error: No version is above 9223372036854775807.
                Give the last migration a version that is a date.

                """)
    }

    @Test("new finds the folder of migrations that a package has")
    func newInPackage() async throws {
        let tool = try Tool()
        try tool.write("", to: "Sources/MyApp/Migrations/1_create_notes.sql")
        try tool.write("", to: "Sources/Other/main.swift")
        #expect(try await tool("new create_books").output.hasPrefix("Sources/MyApp/Migrations/2"))
        #expect(try await tool("check --no-since").output.contains("2 migrations checked"))

        try tool.write("", to: "Sources/Other/Migrations/1_create_notes.sql")
        let run = try await tool("new create_books")
        #expect(run.status == 64)
        #expect(
            run.errors.hasPrefix(
                """
                Error: Several targets have migrations: Sources/MyApp/Migrations, Sources/Other/Migrations. Pass one as \
                --directory.
                """), "\(run.errors)")
        #expect(try await tool("new create_books --directory Migrations").output.hasPrefix("Migrations/2"))
        #expect(try await tool("new create_shelves").output.hasPrefix("Migrations/2"))
    }

    private func makeStore(at url: URL) throws {
        for version in ["1.0", "2.0"] {
            let manager = try MigrationManager(
                name: "Library", currentVersion: version, adopting: .newApp, store: .jsonFile(at: url))
            manager.whenMigratingToVersion("1.0") {}
            if version == "2.0" { manager.whenMigratingToVersion("2.0") {} }
            try manager.migrate()
        }
    }

    @Test("history lists the steps in a store")
    func store() async throws {
        let tool = try Tool()
        try makeStore(at: tool.folder.file("store.json"))
        let run = try await tool("history --store store.json")
        // The width of a column depends on the durations.
        let lines = run.output.withoutTimes.replacing(#/ +by/#, with: " by")
        #expect(
            lines == """
                Library
                  1.0  DATE  not needed by 1.0
                  2.0  DATE  ran TIME by 2.0

                """)
    }

    @Test("history lists the migrations of a database")
    func database() async throws {
        let tool = try Tool(Tool.books)
        _ = try await tool("migrate --database app.sqlite")
        #expect(
            try await tool("history --database app.sqlite").output.withoutTimes == """
                Schema migrations
                  20240110090000000  create_books  DATE  applied TIME
                  20240601120000000  add_shelves   DATE  applied TIME

                """)
        try tool.write("", to: "empty.sqlite")
        #expect(try await tool("history --database empty.sqlite").output == "Nothing was done yet.\n")
    }

    @Test(
        "adopt marks what another tool has migrated",
        arguments: [
            (
                "PRAGMA user_version = 1",
                "--from user_version --map 1=20240110090000000 --map 2=20240601120000000"
            ),
            (
                "CREATE TABLE schema_info(version INTEGER); INSERT INTO schema_info VALUES (1)",
                "--from schema_info --map 1=20240110090000000"
            ),
            (
                "CREATE TABLE grdb_migrations(identifier TEXT); INSERT INTO grdb_migrations VALUES ('a=b')",
                "--from grdb --map a=b=20240110090000000"
            ),
            ("SELECT 1", "--from version --version 20240110090000000"),
        ])
    func adopt(sql: String, arguments: String) async throws {
        let tool = try Tool(Tool.books)
        try tool.execute("CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT NOT NULL);" + sql)
        let run = try await tool("adopt --database app.sqlite \(arguments)")
        #expect(
            run.output == """
                app.sqlite: 1 migration marked as applied, and none was run
                  ✓  20240110090000000  create_books

                """)
        #expect(try await tool("migrate --database app.sqlite").status == 0)
        let again = try await tool("adopt --database app.sqlite \(arguments)")
        #expect(
            again.errors == """
                error: app.sqlite was already migrated by this package.
                Look at it with `app-migrations status`. Nothing was changed.

                """)
    }

    @Test(
        "adopt refuses a schema that is not that of the version, finds the one that fits, and takes it back")
    func adoptFitting() async throws {
        let tool = try Tool(Tool.books)
        try tool.execute(
            "CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT NOT NULL); PRAGMA user_version = 2")
        let wrong = "adopt --database app.sqlite --from user_version --map 2=20240601120000000"
        #expect(
            try await tool(wrong).errors == """
                error: app.sqlite does not have the schema that the migrations up to 20240601120000000 make: table `book` is \
                different; table `shelf` is missing.
                Pass --version latest-that-fits with --from version, or --allow-differences if a later migration makes up \
                for them. Nothing was changed.

                """)
        #expect(try tool.strings("SELECT name FROM sqlite_master") == ["book"])
        #expect(try await tool("\(wrong) --allow-differences").status == 0)
        #expect(
            try await tool("adopt --database app.sqlite --undo").output
                == "app.sqlite: 2 migrations no longer marked as applied\n")
        #expect(try tool.strings("SELECT name FROM sqlite_master") == ["book"])
        let fits = "adopt --database app.sqlite --from version --version latest-that-fits"
        #expect(
            try await tool(fits).output == """
                app.sqlite: 1 migration marked as applied, and none was run
                  ✓  20240110090000000  create_books

                """)
        _ = try await tool("migrate --database app.sqlite")
        #expect(
            try await tool("adopt --database app.sqlite --undo").errors == """
                error: Migration 20240601120000000 was applied, and builds on the baseline.
                Restore the database from a backup. Nothing was changed.

                """)
    }

    @Test("rollback that fails halfway says what is undone")
    func halfRollback() async throws {
        let tool = try Tool([
            "1_a.sql": "CREATE TABLE a(x);", "1_a.down.sql": "DROP TABLE a;",
            "2_b.sql": "CREATE TABLE b(x);", "2_b.down.sql": "DROP TABLE c;",
            "3_d.sql": "CREATE TABLE d(x);", "3_d.down.sql": "DROP TABLE d;",
            "4_e.sql": "CREATE TABLE e(x);", "4_e.down.sql": "DROP TABLE e;",
        ])
        _ = try await tool("migrate --database app.sqlite")
        let failed = try await tool("rollback --database app.sqlite --to 0")
        #expect(failed.status == 1)
        #expect(
            failed.errors == """
                error: 2_b.down.sql:1: no such table: c (SQLite 1).
                It was not undone. Fix it and roll back again. Undone before it: 4 and 3.

                """)
    }

    @Test("adopt takes back no adoption of a database that the migrations made")
    func undoWithoutAdoption() async throws {
        let tool = try Tool([
            "20240110090000000_create_books.sql": "CREATE TABLE book(id INTEGER PRIMARY KEY);"
        ])
        _ = try await tool("migrate --database app.sqlite")
        #expect(
            try await tool("adopt --database app.sqlite --undo").errors == """
                error: The database was not adopted.
                Look at it with `app-migrations status`. Nothing was changed.

                """)
    }

    @Test("adopt says which version is nearest if none fits")
    func adoptNearest() async throws {
        let tool = try Tool(Tool.books)
        try tool.execute("CREATE TABLE book(id INTEGER PRIMARY KEY)")
        #expect(
            try await tool("adopt --database app.sqlite --from version --version latest-that-fits").errors
                == """
                error: The schema of the database is that of no version; the nearest is 20240110090000000, from which it \
                differs: table `book` is different.
                Bring the database to the schema of a version, or name the version. Nothing was changed.

                """)
    }

    @Test("prints its version, and errors as JSON if asked for JSON")
    func versionAndErrors() async throws {
        let tool = try Tool(Tool.books)
        #expect(try await tool("--version").output.hasPrefix("app-migrations 0.1.0, with SQLite 3."))
        let run = try await tool("status --database nowhere --json")
        #expect(
            run.errors == """
                {
                  "error" : "There is no database nowhere.",
                  "remedy" : "Pass the path of a SQLite database as --database; only `app-migrations migrate` creates one."
                }

                """)
        #expect(run.status == 1)
    }

    @Test("a first migrate that fails leaves its new file, which others may have opened")
    func failedFirst() async throws {
        let tool = try Tool(["1_a.sql": "CREATE TABEL a(x);"])
        #expect(try await tool("migrate --database app.sqlite").status == 1)
        #expect(try tool.folder.fileNames.contains("app.sqlite"))
        try tool.write("CREATE TABLE a(x);", to: "Migrations/1_a.sql")
        #expect(try await tool("migrate --database app.sqlite").status == 0)
    }

    @Test("adopt refuses a database without tables")
    func adoptEmpty() async throws {
        let tool = try Tool(Tool.books)
        try Data().write(to: tool.folder.file("app.sqlite"))
        #expect(
            try await tool("adopt --database app.sqlite --from version --version 20240110090000000").errors
                == """
                error: app.sqlite has no tables that could be a baseline.
                Create the database with `app-migrations migrate`. Nothing was changed.

                """)
        #expect(try tool.strings("SELECT name FROM sqlite_master") == [])
    }

    @Test("adopt refuses a number without a version")
    func adoptUnknown() async throws {
        let tool = try Tool(Tool.books)
        try tool.execute("CREATE TABLE book(id); PRAGMA user_version = 7")
        #expect(
            try await tool("adopt --database app.sqlite --from user_version --map 1=20240110090000000").errors
                == """
                error: user_version says 7; the highest that this app knows is 1.
                If a newer version of the app has migrated the database, update the app. If not, pass its version as a --map. \
                Nothing was changed.

                """)
        #expect(try tool.strings("SELECT name FROM sqlite_master") == ["book"])
    }

    @Test("adopt says what is missing where each identifier has a version")
    func adoptHalf() async throws {
        let tool = try Tool(["1_book.sql": "CREATE TABLE book(id, title);"])
        try tool.execute(
            """
            CREATE TABLE book(id); CREATE TABLE grdb_migrations(identifier TEXT PRIMARY KEY);
            INSERT INTO grdb_migrations VALUES ('createBook')
            """)
        let run = try await tool(
            "adopt --database app.sqlite --from grdb --map createBook=1 --map addTitle=1")
        #expect(
            run.errors.hasSuffix(
                """
                Migrate the database with GRDB's migrator first, and pass a --map for each migration; or let the schema tell, \
                with --from version --version latest-that-fits. Nothing was changed.

                """), "\(run.errors)")
    }

    @Test("drift says what a trial must not do, and does not advise to adopt what is adopted")
    func driftAttaching() async throws {
        let tool = try Tool(["1_book.sql": "ATTACH 'other.sqlite' AS other; CREATE TABLE book(id);"])
        #expect(try await tool("migrate --database app.sqlite").status == 0)
        let run = try await tool("drift --database app.sqlite")
        #expect(run.errors.contains("attaches a database, which a trial must not change"))
        #expect(!run.errors.contains("app-migrations adopt"))
    }

    @Test(
        "output in a terminal has colors, unless NO_COLOR is set",
        .needs(.terminal))
    func terminal() async throws {
        let tool = try Tool(Tool.indexedBooks)
        let check = try await tool.onTerminal("check")
        #expect(
            check.output
                == "\u{1B}[32m✓\u{1B}[0m 2 migrations checked, not compared with a branch: nothing found\r\n")
        let plain = try await tool.onTerminal("check", environment: ["NO_COLOR": "1"])
        #expect(plain.output == "✓ 2 migrations checked, not compared with a branch: nothing found\r\n")
        let failed = try await tool.onTerminal("status --database nowhere")
        #expect(failed.output.hasPrefix("\u{1B}[31merror:\u{1B}[0m There is no database nowhere.\r\n"))
        #expect(failed.status == 1)
    }

    @Test(
        "a remedy of check has a line of its own in a terminal, and nowhere else",
        .needs(.terminal))
    func remedyInTerminal() async throws {
        let tool = try Tool(["1_a.sql": "CREATE TABLE a(x COLLATE backwards);"])
        let run = try await tool.onTerminal("check --no-since", environment: ["NO_COLOR": "1", "CI": ""])
        #expect(
            run.output == """
                Migrations/1_a.sql:1: note: It was not tried, because SQLite has no collation `backwards`. [untried]\r
                    If the app adds it, declare a stand-in in code.rules: `collation: backwards`. Otherwise, correct the name.\r
                1 migration checked; 1 of them did not run (1_a.sql): 0 errors, 0 warnings, 1 note\r

                """, "\(run)")
        let piped = try await tool("check --no-since")
        #expect(
            piped.output.hasPrefix(
                "Migrations/1_a.sql:1: note: It was not tried, because SQLite has no collation `backwards`. If the app adds it,"
            ), "\(piped)")
    }

    @Test(
        "a long run shows its progress in a terminal",
        .needs(.terminal))
    func progress() async throws {
        let count =
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000000) SELECT count(*) FROM n;"
        let tool = try Tool(["1_a.sql": "SELECT 1;", "2_b.sql": count])
        let run = try await tool.onTerminal("migrate --database app.sqlite")
        #expect(
            run.output.replacing(/\u{1B}\[[?0-9;]*[A-Za-z]/, with: "").contains(
                "━━━━━━━━━━━━──────────── 50%"))
        #expect(
            run.output.contains("\r\u{1B}[Kapp.sqlite")
                || run.output.contains("\r\u{1B}[K\u{1B}[1mapp.sqlite"))
    }

    @Test(
        "every command has a help text with an example",
        arguments: [
            "", "new", "diff", "drift", "status", "plan", "migrate", "rollback", "squash", "check",
            "rehearse",
            "snapshot",
            "snapshot write",
            "snapshot verify", "fixture", "dump", "history", "adopt", "accept", "types",
            "embed",
        ])
    func help(command: String) async throws {
        let run = try await Tool()("\(command) --help")
        #expect(run.output.contains("EXAMPLE\n  app-migrations "))
        let name = command.isEmpty ? "app-migrations" : command.replacingOccurrences(of: " ", with: "-")
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Help/\(name).txt")
        #expect(run.output == (try? String(contentsOf: file, encoding: .utf8)), "\(name).txt is out of date")
    }

    @Test("shells can complete the arguments", arguments: ["bash", "zsh", "fish"])
    func completion(shell: String) async throws {
        let run = try await Tool()("--generate-completion-script \(shell)")
        #expect(run.status == 0)
        #expect(run.output.contains("rehearse"))
    }

    @Test("dump notes that a schema has no version")
    func dumpWithoutVersion() async throws {
        let tool = try Tool()
        try tool.execute("CREATE TABLE a(x)")
        let run = try await tool("dump --database app.sqlite")
        #expect(
            run.output == "-- A schema without a version, by app-migrations dump.\n\nCREATE TABLE a(x);\n",
            "\(run)")
    }

    @Test("dump reads an open database, including its write-ahead log")
    func dumpWhileOpen() async throws {
        let tool = try Tool()
        let pool = try DatabasePool(path: tool.folder.file("app.sqlite").path)
        try await pool.write { try $0.execute(sql: "CREATE TABLE a(x)") }
        #expect(try await tool("dump --database app.sqlite").output.hasSuffix("\n\nCREATE TABLE a(x);\n"))
        try pool.close()
    }
}
