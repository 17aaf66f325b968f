import AppMigrations
import Foundation
import GRDB
import MigrationTools
import SchemaMigrations
import TestSupport
import Testing

@Suite("app-migrations with databases of other branches, and squashed files", .timed)
struct OlderBuildTests {
    private static let main = [
        "1_book.sql": "CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT);",
        "2_year.sql": "ALTER TABLE book ADD COLUMN year INTEGER; INSERT INTO book(title) VALUES ('Emma');",
        "3_index.sql": "CREATE INDEX book_year ON book(year);",
    ]

    /// Writes the files of another branch to a folder beside that of the tool.
    private func addBranch(to tool: Tool) throws {
        let folder = tool.folder.file("Other")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let files = Self.main.merging([
            "4_tag.sql": "-- migrations: compatible\nCREATE TABLE tag(word TEXT);",
            "4_tag.down.sql": "DROP TABLE tag;",
            "5_mood.sql": "ALTER TABLE book ADD COLUMN mood TEXT;",
            "5_mood.down.sql": "ALTER TABLE book DROP COLUMN mood;",
        ]) { $1 }
        for (name, text) in files {
            try Data(text.utf8).write(to: folder.appendingPathComponent(name))
        }
    }

    @Test("names what another branch has done, refuses to go on, and undoes it when asked to")
    func branches() async throws {
        let tool = try Tool(Self.main)
        try addBranch(to: tool)
        _ = try await tool("migrate --database app.sqlite --directory Other")
        let status = try await tool("status --database app.sqlite")
        #expect(
            status.output.withoutTimes.contains(
                "!  4  tag    applied DATE, no such file; compatible, can be undone"), "\(status)"
        )
        #expect(
            status.output.withoutTimes.contains(
                "!  5  mood   applied DATE, no such file; not compatible, can be undone"))
        for command in ["migrate", "plan", "rehearse", "rollback --to 0"] {
            let refused = try await tool("\(command) --database app.sqlite")
            #expect(refused.status == 1)
            #expect(
                refused.errors == """
                    error: The database has had migrations that are unknown and not compatible: 5_mood.
                    Undo them with `app-migrations migrate --undo-unknown`, which loses rows that only they can hold, or put \
                    their files back. Nothing was changed.

                    """)
        }
        let undone = try await tool("migrate --database app.sqlite --undo-unknown")
        #expect(
            undone.output == """
                app.sqlite: undone, newest first: 5, 4
                Nothing is pending: app.sqlite is at version 3.

                """)
        #expect(try await tool("drift --database app.sqlite").status == 0)
    }

    @Test("suggests no undoing of a migration without a down migration")
    func irreversibleBranch() async throws {
        let tool = try Tool(Self.main)
        try addBranch(to: tool)
        try FileManager.default.removeItem(at: tool.folder.file("Other/5_mood.down.sql"))
        _ = try await tool("migrate --database app.sqlite --directory Other")
        #expect(
            try await tool("migrate --database app.sqlite").errors == """
                error: The database has had migrations that are unknown and not compatible: 5_mood.
                A newer version of the app has applied them: update the app. If their files were removed, put them back. \
                Nothing was changed.

                """)
    }

    @Test("undoes by the down migration as it was corrected, though nothing else was pending then")
    func correctedDown() async throws {
        let tool = try Tool(Self.main)
        try addBranch(to: tool)
        try Data("ALTER TABLE book DROP COLUMN title;".utf8).write(
            to: tool.folder.file("Other/5_mood.down.sql"))
        _ = try await tool("migrate --database app.sqlite --directory Other")
        try Data("ALTER TABLE book DROP COLUMN mood;".utf8).write(
            to: tool.folder.file("Other/5_mood.down.sql"))
        let corrected = try await tool("migrate --database app.sqlite --directory Other")
        #expect(
            corrected.output == """
                Nothing is pending: app.sqlite is at version 5.
                The ledger now has the down migration of 5 as it is in its file.

                """)
        _ = try await tool("migrate --database app.sqlite --undo-unknown")
        #expect(try tool.strings("SELECT name FROM pragma_table_info('book')") == ["id", "title", "year"])
    }

    /// Empty before SQLite 3.43, which has no `timediff`.
    private static let timeDifferences = ["'now', '2001-01-01'", "'2001-01-01', 'now'"].map {
        "INSERT INTO book(title) VALUES (timediff(\($0)))"
    }.filter { _ in
        (try? DatabaseQueue().read { try String.fetchOne($0, sql: "SELECT timediff('now', 'now')") }) != nil
    }

    @Test(
        "does not freeze the day, the computer, or what chance has given, for every later install",
        arguments: [
            "INSERT INTO book(title) VALUES (date('now'))",
            "INSERT INTO book(title) VALUES (CURRENT_TIMESTAMP)",
            "INSERT INTO book(title) VALUES (strftime('%Y'))", "INSERT INTO book(title) VALUES (random())",
            "INSERT INTO book(title) VALUES (hex(randomblob(8)))",
            "INSERT INTO book(title) SELECT 'x' WHERE random() > 0",
            "INSERT INTO book(title) VALUES (abs(random()) % 3)",
            "CREATE TABLE one(x); INSERT INTO one SELECT value FROM json_each('[1,2,3]') ORDER BY random() LIMIT 1",
            "CREATE TABLE log(x, at DEFAULT (datetime('now'))); INSERT INTO log(x) VALUES (1)",
            "INSERT INTO book(title) VALUES (strftime('%Y', 'subsec'))",
            "INSERT INTO book(title) VALUES (date('2020-06-01 12:00:00', 'LocalTime'))",
            "INSERT INTO book(title) VALUES (strftime('%d', '2020-06-01', 'utc'))",
            "INSERT INTO book(title) VALUES (sqlite_version())",
            "INSERT INTO book(title) SELECT 'x' WHERE sqlite_version() >= '3.38.0'",
        ] + Self.timeDifferences)
    func today(_ sql: String) async throws {
        var files = Self.main
        files["4_today.sql"] = "\(sql);"
        let tool = try Tool(files)
        for arguments in ["squash --before 4", "snapshot write --output schema.sql"] {
            let run = try await tool(arguments)
            #expect(run.status == 1)
            #expect(
                run.errors.contains(
                    "What the migrations make depends on the day, on the computer or on chance: table"),
                "\(run)")
        }
        #expect(try tool.folder.file("Migrations").contents().count == 4)
    }

    @Test("squashes rows of which each gets another random value, where that is deleted again")
    func chanceForAWhile() async throws {
        var files = Self.main
        files["4_ids.sql"] = """
            CREATE TABLE temporary(id TEXT PRIMARY KEY);
            INSERT INTO temporary SELECT hex(randomblob(16)) FROM json_each('[1,2,3]');
            DROP TABLE temporary;
            """
        let run = try await Tool(files)("squash --before 4")
        #expect(run.status == 0, "\(run)")
    }

    @Test("squashes what depends on the day only when the app runs, or on a day that a file names")
    func otherDays() async throws {
        var files = Self.main
        files["4_days.sql"] = """
            CREATE TABLE log(x, at TEXT DEFAULT (datetime('now')), on_ TEXT DEFAULT CURRENT_DATE);
            INSERT INTO log VALUES (date('2024-02-03', '+1 day'), strftime('%Y', '2001-01-01'), 'now');
            INSERT INTO log VALUES (datetime('2001-01-01', 'localtime', 'utc'), strftime('utc', 0), 'localtime');
            UPDATE book SET year = strftime('%Y', 'now') WHERE title = 'none';
            CREATE TRIGGER t AFTER INSERT ON log BEGIN DELETE FROM log WHERE at < date('now', '-1 year'); END;
            CREATE INDEX i ON log(date(x));
            """
        let tool = try Tool(files)
        let run = try await tool("squash --before 4")
        #expect(run.output.hasPrefix("4_baseline.sql replaces 4 files\n"), "\(run)")
        let text = try String(contentsOf: tool.folder.file("Migrations/4_baseline.sql"), encoding: .utf8)
        #expect(text.contains("'2024-02-04'") && !text.contains("'2034"), "\(text)")
    }

    @Test("keeps the format of a new database file")
    func format() async throws {
        var files = Self.main
        files["1_book.sql"] =
            "PRAGMA page_size = 8192; PRAGMA auto_vacuum = FULL; \(files["1_book.sql"] ?? "")"
        let tool = try Tool(files)
        _ = try await tool("squash --before 2")
        let run = try await tool("migrate --database app.sqlite")
        #expect(run.status == 0, "\(run)")
        #expect(try tool.strings("PRAGMA page_size") + tool.strings("PRAGMA auto_vacuum") == ["8192", "1"])
    }

    @Test("squashes a baseline again that an editor has saved with a byte order mark")
    func markedBaseline() async throws {
        let tool = try Tool(Self.main)
        _ = try await tool("squash --before 2")
        let first = try String(contentsOf: tool.folder.file("Migrations/2_baseline.sql"), encoding: .utf8)
        try tool.write("\u{FEFF}\(first)", to: "Migrations/2_baseline.sql")
        let run = try await tool("squash --before 3")
        #expect(run.status == 0, "\(run)")
        let text = try String(contentsOf: tool.folder.file("Migrations/3_baseline.sql"), encoding: .utf8)
        #expect(
            text.contains(
                "\n-- replaces: 1 book\n-- replaces: 2 year\n-- replaces: 3 index\n"), "\(text)")
    }

    @Test("tries each file after a baseline, whatever tables it touches")
    func laterFiles() async throws {
        var files = Self.main
        files["4_log.sql"] = """
            CREATE TABLE log(book INTEGER REFERENCES book(id), note TEXT);
            CREATE TRIGGER logs AFTER UPDATE ON book BEGIN INSERT INTO log VALUES (new.id, new.title); END;
            """
        files["5_touch.sql"] = "UPDATE book SET year = 2024;"
        files["6_view.sql"] = "CREATE VIEW notes AS SELECT note FROM log;"
        files["7_fails.sql"] = "CREATE UNIQUE INDEX unique_years ON book(year);"
        let run = try await Tool(files)("squash --before 2")
        #expect(
            run.output == """
                2_baseline.sql replaces 2 files
                ✓ 9 databases came out the same

                """, "\(run)")
    }

    @Test("removes no file before the one that stands for it has its name")
    func unnamedBaseline() throws {
        let tool = try Tool(Self.main)
        let folder = tool.folder.file("Migrations")
        let squash = try Squash.verified(directory: folder, before: 3)
        try tool.write("", to: "Migrations/3_baseline.sql/in the way")
        let error = try #require(throws: MigrationError.self) { try squash.write() }
        #expect(error.message == "3_baseline.sql cannot be written: Is a directory.")
        #expect(try folder.contents().sorted() == (Self.main.keys + ["3_baseline.sql"]).sorted())
    }

    @Test("gives the baseline a name that no file has on a disk that ignores the case of names")
    func nameOfBaseline() throws {
        let tool = try Tool(["1_a.sql": "CREATE TABLE a(x);", "2_Baseline.sql": "CREATE TABLE b(x);"])
        let folder = tool.folder.file("Migrations")
        let squash = try Squash.verified(directory: folder, before: 2)
        #expect(squash.fileName == "2_squashed.sql")
        try squash.write()
        #expect(try folder.contents() == ["2_squashed.sql"])
    }

    @Test("says of a database that lacks what was squashed that it is too old")
    func statusOfTooOld() async throws {
        let tool = try Tool(Self.main)
        _ = try await tool("migrate --database app.sqlite --up-to 1")
        _ = try await tool("squash --before 2 --last-release 2.4")
        let status = try await tool("status --database app.sqlite --exit-code")
        #expect(status.status == 2)
        #expect(
            status.output.withoutTimes == """
                app.sqlite is at version 1, and too old for these migrations
                ! The database is too old: it is without migration 2, which was squashed into 2_baseline.sql. Version 2.4 of \
                the app can still migrate it: launch that first. Nothing was changed.
                  -  2  baseline  not applied: the database is too old
                  -  3  index     not applied: the database is too old

                """)
        let problem = try #require(status.output.split(separator: "\n").dropFirst().first).dropFirst(2)
        for command in ["plan", "migrate"] {
            let run = try await tool("\(command) --database app.sqlite")
            #expect(run.status == 1)
            #expect(run.errors.split(separator: "\n").joined(separator: " ") == "error: \(problem)")
        }
        let database = try DatabaseQueue(path: tool.folder.file("app.sqlite").path)
        let schema = try SchemaMigrator(directory: tool.folder.file("Migrations"))
        let manager = try MigrationManager(
            name: "Library", currentVersion: "3.0", adopting: Adoption { "1.0" }, store: .inMemory())
        manager.whenMigratingToVersion("3.0", migrate: schema, in: database)
        let error = try #require(throws: MigrationError.self) { try manager.migrate() }
        #expect(error.code == .tooOld)
        #expect(error.message.contains(problem.prefix(60)), "\(error)")
        #expect(
            try await tool("status --database app.sqlite --json").output.contains(
                "\"squashed\" : [\n    \"2\"\n  ]"))
    }

    @Test("says of a database with tables and no ledger that it has to be adopted")
    func statusOfUnadopted() async throws {
        let tool = try Tool(Self.main)
        try tool.execute("CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT)")
        let status = try await tool("status --database app.sqlite --exit-code")
        #expect(status.status == 2)
        #expect(
            status.output == """
                app.sqlite is at no version, and has to be adopted
                ! The database has tables, but there is no `schema_migrations` table. Mark the migrations that it has had with \
                `app-migrations adopt`. Nothing was changed.
                  ·  1  book   pending
                  ·  2  year   pending
                  ·  3  index  pending

                """)
        #expect(
            try await tool("status --database app.sqlite --json").output.contains(
                #""unadopted" : "The database has tables, but"#))
        try tool.execute("DROP TABLE book")
        #expect(
            try await tool("status --database app.sqlite").output.hasPrefix(
                "app.sqlite is at no version, and 3 migrations are pending\n"))
    }

    @Test("writes the header of a compatible migration where it is true")
    func header() async throws {
        let tool = try Tool(Self.main)
        func new(_ name: String, _ schema: String) async throws -> String {
            try Data(schema.utf8).write(to: tool.folder.file("schema.sql"))
            let path = try await tool("new \(name) --from schema.sql").output.prefix { !$0.isNewline }
            return try String(contentsOf: tool.folder.file(String(path)), encoding: .utf8)
        }
        let book = "CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT, year INTEGER"
        let index = "CREATE INDEX book_year ON book(year)"
        #expect(
            try await new("add_mood", "\(book), mood TEXT); \(index);").contains(
                "-- migrations: compatible\n"))
        #expect(
            try await !new("more", "\(book), mood TEXT, isbn TEXT UNIQUE); \(index);").contains("compatible"))
    }

    @Test("calls a migration compatible beside a table whose keys are random")
    func randomKeys() async throws {
        let tool = try Tool([
            "1_note.sql": """
            CREATE TABLE note(
                id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (hex(randomblob(16))), n DEFAULT (random())
            );
            """,
            "2_tag.sql": "-- migrations: compatible\nCREATE TABLE tag(word TEXT);",
        ])
        let check = try await tool("check")
        #expect(check.status == 0 && !check.output.contains("compatible"), "\(check)")
    }

    @Test("squashes files into a baseline, which check accepts, and which every database above it skips")
    func squash() async throws {
        let tool = try Tool(Self.main)
        for (name, version) in [("old", 1), ("middle", 2), ("new", 3)] {
            _ = try await tool("migrate --database \(name).sqlite --up-to \(version)")
        }
        let squashed = try await tool("squash --before 2 --last-release 2.4")
        #expect(
            squashed.output == """
                2_baseline.sql replaces 2 files
                ✓ 5 databases came out the same

                """, "\(squashed)")
        let files = try FileManager.default.contentsOfDirectory(atPath: tool.folder.file("Migrations").path)
        #expect(files.sorted() == ["2_baseline.sql", "3_index.sql"])
        #expect(
            try await tool("check").output
                == "✓ 2 migrations checked, not compared with a branch: nothing found\n")
        #expect(try await tool("migrate --database fresh.sqlite").status == 0)
        #expect(try await tool("migrate --database middle.sqlite").status == 0)
        for name in ["fresh", "middle", "new"] {
            let run = try await tool("drift --database \(name).sqlite")
            #expect(run.status == 0, "\(run)")
        }
        let old = try await tool("migrate --database old.sqlite")
        #expect(old.status == 1)
        #expect(old.errors.contains("Version 2.4 of the app can still migrate it"))
        // A baseline can be squashed again, and keeps the list.
        #expect(try await tool("squash --before 3").output.hasPrefix("3_baseline.sql replaces 2 files\n"))
        let text = try String(contentsOf: tool.folder.file("Migrations/3_baseline.sql"), encoding: .utf8)
        #expect(text.contains("-- replaces: 1 book\n-- replaces: 2 year\n-- replaces: 3 index\n"))
        #expect(try await tool("migrate --database new.sqlite").status == 0)
    }

    @Test("squashes a file that leaves orphans into a baseline that may")
    func squashOrphans() async throws {
        let tool = try Tool([
            "1_a.sql": """
            -- migrations: foreign-keys=unchecked
            CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p REFERENCES p); INSERT INTO c VALUES (9);
            """,
            "2_b.sql": "CREATE TABLE b(x);",
        ])
        let squash = try await tool("squash --before 2")
        #expect(squash.status == 0, "\(squash)")
        let migrate = try await tool("migrate --database app.sqlite")
        #expect(migrate.status == 0, "\(migrate)")
        #expect(try await tool("check").status == 0)
    }

    @Test("squashes no file that sets what a baseline cannot, unless a later one sets it as well")
    func squashWAL() async throws {
        let wal = "-- migrations: transaction=none\nPRAGMA journal_mode = WAL;"
        let files = ["1_a.sql": "CREATE TABLE a(x);", "2_wal.sql": wal, "3_b.sql": "CREATE TABLE b(x);"]
        let refused = try await Tool(files)("squash --before 3")
        #expect(
            refused.errors == """
                error: 2_wal.sql sets journal_mode = WAL, which no baseline can do.
                Squash the files before it, or add a later file that sets it, too. Nothing was changed.

                """)
        let later = try Tool(files.merging(["4_wal.sql": wal]) { $1 })
        let squash = try await later("squash --before 3")
        #expect(squash.status == 0, "\(squash)")
        let back = "-- migrations: transaction=none\nPRAGMA journal_mode = DELETE;"
        let reset = try Tool(files.merging(["3_b.sql": back]) { $1 })
        #expect(try await reset("squash --before 3").status == 0)
    }

    @Test("keeps in a baseline which tables a sync engine mirrors")
    func squashSynchronized() async throws {
        let tool = try Tool([
            "1_a.sql": "-- tool: synced\nCREATE TABLE entry(id TEXT PRIMARY KEY NOT NULL, title TEXT);",
            "2_b.sql": "CREATE TABLE draft(id TEXT PRIMARY KEY NOT NULL, title TEXT);",
            "3_c.sql": "CREATE INDEX draft_title ON draft(title);",
            "4_d.sql": """
            -- allow: drop-column
            ALTER TABLE entry DROP COLUMN title;
            """,
        ])
        for version in [2, 3] {
            _ = try await tool("squash --before \(version)")
            let check = try await tool("check")
            #expect(check.output.contains("[synced-change]"), "\(check)")
            let text = try String(
                contentsOf: tool.folder.file("Migrations/\(version)_baseline.sql"), encoding: .utf8)
            #expect(text.contains("\n-- synced: entry\n") && !text.contains("-- synced: draft"), "\(text)")
        }
    }

    @Test("squashes nothing that it cannot")
    func refusals() async throws {
        let tool = try Tool(Self.main.merging(["4_code.swift": "struct Code {}"]) { $1 })
        #expect(try await tool("squash --before 7").errors.contains("No migration has version 7"))
        #expect(try await tool("squash --before 1").errors.contains("there is only 1_book.sql"))
        #expect(try await tool("squash --before 4").errors.contains("4_code.swift is written in Swift"))
        #expect(try await tool("squash --before 3").output.hasSuffix("! Not tried: 4_code.swift\n"))
    }
}

extension URL {
    /// The names of what is in a folder.
    fileprivate func contents() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path)
    }
}
