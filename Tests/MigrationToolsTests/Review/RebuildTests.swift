import Foundation
import GRDB
import MigrationTools
import Testing

@Suite("A review of a rebuild", .timed)
struct RebuildTests {
    private static let note = """
        CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT);
        CREATE TABLE note(
            id INTEGER PRIMARY KEY, book INTEGER NOT NULL REFERENCES book(id) ON DELETE CASCADE,
            day TEXT NOT NULL, text TEXT
        );
        CREATE INDEX note_day ON note(day);
        CREATE INDEX note_book ON note(book);
        CREATE TRIGGER note_added AFTER INSERT ON note BEGIN UPDATE book SET title = title WHERE id = new.book; END;
        """

    @Test("finds everything that the rebuild loses, with file and line")
    func session() throws {
        let reviewed = try ReviewedMigrations(
            """
            CREATE TABLE new_note(
                id INTEGER PRIMARY KEY, book INTEGER NOT NULL, day TEXT, text TEXT, mood TEXT
            );
            INSERT INTO new_note(id, book, day, text) SELECT id, book, day, text FROM note;
            DROP TABLE note;
            ALTER TABLE new_note RENAME TO note;
            CREATE INDEX note_book ON note(book);
            """, after: Self.note)
        #expect(
            reviewed.findings == [
                """
                2_b.sql:1: Rebuilding table `note` loses the foreign key (book) to table `book`. Declare FOREIGN KEY (book) \
                REFERENCES book(id) ON DELETE CASCADE in the new table. [lost-foreign-key]
                """,
                """
                2_b.sql:1: Rebuilding table `note` loses the NOT NULL of column `day`. Declare `day` NOT NULL in the new \
                table. [lost-not-null]
                """,
                """
                2_b.sql:5: Rebuilding table `note` loses index `note_day`, which goes with the old table. Create it again \
                after the rename: CREATE INDEX note_day ON note(day); [lost-index]
                """,
                """
                2_b.sql:5: Rebuilding table `note` loses trigger `note_added`, which goes with the old one. Create the \
                trigger again at the end of the file. [lost-trigger]
                """,
            ])
    }

    @Test("finds nothing if the rebuild keeps everything, however it is written")
    func correct() throws {
        let definition = """
            (
                id INTEGER PRIMARY KEY NOT NULL, book INT not null, [day] TEXT NOT NULL DEFAULT '', text TEXT, mood TEXT,
                foreign key (book) references book(id) on delete cascade
            )
            """
        let end = """
            CREATE INDEX IF NOT EXISTS day_of_note ON note(day);
            CREATE INDEX note_book ON note(book);
            CREATE TRIGGER note_added AFTER INSERT ON note BEGIN UPDATE book SET title = title WHERE id = new.book; END;
            """
        for sql in [
            """
            CREATE TABLE new_note\(definition);
            INSERT INTO new_note(id, book, day, text) SELECT id, book, day, text FROM note;
            DROP TABLE note;
            ALTER TABLE new_note RENAME TO note;
            \(end)
            """,
            """
            CREATE TEMP TABLE waiting AS SELECT * FROM note;
            DROP TABLE note;
            CREATE TABLE note\(definition);
            INSERT INTO note(id, book, day, text) SELECT id, book, day, text FROM waiting;
            DROP TABLE waiting;
            \(end)
            """,
        ] { #expect(try ReviewedMigrations(sql, after: Self.note).findings == []) }
    }

    /// Rebuilds a table `t` with a row id as `id`.
    private static func rebuild(_ definition: String, copying columns: String) -> String {
        """
        CREATE TABLE u\(definition);
        INSERT INTO u(\(columns)) SELECT \(columns) FROM t;
        DROP TABLE t;
        ALTER TABLE u RENAME TO t;
        """
    }

    @Test(
        "finds a lost property of a column or a table",
        arguments: [
            ("(id INTEGER PRIMARY KEY, a CHECK (a > 0))", "(id INTEGER PRIMARY KEY, a)", "1 lost-check"),
            ("(id INTEGER PRIMARY KEY, a UNIQUE)", "(id INTEGER PRIMARY KEY, a)", "1 lost-unique"),
            ("(id TEXT PRIMARY KEY, a)", "(id TEXT, a)", "1 lost-primary-key"),
            ("(id INTEGER PRIMARY KEY, a DEFAULT 5)", "(id INTEGER PRIMARY KEY, a)", "1 lost-default"),
            (
                "(id INTEGER PRIMARY KEY, a TEXT COLLATE NOCASE)", "(id INTEGER PRIMARY KEY, a TEXT)",
                "1 lost-collation"
            ),
            ("(id INTEGER PRIMARY KEY, a TEXT) STRICT", "(id INTEGER PRIMARY KEY, a TEXT)", "1 lost-strict"),
            (
                "(id TEXT PRIMARY KEY NOT NULL, a) WITHOUT ROWID", "(id TEXT PRIMARY KEY NOT NULL, a)",
                "1 lost-without-rowid"
            ),
            (
                "(id INTEGER PRIMARY KEY AUTOINCREMENT, a)", "(id INTEGER PRIMARY KEY, a)",
                "1 lost-autoincrement"
            ),
            (
                "(id INTEGER PRIMARY KEY AUTOINCREMENT, a)", "(id INTEGER PRIMARY KEY AUTOINCREMENT, a, b)",
                "3 lost-sequence"
            ),
            (
                "(id INTEGER PRIMARY KEY, a, b AS (a + 1))", "(id INTEGER PRIMARY KEY, a, b)",
                "1 lost-generated-column"
            ),
            ("(id INTEGER PRIMARY KEY, a, b)", "(id INTEGER PRIMARY KEY, a)", "1 drop-column"),
            (
                "(id INTEGER PRIMARY KEY, a REFERENCES t(id) ON DELETE SET NULL); CREATE INDEX i ON t(a)",
                "(id INTEGER PRIMARY KEY, a REFERENCES t(id), b); CREATE INDEX i2 ON u(a)",
                "1 lost-foreign-key"
            ),
        ])
    func lost(old: String, new: String, finding: String) throws {
        let sql = Self.rebuild(new, copying: "id, a")
        let reviewed = try ReviewedMigrations(sql, after: "CREATE TABLE t\(old)")
        #expect(reviewed.rules == [finding], "\(reviewed.findings)")
        // The comment stands above the statement.
        let rule = finding.split(separator: " ")[1]
        let lines = sql.split(separator: "\n").map { line in "-- allow: \(rule)\n\(line)" }
        #expect(
            try ReviewedMigrations(lines.joined(separator: "\n"), after: "CREATE TABLE t\(old)").findings
                == [])
    }

    @Test(
        "takes a constraint that changes for intended",
        arguments: [
            ("(id INTEGER PRIMARY KEY, a CHECK (a > 0))", "(id INTEGER PRIMARY KEY, a CHECK (a >= 0))"),
            ("(id INTEGER PRIMARY KEY, a DEFAULT 5)", "(id INTEGER PRIMARY KEY, a DEFAULT 6)"),
            ("(id INTEGER PRIMARY KEY, a UNIQUE)", "(id INTEGER, a TEXT PRIMARY KEY)"),
            ("(id INTEGER PRIMARY KEY NOT NULL, a)", "(id INTEGER PRIMARY KEY, a)"),
            ("(id INTEGER PRIMARY KEY, a, b AS (a + 1))", "(id INTEGER PRIMARY KEY, a)"),
        ])
    func changed(old: String, new: String) throws {
        let reviewed = try ReviewedMigrations(
            Self.rebuild(new, copying: "id, a"), after: "CREATE TABLE t\(old)")
        #expect(
            reviewed.rules.filter { !$0.hasSuffix("lost-generated-column") } == [], "\(reviewed.findings)")
    }

    @Test("reports nothing that a statement says plainly")
    func plain() throws {
        let reviewed = try ReviewedMigrations(
            """
            DROP INDEX note_day;
            DROP TRIGGER note_added;
            """, after: Self.note)
        #expect(reviewed.findings == [])
        let rebuilt = try ReviewedMigrations(
            """
            DROP INDEX note_day;
            DROP TRIGGER note_added;
            CREATE TABLE new_note(
                id INTEGER PRIMARY KEY, book INTEGER NOT NULL REFERENCES book(id) ON DELETE CASCADE, day TEXT NOT NULL
            );
            -- allow: delete-without-where
            DELETE FROM note;
            INSERT INTO new_note SELECT id, book, day || text FROM note;
            DROP TABLE note;
            ALTER TABLE new_note RENAME TO note;
            CREATE INDEX note_book ON note(book);
            """, after: Self.note)
        #expect(rebuilt.findings == [])
    }

    @Test("quotes names in its remedies where SQL needs it")
    func oddNames() throws {
        let reviewed = try ReviewedMigrations(
            """
            CREATE TABLE "new one"(id INTEGER PRIMARY KEY AUTOINCREMENT, "select" REFERENCES "o'ld"(id), "a b");
            INSERT INTO "new one" SELECT id, "select", "a b" FROM "o'ld";
            DROP TABLE "o'ld";
            ALTER TABLE "new one" RENAME TO "o'ld";
            """,
            after: """
                CREATE TABLE "o'ld"(
                    id INTEGER PRIMARY KEY AUTOINCREMENT, "select" REFERENCES "o'ld"(id), "a b", UNIQUE ("a b", "select")
                )
                """)
        let remedies = [
            #"Declare UNIQUE ("a b", "select") in the new table."#,
            """
            Before DROP TABLE, add DELETE FROM sqlite_sequence WHERE name = 'new one'; INSERT INTO \
            sqlite_sequence(name, seq) SELECT 'new one', seq FROM sqlite_sequence WHERE name = 'o''ld';
            """,
        ]
        for remedy in remedies {
            #expect(reviewed.findings.contains { $0.contains(remedy) }, "\(reviewed.findings)")
        }
    }

    @Test("copies a sequence as the finding says, and loses nothing")
    func sequence() throws {
        let reviewed = try ReviewedMigrations(
            """
            CREATE TABLE u(id INTEGER PRIMARY KEY AUTOINCREMENT, a, b);
            INSERT INTO u(id, a) SELECT id, a FROM t;
            DELETE FROM sqlite_sequence WHERE name = 'u';
            INSERT INTO sqlite_sequence(name, seq) SELECT 'u', seq FROM sqlite_sequence WHERE name = 't';
            DROP TABLE t;
            ALTER TABLE u RENAME TO t;
            """, after: "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a)")
        #expect(reviewed.findings == [])
    }

    @Test("finds rows that are not copied")
    func rows() throws {
        let first = "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT)"
        for copy in [
            "INSERT OR IGNORE INTO u SELECT id, a FROM t",
            "INSERT INTO u SELECT id, a FROM t WHERE a IS NOT NULL",
        ] {
            let reviewed = try ReviewedMigrations(
                """
                CREATE TABLE u(id INTEGER PRIMARY KEY, a TEXT NOT NULL UNIQUE ON CONFLICT REPLACE);
                \(copy);
                DROP TABLE t;
                ALTER TABLE u RENAME TO t;
                """, after: first)
            #expect(reviewed.rules == ["2 lost-rows"])
            let reason = try #require(reviewed.review.findings.first?.reason)
            #expect(reason.hasPrefix("Rebuilding table `t` loses rows: of 8 generated rows, it keeps "))
        }
    }

    @Test("finds a full-text index whose table gets other row ids, of which no column is a name")
    func hiddenRowIDs() throws {
        let trigger =
            "CREATE TRIGGER a AFTER INSERT ON t BEGIN INSERT INTO search(rowid, b) VALUES (new.rowid, new.b); END;"
        let first = """
            CREATE TABLE t(k TEXT PRIMARY KEY, b TEXT); CREATE VIRTUAL TABLE search USING fts5(b, content='t');
            \(trigger)
            """
        let sql = """
            CREATE TABLE u(k TEXT PRIMARY KEY, b TEXT, c TEXT); INSERT INTO u(k, b) SELECT k, b FROM t; DROP TABLE t;
            ALTER TABLE u RENAME TO t; \(trigger)
            """
        #expect(try ReviewedMigrations(sql, after: first).rules == ["1 stale-full-text"])
        let again = "\(sql) INSERT INTO search(search) VALUES ('rebuild');"
        #expect(try ReviewedMigrations(again, after: first).rules == [])
        let same = sql.replacingOccurrences(of: "u(k, b) SELECT k", with: "u(rowid, k, b) SELECT rowid, k")
        #expect(try ReviewedMigrations(same, after: first).rules == [])
    }

    @Test("finds a full-text index that no longer matches, and the triggers that kept it")
    func fullText() throws {
        let first = """
            CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT);
            CREATE VIRTUAL TABLE search USING fts5(a, content='t', content_rowid='id');
            CREATE TRIGGER t_added AFTER INSERT ON t BEGIN INSERT INTO search(rowid, a) VALUES (new.id, new.a); END;
            """
        let sql = """
            CREATE TABLE u(id INTEGER PRIMARY KEY, a TEXT, b);
            INSERT INTO u(id, a) SELECT id, 'note ' || a FROM t;
            DROP TABLE t;
            ALTER TABLE u RENAME TO t;
            """
        let reviewed = try ReviewedMigrations(sql, after: first)
        #expect(reviewed.rules == ["3 lost-trigger", "3 stale-full-text"])
        #expect(
            reviewed.findings.last == """
                2_b.sql:3: Full-text table `search` no longer matches table `t`. Add INSERT INTO search(search) VALUES \
                ('rebuild'). [stale-full-text]
                """)
        let trigger =
            "CREATE TRIGGER t_added AFTER INSERT ON t BEGIN INSERT INTO search(rowid, a) VALUES (new.id, new.a); END;"
        let fixed = "\(sql)\n\(trigger)\nINSERT INTO search(search) VALUES ('rebuild');"
        #expect(try ReviewedMigrations(fixed, after: first).findings == [])
        let new = "CREATE VIRTUAL TABLE other USING fts5(a, content='t', content_rowid='id');"
        #expect(try ReviewedMigrations(new, after: first).rules == ["1 stale-full-text"])
    }

    @Test(
        "proposes constraints and defaults that SQLite accepts",
        arguments: [
            "CHECK (a >= 0 AND a <> 9)", "CHECK (a->>'$.k' IS NOT NULL OR a || 'x' == x'00')",
            "CHECK (\"b c\" LIKE 'x%')", "DEFAULT -5", "DEFAULT 'it''s'", "DEFAULT CURRENT_TIMESTAMP",
            "DEFAULT (lower(hex(randomblob(16))))", "DEFAULT (1 + 2)",
        ])
    func remedies(constraint: String) throws {
        func table(_ name: String, _ constraint: String) -> String {
            "CREATE TABLE \(name)(id INTEGER PRIMARY KEY, \"b c\" TEXT, a TEXT \(constraint));"
        }
        func findings(_ column: String) throws -> [String] {
            let sql = """
                \(table("u", column))
                INSERT INTO u(id, "b c", a) SELECT id, "b c", a FROM t;
                DROP TABLE t;
                ALTER TABLE u RENAME TO t;
                """
            return try ReviewedMigrations(sql, after: table("t", constraint)).findings
        }
        let finding = try #require(findings("").first)
        let remedy = try #require(
            finding.firstMatch(of: #/(?:Declare|with) ((?:CHECK|DEFAULT) .*) in the new table\./#)
        ).output.1
        #expect(remedy == constraint)
        #expect(try findings("\(remedy), more TEXT") == [])
    }

    @Test("finds nothing in a full-text index of another table that is dropped, or made again and filled")
    func fullTextMadeAgain() throws {
        let first = """
            CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b TEXT);
            CREATE VIRTUAL TABLE search USING fts5(a, content='t', content_rowid='id');
            """
        let again =
            "DROP TABLE search;\nCREATE VIRTUAL TABLE search USING fts5(a, b, content='t', content_rowid='id');"
        for filling in ["(search) VALUES ('rebuild')", "(rowid, a, b) SELECT id, a, b FROM t"] {
            let filled = "\(again)\nINSERT INTO search\(filling);"
            #expect(try ReviewedMigrations(filled, after: first).findings == [])
        }
        #expect(try ReviewedMigrations("DROP TABLE search;", after: first).findings == [])
        #expect(try ReviewedMigrations(again, after: first).rules == ["2 stale-full-text"])
        let own = """
            CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b TEXT); CREATE VIRTUAL TABLE search USING fts5(a);
            CREATE TRIGGER fill AFTER INSERT ON t BEGIN INSERT INTO search(rowid, a) VALUES (new.id, new.a); END;
            """
        let drop = "DROP TRIGGER fill; DROP TABLE search;"
        #expect(try ReviewedMigrations(drop, after: own).rules == ["1 drop-table"])
        let moved = "DROP TRIGGER fill; \(again)\nINSERT INTO search(search) VALUES ('rebuild');"
        #expect(try ReviewedMigrations(moved, after: own).findings == [])
    }

    @Test("finds a full-text index that the app fills, and that no longer matches its table")
    func fullTextWithoutTriggers() throws {
        let first = """
            CREATE TABLE t(name TEXT PRIMARY KEY, a TEXT);
            CREATE VIRTUAL TABLE search USING fts5(a, content='t');
            """
        let rebuild = """
            CREATE TABLE u(name TEXT PRIMARY KEY, a TEXT, b TEXT);
            INSERT INTO u(name, a) SELECT name, a FROM t;
            DROP TABLE t;
            ALTER TABLE u RENAME TO t;
            """
        let (update, filling) = (
            "UPDATE t SET a = a || '.x';", "INSERT INTO search(search) VALUES ('rebuild');"
        )
        #expect(try ReviewedMigrations(update, after: first).rules == ["1 stale-full-text"])
        #expect(try ReviewedMigrations(rebuild, after: first).rules == ["3 stale-full-text"])
        for sql in [update, rebuild] {
            #expect(try ReviewedMigrations("\(sql)\n\(filling)", after: first).findings == [])
        }
        #expect(try ReviewedMigrations("ALTER TABLE t ADD COLUMN b TEXT;", after: first).findings == [])
    }

    @Test(
        "finds a change of type that loses values, and none that keeps them apart",
        arguments: [
            ("a TEXT", "a INTEGER", "a", "'007' and '7' both become 7."),
            ("a REAL", "a INTEGER", "CAST(a AS INTEGER)", "0.25 and 0.5 both become 0."),
            (
                "a INTEGER", "a REAL", "a",
                "9007199254740992 and 9007199254740993 both become 9007199254740992.0."
            ),
            (
                "a INTEGER", "a TEXT", "a",
                "1700000000.123456 and 1700000000.123457 both become '1700000000.12346'."
            ),
            ("a DATETIME", "a INTEGER", "unixepoch(a)", nil),
            ("a", "a INTEGER", "a", "'007' and '7' both become 7."),
        ] as [(String, String, String, String?)])
    func types(old: String, new: String, value: String, loss: String?) throws {
        let finding: (String) -> String =
            value.contains("(")
            ? {
                "2_b.sql:2: Column `a` of table `t` loses values: \($0) Copy the values first, or change only those that are meant. [changed-values]"
            }
            : {
                "2_b.sql:1: Column `a` of table `t` changes its type: \($0) Convert the values explicitly, or keep the type. [changed-values]"
            }
        let reviewed = try ReviewedMigrations(
            """
            CREATE TABLE u(id INTEGER PRIMARY KEY, \(new));
            INSERT INTO u SELECT id, \(value) FROM t;
            DROP TABLE t;
            ALTER TABLE u RENAME TO t;
            """, after: "CREATE TABLE t(id INTEGER PRIMARY KEY, \(old))")
        // Newer versions of SQLite write all digits of a double.
        let isKept = try DatabaseQueue().read { db in
            try Bool.fetchOne(
                db, sql: "SELECT CAST(1700000000.123456 AS TEXT) <> CAST(1700000000.123457 AS TEXT)")
        }
        let losses = isKept == true && new == "a TEXT" ? [] : loss.map { [finding($0)] } ?? []
        #expect(reviewed.findings == losses)
    }
}
