import Foundation
import TestSupport
import TestTraits
import Testing

@Suite("app-migrations check", .timed)
struct CheckTests {
    /// Returns what `check` reports for a file that follows tables `book` and `shelf`, without its folder.
    private func findings(_ sql: String, named name: String = "3_c.sql") async throws -> [String] {
        let tool = try Tool([
            "1_a.sql": "CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT);",
            "2_b.sql": """
            CREATE TABLE note(book INTEGER REFERENCES book(id));
            CREATE INDEX note_book ON note(book);
            CREATE TABLE shelf(x);
            """,
            name: sql,
        ])
        let run = try await tool("check")
        #expect(run.errors == "")
        // So it is in many a test of other rules.
        return run.output.split(separator: "\n").dropLast().map {
            $0.replacingOccurrences(of: "Migrations/", with: "")
        }.filter { !$0.hasSuffix("[needless-rebuild]") }
    }

    @Test("reports nothing for correct migrations")
    func nothing() async throws {
        let run = try await Tool(Tool.indexedBooks)("check")
        #expect(run.output == "✓ 2 migrations checked, not compared with a branch: nothing found\n")
        #expect(run.status == 0)
    }

    @Test(
        "reports statements that destroy data",
        arguments: [
            (
                "DROP TABLE shelf;",
                "3_c.sql:1: error: Table `shelf` is dropped: its rows are lost. [drop-table]"
            ),
            (
                "-- Gone.\n\ndrop table if exists main.\"Shelf\";",
                "3_c.sql:3: error: Table `Shelf` is dropped: its rows are lost. [drop-table]"
            ),
            (
                "ALTER TABLE book DROP COLUMN title;",
                "3_c.sql:1: error: Column `title` of table `book` is dropped: its values are lost. [drop-column]"
            ),
            (
                "ALTER TABLE book DROP title;",
                "3_c.sql:1: error: Column `title` of table `book` is dropped: its values are lost. [drop-column]"
            ),
            (
                "DELETE FROM shelf;",
                "3_c.sql:1: error: Every row of table `shelf` is deleted: DELETE has no WHERE. [delete-without-where]"
            ),
            (
                "WITH x AS (SELECT 1 WHERE 1) DELETE FROM shelf;",
                "3_c.sql:1: error: Every row of table `shelf` is deleted: DELETE has no WHERE. [delete-without-where]"
            ),
        ])
    func destructive(sql: String, finding: String) async throws {
        #expect(try await findings(sql) == [finding])
    }

    @Test(
        "reads the forms of ALTER TABLE that SQLite has since 3.53, and says that they are recent",
        arguments: [
            ("ALTER TABLE book ALTER COLUMN title DROP NOT NULL;", "ALTER COLUMN"),
            ("alter table main.book alter title set not null;", "ALTER COLUMN"),
            ("ALTER TABLE book DROP CONSTRAINT long_title;", "DROP CONSTRAINT"),
            ("ALTER TABLE book ADD CONSTRAINT long_title CHECK (length(title) > 3);", "ADD CONSTRAINT"),
            ("ALTER TABLE book ADD CHECK (length(title) > 3);", "ADD CONSTRAINT"),
        ])
    func recent(sql: String, form: String) async throws {
        // An older SQLite cannot run them, and a table has no constraint to drop.
        let read = { (findings: [String]) in findings.filter { !$0.hasSuffix("[does-not-apply]") } }
        #expect(
            try await read(findings(sql)) == [
                """
                3_c.sql:1: warning: ALTER TABLE … \(form) needs SQLite 3.53, of 2026. Where users have an older one, \
                write it in another way: `-- migrations: redefine` changes constraints of a table. [recent-sqlite]
                """
            ])
        #expect(try await read(findings("-- allow: recent-sqlite\n\(sql)")) == [])
    }

    @Test("notes a pragma that has no effect, and ends without an error")
    func note() async throws {
        let tool = try Tool([
            "1_a.sql":
                "PRAGMA foreign_keys = OFF;\nCREATE TABLE a(x);\nPRAGMA foreign_keys = ON;\nCREATE TABLE b(x);"
        ])
        let run = try await tool("check")
        #expect(
            run.output == """
                Migrations/1_a.sql:3: note: PRAGMA foreign_keys is left out here: this file runs without enforcing foreign \
                keys, which are checked before the commit. Remove it. [ignored-pragma]
                1 migration checked, not compared with a branch: 0 errors, 0 warnings, 1 note

                """)
        #expect(run.status == 0)
    }

    @Test("refuses to drop a table to which an empty table refers")
    func cutKey() async throws {
        #expect(
            try await findings("-- allow: drop-table\nDROP TABLE book;") == [
                """
                3_c.sql:1: error: Leaves table note with a foreign key to table book, which no longer exists. \
                [does-not-apply]
                """
            ])
    }

    private static let rebuild = """
        CREATE TABLE book_new(id INTEGER PRIMARY KEY, title TEXT NOT NULL);
        INSERT INTO book_new SELECT id, ifnull(title, '') FROM book;
        DROP TABLE book;
        ALTER TABLE book_new RENAME TO book;
        """

    @Test(
        "accepts statements that keep data or are allowed by a comment",
        arguments: [
            rebuild,
            "DELETE FROM shelf WHERE x = 1;",
            "ALTER TABLE book ADD COLUMN \"drop\"; ALTER TABLE book RENAME COLUMN \"drop\" TO \"alter\";",
            "CREATE TEMP TABLE scratch(x); DELETE FROM scratch; DROP TABLE scratch;",
            "CREATE TRIGGER t AFTER DELETE ON shelf BEGIN DELETE FROM book; END;",
            "SELECT 'DROP TABLE book; DELETE FROM book';",
            "-- allow: drop-table\nDROP TABLE shelf;",
            "/* Old. */\n-- allow: drop-table\nDROP TABLE shelf;",
            "CREATE VIEW v AS SELECT 1; CREATE TABLE IF NOT EXISTS c(x); DROP TABLE c;",
            """
            CREATE TABLE book_new(id INTEGER PRIMARY KEY, title TEXT);
            INSERT INTO book_new SELECT id, title FROM book;
            DROP TABLE book;
            -- allow: renamed-table
            ALTER TABLE shelf RENAME TO shelves;
            ALTER TABLE book_new RENAME TO book;
            """,
            "-- allow: drop-table, delete-without-where\n-- since nobody uses it\nDROP TABLE shelf;",
            """
            ALTER TABLE shelf RENAME TO shelf_old;
            CREATE TABLE shelf(x);
            INSERT INTO shelf SELECT x FROM shelf_old;
            DROP TABLE shelf_old;
            """,
        ])
    func harmless(sql: String) async throws {
        #expect(try await findings(sql) == [])
    }

    @Test("requires the comment directly above the statement")
    func faraway() async throws {
        #expect(try await findings("-- allow: drop-table\n\nDROP TABLE shelf;").count == 1)
        #expect(try await findings("DROP TABLE shelf; -- allow: drop-table").count == 1)
        #expect(try await findings("SELECT 1; -- allow: drop-table\nDROP TABLE shelf;").count == 1)
        #expect(
            try await findings("SELECT 1,\n2; -- allow: drop-table\n-- Old.\nDROP TABLE shelf;").count == 1)
        #expect(
            try await findings("-- allow: drop-tables\nSELECT 1;").first?.hasPrefix(
                "3_c.sql:1: warning: There is no rule drop-tables. The rules are malformed-name, ") == true)
    }

    @Test("reports a rebuild that copies no rows")
    func emptyRebuild() async throws {
        let sql = """
            CREATE TABLE shelf_new(x INTEGER);
            DROP TABLE shelf;
            ALTER TABLE shelf_new RENAME TO shelf;
            """
        #expect(
            try await findings(sql) == [
                "3_c.sql:2: error: Table `shelf` is dropped: its rows are lost. [drop-table]"
            ])
    }

    @Test("catches a rebuild that loses an index, a trigger, a foreign key and a NOT NULL")
    func losses() async throws {
        let tool = try Tool([
            "1_a.sql": """
            CREATE TABLE book(id INTEGER PRIMARY KEY);
            CREATE TABLE note(id INTEGER PRIMARY KEY, book INTEGER REFERENCES book(id), day TEXT NOT NULL);
            CREATE INDEX note_day ON note(day);
            CREATE INDEX note_book ON note(book);
            CREATE TRIGGER note_added AFTER INSERT ON note BEGIN SELECT 1; END;
            """,
            "2_b.sql": """
            CREATE TABLE new_note(id INTEGER PRIMARY KEY, book INTEGER, day TEXT, mood TEXT);
            INSERT INTO new_note(id, book, day) SELECT id, book, day FROM note;
            DROP TABLE note;
            ALTER TABLE new_note RENAME TO note;
            CREATE INDEX note_book ON note(book);
            """,
        ])
        let run = try await tool("check")
        #expect(
            run.output.contains(
                "Migrations/2_b.sql:1: error: Rebuilding table `note` loses the foreign key (book) "))
        #expect(
            run.output.contains(
                "Migrations/2_b.sql:1: error: Rebuilding table `note` loses the NOT NULL of column `day`."))
        #expect(
            run.output.contains(
                "Migrations/2_b.sql:3: error: Rebuilding table `note` loses index `note_day`, "))
        #expect(
            run.output.contains(
                "Migrations/2_b.sql:3: error: Rebuilding table `note` loses trigger `note_added`, "))
        #expect(
            run.output.hasSuffix("2 migrations checked, not compared with a branch: 4 errors, 0 warnings\n"))
        #expect(run.status == 1)
    }

    @Test("reports a rebuild with wrong foreign keys")
    func foreignKeys() async throws {
        #expect(
            try await findings("-- migrations: foreign-keys=immediate\n" + Self.rebuild) == [
                """
                3_c.sql:4: error: Table `book` is rebuilt with immediate foreign keys: dropping it deletes the rows that \
                refer to it with ON DELETE CASCADE. Remove foreign-keys=immediate. [rebuild-foreign-keys]
                """
            ])
        let renamedFirst = """
            ALTER TABLE book RENAME TO book_old;
            CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT NOT NULL);
            INSERT INTO book SELECT id, ifnull(title, '') FROM book_old;
            DROP TABLE book_old;
            """
        #expect(
            try await findings(renamedFirst) == [
                """
                3_c.sql:4: error: Table `book` was renamed before it was dropped, and the foreign keys that refer to it \
                followed the rename. Create the new table under another name, copy the rows, drop the old table, and \
                rename the new one. [rebuild-foreign-keys]
                """
            ])
    }

    /// A rebuild whose old table stands aside, and which no foreign key has followed.
    private static let renamedFirst = """
        PRAGMA legacy_alter_table = ON;
        ALTER TABLE book RENAME TO book_old;
        CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT NOT NULL);
        INSERT INTO book SELECT id, ifnull(title, '') FROM book_old;
        DROP TABLE book_old;
        """

    @Test("is silent about an old table that stands aside, where no foreign key has followed the rename")
    func renamedFirst() async throws {
        #expect(try await findings(Self.renamedFirst).filter { $0.contains("[rebuild-foreign-keys]") } == [])
    }

    @Test("reports the rows that such a file leaves behind without a parent")
    func orphansOfRenamedTable() async throws {
        let found = try await findings("\(Self.renamedFirst) DELETE FROM book WHERE id > 2;")
        #expect(found.contains { $0.hasSuffix("[orphans]") }, "\(found)")
    }

    @Test(
        "reports files that cannot run",
        arguments: [
            (
                "3-c.sql", "SELECT 1;",
                """
                3-c.sql:1: error: Only an _ and a name may follow the version. Name it <version>_<name>.sql, \
                the version in digits, the name in letters, digits, spaces, _ and -. If it is no migration, begin \
                its name with something other than a digit. [malformed-name]
                """
            ),
            (
                "2_c.sql", "SELECT 1;",
                """
                2_c.sql:1: error: Has version 2, which 2_b.sql has too. Give the newer one a version of its own. \
                [double-version]
                """
            ),
            (
                "99990101000000000_c.sql", "SELECT 1;",
                """
                99990101000000000_c.sql:1: error: Version 99990101000000000 is in the future, so every new migration \
                until then is out of order. Name it after the time at which it was written. [future-version]
                """
            ),
            (
                "3_c.sql", "SELECT 1;\nSELECT 'x",
                """
                3_c.sql:2: error: A comment, text or quoted name begins here and does not end. [unreadable-file]
                """
            ),
            (
                "3_c.sql", "SELECT 1;\nCOMMIT;",
                "3_c.sql:2: error: COMMIT is not allowed in a file that runs in a transaction. [refused-statement]"
            ),
            (
                "3_c.sql", "SELECT 1;\n\nCREATE TABEL x(y);",
                "3_c.sql:3: error: Near \"TABEL\": syntax error (SQLite 1). [does-not-apply]"
            ),
            (
                "3_c.sql", "-- Nothing yet.",
                """
                3_c.sql:1: warning: It has no statement. Once it is applied, statements that are added later never \
                run. [no-statement]
                """
            ),
        ])
    func files(name: String, sql: String, finding: String) async throws {
        #expect(try await findings(sql, named: name) == [finding])
    }

    @Test("reports missing and failing down migrations")
    func downs() async throws {
        let tool = try Tool([
            "1_a.sql": "CREATE TABLE a(x);", "2_b.sql": "CREATE TABLE b(x);", "2_b.down.sql": "DROP TABLE b;",
            "3_c.sql": "CREATE TABLE c(x);", "4_d.sql": "CREATE TABLE d(x);", "4_d.down.sql": "DROP TABLE e;",
        ])
        let run = try await tool("check")
        #expect(
            run.output == """
                Migrations/3_c.sql:1: warning: There is no 3_c.down.sql, but older migrations have one. [missing-down]
                Migrations/4_d.down.sql:1: error: No such table: e (SQLite 1). [down-does-not-apply]
                4 migrations checked, not compared with a branch: 1 error, 1 warning

                """)
        #expect(run.status == 1)
    }

    @Test("reports a down migration that leaves something, or takes too much")
    func downsThatDiffer() async throws {
        for (down, object) in [("SELECT 1;", "table `a`"), ("DROP TABLE a;", "table `a`")] {
            let tool = try Tool([
                "1_a.sql": "CREATE TABLE a(x);", "2_b.sql": "ALTER TABLE a ADD COLUMN y;",
                "2_b.down.sql": down,
            ])
            let run = try await tool("check")
            #expect(
                run.output == """
                    Migrations/2_b.down.sql:1: warning: After it, \(object) is not as before the migration. Undo each change, or the \
                    migration may fail when it is applied again. [down-differs]
                    2 migrations checked, not compared with a branch: 0 errors, 1 warning

                    """)
        }
    }

    @Test("tries the down migration of version 0, too")
    func downOfZero() async throws {
        let tool = try Tool(["0000_a.sql": "CREATE TABLE a(x);", "0000_a.down.sql": "DROP TABLE a;"])
        var run = try await tool("check")
        #expect(!run.output.contains("0000_a.down.sql"), "\(run.output)")
        try tool.write("DROP TABLE b;", to: "Migrations/0000_a.down.sql")
        run = try await tool("check")
        #expect(run.output.contains("Migrations/0000_a.down.sql:1: error: No such table: b"), "\(run.output)")
    }

    @Test("never runs what a file attaches, which is no trial's to change")
    func attaching() async throws {
        let tool = try Tool(["1_a.sql": "CREATE TABLE a(x);", "3_c.sql": "SELECT 1;"])
        let other = try tool.folder.queue("other.sqlite")
        try other.execute("CREATE TABLE pref(k); INSERT INTO pref VALUES ('kept')")
        try tool.write(
            "ATTACH '\(tool.folder.path("other.sqlite"))' AS other;\nDELETE FROM other.pref;",
            to: "Migrations/2_b.sql")
        let run = try await tool("check")
        #expect(
            run.output.hasPrefix(
                "Migrations/2_b.sql:1: note: It was not tried, because it attaches a database, which a trial must not change."
            ),
            "\(run.output)")
        for command in [
            "diff --from schema.sql", "types --versions 3 --output T.swift", "snapshot write --output s.sql",
            "squash --before 3",
        ] {
            try tool.write("CREATE TABLE a(x);", to: "schema.sql")
            let run = try await tool(command)
            #expect(
                run.errors.contains("attaches a database, which a trial must not change"),
                "\(command): \(run.errors)")
        }
        #expect(try other.strings("SELECT k FROM pref") == ["kept"])
    }

    @Test("compares files with a database")
    func database() async throws {
        let tool = try Tool([
            "1_a.sql": "CREATE TABLE a(x);", "3_c.sql": "CREATE TABLE c(x);", "4_d.sql": "CREATE TABLE d(x);",
        ])
        _ = try await tool("migrate --database app.sqlite")
        try tool.write("CREATE TABLE a(x, y);", to: "Migrations/1_a.sql")
        try tool.write("CREATE TABLE b(x);", to: "Migrations/2_b.sql")
        try FileManager.default.removeItem(at: tool.folder.file("Migrations/3_c.sql"))
        let run = try await tool("check --database app.sqlite")
        #expect(
            run.output == """
                Migrations/1_a.sql:1: error: It was edited after it was applied to this database. Undo the edit and write a \
                new migration, or accept it with `app-migrations accept`. [edited]
                Migrations/2_b.sql:1: warning: It is pending, but older than 4, which was already applied: it will run out \
                of order. [out-of-order]
                Migrations/3:1: warning: Version 3 was applied to the database, but it has no file. Was it removed or \
                renamed? [unknown-version]
                3 migrations checked, not compared with a branch: 1 error, 2 warnings

                """)
        #expect(run.status == 1)

        let accepted = try await tool("accept --database app.sqlite 1")
        #expect(accepted.output == "✓ 1 a is accepted as it is now\n")
        #expect(try await tool("check --database app.sqlite").status == 0)
    }

    @Test("prints JSON")
    func json() async throws {
        let run = try await Tool(["1_a.sql": "SELECT 1;", "2_b.sql": "DROP TABLE a;"])("check --json")
        #expect(
            run.output == """
                {
                  "errors" : 1,
                  "findings" : [
                    {
                      "file" : "2_b.sql",
                      "line" : 1,
                      "reason" : "No such table: a (SQLite 1).",
                      "rule" : "does-not-apply",
                      "severity" : "error"
                    }
                  ],
                  "migrations" : 2,
                  "notRun" : [
                    "2_b.sql"
                  ],
                  "notes" : 0,
                  "warnings" : 0
                }

                """)
        #expect(run.status == 1)
    }

    @Test("reports a folder that is missing or empty")
    func noFolder() async throws {
        let tool = try Tool()
        #expect(
            try await tool("check --directory nowhere").errors.contains("nowhere: the folder does not exist.")
        )
        try tool.write("", to: "Empty/README.md")
        #expect(
            try await tool("check --directory Empty").errors.contains("Empty: the folder holds no migration.")
        )
    }

    @Test("reports an unreadable file")
    func unreadable() async throws {
        let tool = try Tool(["1_a.sql": "SELECT 1;"])
        try tool.write("", to: "Migrations/2_b.sql/inside")
        let run = try await tool("check")
        #expect(run.output.contains("2_b.sql:1: error: It cannot be read: "), "\(run)")
    }

    @Test("accepts a version that is not a timestamp")
    func noTime() async throws {
        #expect(try await findings("CREATE TABLE c(x);", named: "99999999_c.sql") == [])
    }

    @Test("accepts a database without applied migrations")
    func newDatabase() async throws {
        let tool = try Tool(Tool.indexedBooks)
        try tool.execute("PRAGMA user_version = 7")
        let run = try await tool("check --database app.sqlite")
        #expect(
            run.output == "✓ 2 migrations checked, not compared with a branch: nothing found\n",
            "\(run)")
    }

    @Test("tries the down migrations, including the first")
    func wholeWayBack() async throws {
        let tool = try Tool(["1_a.sql": "CREATE TABLE a(x);", "1_a.down.sql": "DROP TABLE b;"])
        let run = try await tool("check")
        #expect(run.output.contains("1_a.down.sql:1: error: No such table: b"), "\(run)")
    }

    @Test("checks only the names of migrations in Swift")
    func onlyCode() async throws {
        let run = try await Tool(["1_a.swift": "// allow: untried", "2_b.swift": ""])("check")
        #expect(
            run.output
                == "✓ 2 migrations checked, not compared with a branch; 2 of them did not run (1_a.swift, 2_b.swift): nothing found\n",
            "\(run)")
    }
}
