import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

/// Kinds of tables, constraints and rows.
@Suite("Kinds of tables and rows that are redefined", .timed)
struct RedefinitionKindsTests {
    @Test("lose constraints")
    func dropped() throws {
        let table = try RedefinedTable(
            """
            CREATE TABLE p(id INTEGER PRIMARY KEY);
            CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT NOT NULL DEFAULT 'x' CHECK (a <> ''), p REFERENCES p(id));
            INSERT INTO t VALUES (1, 'a', NULL);
            """)
        #expect(try table.redefine("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, p)") == .edited)
        #expect(
            try table.message(
                of: "INSERT INTO t VALUES (2, NULL, 7), (3, '', 8); INSERT INTO t(id) VALUES (4)") == nil)
        #expect(try table.rows() == [#"1, "a", NULL"#, "2, NULL, 7", #"3, "", 8"#, "4, NULL, NULL"])
    }

    @Test("take another ON CONFLICT of UNIQUE and of the key")
    func conflicts() throws {
        let table = try RedefinedTable(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a UNIQUE); INSERT INTO t VALUES (1, 'a'), (2, 'b')")
        try table.redefine(
            "CREATE TABLE t(id INTEGER PRIMARY KEY ON CONFLICT IGNORE, a UNIQUE ON CONFLICT REPLACE)")
        try table.database.execute("INSERT INTO t VALUES (1, 'c'); INSERT INTO t VALUES (3, 'b')")
        #expect(try table.rows() == [#"1, "a""#, #"3, "b""#])
        try table.expectIntact()
    }

    @Test("take another type of the same affinity")
    func types() throws {
        let table = try RedefinedTable("CREATE TABLE t(a VARCHAR(10)); INSERT INTO t VALUES (5)")
        #expect(try table.redefine("CREATE TABLE t(a TEXT NOT NULL)") == .edited)
        #expect(try table.rows() == [#""5""#])
    }

    @Test("store the text that SQLite would, under the name as it is")
    func text() throws {
        let table = try RedefinedTable("CREATE TABLE Photo(a)")
        try table.redefine(
            "/* new */ CREATE  TABLE IF NOT EXISTS main.[photo] ( a  NOT NULL /* why */ ) ; ", table: "PHOTO")
        #expect(
            try table.database.strings("SELECT sql FROM sqlite_master")
                == [#"CREATE TABLE "Photo" ( a  NOT NULL /* why */ )"#])
        #expect(
            try table.database.strings(
                "SELECT name FROM pragma_table_list WHERE schema = 'main' AND name LIKE 'p%'") == ["Photo"])
    }

    @Test(
        "refer to a row id as SQLite's own check sees it",
        arguments: ["INTEGER", "TEXT", "REAL", "NUMERIC", "BLOB", ""])
    func rowIDs(type: String) throws {
        let values = [
            "1", "'1'", "1.0", "'1.0'", "' 1'", "'1e0'", "x'31'", "1.5", "'a'", "''", "2", "NULL",
            "9007199254740993",
            "9007199254740992.0", "9223372036854775807", "9223372036854775808", "'9223372036854775807'",
        ]
        for value in values {
            let (old, new) = (
                "CREATE TABLE t(a \(type))",
                "CREATE TABLE t(a \(type) NOT NULL ON CONFLICT FAIL REFERENCES p)"
            )
            let rows = """
                CREATE TABLE p(id INTEGER PRIMARY KEY);
                INSERT INTO p VALUES (1), (9007199254740992), (9223372036854775807);
                INSERT INTO t SELECT \(value) WHERE \(value) IS NOT NULL;
                """
            let table = try RedefinedTable("\(old); \(rows)")
            let plain = try RedefinedTable("PRAGMA foreign_keys = OFF; \(new); \(rows)")
            let isOrphan = try !plain.database.strings("SELECT 1 FROM pragma_foreign_key_check").isEmpty
            let result = Result { try table.redefine(new) }
            #expect(
                isOrphan ? (try? result.get()) == nil : (try? result.get()) == .edited, "\(value) in \(type)")
        }
    }

    @Test("have odd names")
    func oddNames() throws {
        let table = try RedefinedTable(
            #"CREATE TABLE "a ""b'"("x "" y" TEXT, "check" INT); INSERT INTO "a ""b'" VALUES (NULL, 1), ('a', -1)"#
        )
        #expect(
            try table.refusal(
                of: #"CREATE TABLE "a ""b'"("x "" y" TEXT NOT NULL, "check" INT CHECK ("check" > 0))"#,
                table: #"a "b'"#, afterWriting: true) == #"""
                    The rows of table a "b' break its new definition: column x " y is NULL in 1 row (rowid: 1); CHECK \#
                    ("check" > 0) fails in 1 row (rowid: 2). Correct these rows first, in the same transaction.
                    """#)
        try table.database.execute(#"DELETE FROM "a ""b'""#)
        #expect(
            try table.redefine(#"CREATE TABLE [a "b'](`x " y` TEXT NOT NULL, "check" INT)"#, table: #"a "b'"#)
                == .edited)
    }

    @Test("have keys of several columns, which errors name")
    func keys() throws {
        let table = try RedefinedTable(
            """
            CREATE TABLE p(id INTEGER PRIMARY KEY);
            CREATE TABLE t(a, b, c, PRIMARY KEY (a, b)) WITHOUT ROWID; INSERT INTO t VALUES (1, 2, NULL), (1, 3, 7);
            """)
        #expect(
            try table.refusal(
                of: "CREATE TABLE t(a, b, c NOT NULL, PRIMARY KEY (a, b)) WITHOUT ROWID", afterWriting: true)
                    == """
                    The rows of table t break its new definition: column c is NULL in 1 row (a, b: (1, 2)). Correct the row \
                    first, in the same transaction.
                    """)
        #expect(
            try table.refusal(
                of: "CREATE TABLE t(a, b, c REFERENCES p, PRIMARY KEY (a, b)) WITHOUT ROWID",
                afterWriting: true)
                    == """
                    The rows of table t break its new definition: foreign key c → p refers to no row in 1 row (a, b: (1, 3)). \
                    Correct the row first, in the same transaction.
                    """)
    }

    @Test(
        "keep what their short rows showed",
        arguments: [
            ("b TEXT DEFAULT 'old'", "b TEXT"), ("b", "b DEFAULT 5"),
            ("b INT DEFAULT '7'", "b INT DEFAULT (1 + 1)"),
            ("b REAL DEFAULT 1", "b REAL DEFAULT 2 CHECK (b IS 1)"),
            ("b DEFAULT x'00'", "b DEFAULT CURRENT_TIME"),
            ("b DEFAULT word", "b DEFAULT \"other\""), ("b DEFAULT -1.5e-3 /* why */", "b DEFAULT +2"),
            ("b TEXT NOT NULL DEFAULT 'old'", "b TEXT NOT NULL DEFAULT 'new'"),
            ("b INT DEFAULT 1 REFERENCES p(id) ON DELETE SET DEFAULT", "b INT DEFAULT 2"),
        ])
    func shortRows(_ before: String, _ after: String) throws {
        for key in [
            "id INTEGER PRIMARY KEY", "id TEXT PRIMARY KEY", "id, rowid, oid, _rowid_",
            "id PRIMARY KEY) WITHOUT ROWID",
        ] {
            let parts = key.split(separator: ")")
            let (columns, options) = (parts[0], parts.count > 1 ? String(parts[1]) : "")
            let table = try RedefinedTable(
                """
                PRAGMA foreign_keys = 0; CREATE TABLE p(id INTEGER PRIMARY KEY);
                CREATE TABLE t(\(columns))\(options); INSERT INTO t(id) VALUES (1), (2), (3);
                ALTER TABLE t ADD COLUMN \(before); INSERT INTO t(id, b) VALUES (4, 'own');
                CREATE INDEX t_b ON t(b); ALTER TABLE t ADD COLUMN c AS (b || 'x'); ALTER TABLE t ADD COLUMN d DEFAULT 1;
                """)
            let check = after.contains("CHECK")
            if check { try table.database.execute("DELETE FROM t WHERE id = 4") }
            let rows = try table.rows("SELECT *, typeof(b) FROM t ORDER BY id")
            #expect(
                try table.redefine(
                    "CREATE TABLE t(\(columns), \(after), c AS (b || 'x'), d DEFAULT 2)\(options)")
                    == .edited)
            #expect(try table.rows("SELECT *, typeof(b) FROM t ORDER BY id") == rows)
            try table.expectIntact()
        }
    }

    @Test(
        "keep what an index holds of short rows in a WITHOUT ROWID table",
        arguments: [
            ("DEFAULT 1", "1"), ("REAL DEFAULT 9223372036854775807", "9.223372036854776e+18"),
            ("TEXT DEFAULT TRUE", "\"1\""),
        ])
    func indexedShortRows(column: String, value: String) throws {
        let table = try RedefinedTable(
            """
            CREATE TABLE t(id PRIMARY KEY) WITHOUT ROWID; INSERT INTO t VALUES (1), (2);
            ALTER TABLE t ADD COLUMN b \(column); CREATE INDEX t_b ON t(b);
            """)
        let type = column.prefix { $0 != " " }.replacing("DEFAULT", with: "")
        try table.redefine("CREATE TABLE t(id PRIMARY KEY, b \(type) NOT NULL DEFAULT 2) WITHOUT ROWID")
        #expect(try table.rows("SELECT id, b FROM t ORDER BY id") == ["1, \(value)", "2, \(value)"])
        try table.expectIntact()
    }

    @Test("have an index that holds what short rows show, though TRUE is a number in a column of texts")
    func indexOfTruth() throws {
        let table = try RedefinedTable(
            """
            CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1), (2);
            ALTER TABLE t ADD COLUMN b TEXT DEFAULT true; ALTER TABLE t ADD COLUMN c DEFAULT 1; CREATE INDEX t_b ON t(b);
            """)
        try table.redefine("CREATE TABLE t(id INTEGER PRIMARY KEY, b TEXT DEFAULT true, c DEFAULT 2)")
        #expect(try table.rows("SELECT id, c FROM t ORDER BY id") == ["1, 1", "2, 1"])
        try table.expectIntact()
    }

    @Test("have only rows written that have no value of their own")
    func fullRows() throws {
        let table = try RedefinedTable(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a DEFAULT 1); INSERT INTO t(id) VALUES (1), (2)")
        let before = table.database.inDatabase { $0.totalChangesCount }
        try table.redefine("CREATE TABLE t(id INTEGER PRIMARY KEY, a DEFAULT 2)")
        // The text, twice: once to look for such rows.
        let after = table.database.inDatabase { $0.totalChangesCount }
        #expect(after == before + 2)
    }

    @Test("break NOT NULL with a short row that shows NULL, whatever the default")
    func shortNull() throws {
        let table = try RedefinedTable(
            "CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1); ALTER TABLE t ADD COLUMN b")
        #expect(
            try table.refusal(
                of: "CREATE TABLE t(id INTEGER PRIMARY KEY, b NOT NULL DEFAULT 'x')", afterWriting: true
            ).hasPrefix(
                "The rows of table t break its new definition: column b is NULL in 1 row (id: 1)."))
    }

    @Test("may have old findings, which stop nothing and hide nothing", arguments: [true, false])
    func oldFindings(canEdit: Bool) throws {
        let table = try RedefinedTable(
            """
            CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE t(a CHECK (a > 0), b, p REFERENCES p(id));
            PRAGMA foreign_keys = 0; PRAGMA ignore_check_constraints = 1;
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
            INSERT INTO t SELECT -i, i, i FROM n;
            PRAGMA ignore_check_constraints = 0; PRAGMA foreign_keys = 1;
            """)
        #expect(
            try table.redefine(
                "CREATE TABLE t(a CHECK (a > 0), b NOT NULL, p REFERENCES p(id) ON DELETE CASCADE)",
                editing: canEdit) == (canEdit ? .edited : .rebuilt))
        try table.database.execute("UPDATE t SET p = NULL; PRAGMA ignore_check_constraints = 1")
        #expect(
            try table.refusal(
                of: "CREATE TABLE t(a CHECK (a > 0), b NOT NULL CHECK (b < 200), p)", afterWriting: true
            ).hasPrefix(
                "The rows of table t break its new definition: CHECK (b < 200) fails in 1 row (rowid: 200)."))
    }

    @Test("use functions and collations of the app")
    func functions() throws {
        let table = try RedefinedTable("SELECT 1")
        try table.database.write { db in
            db.add(
                function: DatabaseFunction("short", argumentCount: 1, pure: true) {
                    ($0[0].storage.value as? String)?.count ?? 0 < 3
                })
            db.add(collation: DatabaseCollation("backwards") { $1.compare($0) })
            try db.execute(
                sql: "CREATE TABLE t(a TEXT COLLATE backwards UNIQUE); INSERT INTO t VALUES ('a'), ('bcd')")
        }
        #expect(
            try table.refusal(
                of: "CREATE TABLE t(a TEXT COLLATE backwards UNIQUE CHECK (short(a)))", afterWriting: true
            )
            .hasPrefix(
                "The rows of table t break its new definition: CHECK (short(a)) fails in 1 row (rowid: 2)."
            ))
        try table.database.execute("DELETE FROM t WHERE a = 'bcd'")
        try table.redefine("CREATE TABLE t(a TEXT COLLATE backwards UNIQUE CHECK (short(a)))")
        #expect(try table.message(of: "INSERT INTO t VALUES ('long')") == "CHECK constraint failed: short(a)")
    }

    @Test("feed a full text index before and after in one transaction")
    func fullText() throws {
        let table = try RedefinedTable(
            """
            CREATE TABLE t(id INTEGER PRIMARY KEY, a); CREATE VIRTUAL TABLE f USING fts5(a, content='t', content_rowid='id');
            CREATE TRIGGER t_insert AFTER INSERT ON t BEGIN INSERT INTO f(rowid, a) VALUES (NEW.id, NEW.a); END;
            INSERT INTO t VALUES (1, 'first');
            """)
        try table.database.write { db in
            try db.execute(sql: "INSERT INTO t VALUES (2, 'second word')")
            try db.redefine(table: "t", as: "CREATE TABLE t(id INTEGER PRIMARY KEY, a NOT NULL)")
            try db.execute(sql: "INSERT INTO t VALUES (3, 'third word')")
        }
        #expect(try table.database.integers("SELECT rowid FROM f('word') ORDER BY 1") == [2, 3])
        try table.database.execute("INSERT INTO f(f) VALUES ('integrity-check')")
        try table.expectIntact()
    }

    @Test("have children, and refer to themselves")
    func children() throws {
        let table = try RedefinedTable(
            """
            CREATE TABLE t(id INTEGER PRIMARY KEY, parent, UNIQUE (parent, id)); INSERT INTO t VALUES (1, NULL), (2, 1);
            CREATE TABLE child(t REFERENCES t(id) ON DELETE CASCADE); INSERT INTO child VALUES (1), (2);
            """)
        try table.redefine(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, parent REFERENCES t(id) ON DELETE CASCADE, UNIQUE (parent, id))"
        )
        try table.database.execute("DELETE FROM t WHERE id = 1")
        #expect(try table.rows() == [])
        #expect(try table.rows("SELECT * FROM child") == [])
    }

    @Test("keep row ids, counters, indexes and children through a rebuild")
    func rebuild() throws {
        let table = try RedefinedTable(
            """
            CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a, g AS (a + 1)); INSERT INTO t VALUES (5, 1), (9, 2);
            CREATE TABLE child(t REFERENCES t(id) ON DELETE CASCADE); INSERT INTO child VALUES (5);
            CREATE TABLE u(a); INSERT INTO u(rowid, a) VALUES (7, 1);
            CREATE INDEX t_a ON t(a); CREATE TRIGGER t_delete AFTER DELETE ON t BEGIN DELETE FROM u; END;
            DELETE FROM t WHERE id = 9; INSERT INTO u(rowid, a) VALUES (7, 1);
            """)
        let definition = "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a NOT NULL, g AS (a + 1))"
        #expect(try table.redefine(definition, editing: false) == .rebuilt)
        #expect(try table.redefine("CREATE TABLE u(a NOT NULL)", table: "u", editing: false) == .rebuilt)
        #expect(try table.rows("SELECT rowid FROM u") == ["7"])
        try table.database.execute("INSERT INTO t(a) VALUES (3)")
        #expect(try table.rows() == ["5, 1, 2", "10, 3, 4"])
        try table.database.execute("DELETE FROM t WHERE id = 5")
        #expect(try table.rows("SELECT count(*) FROM child") == ["0"])
        #expect(try table.rows("SELECT count(*) FROM u") == ["0"])
        #expect(try table.database.strings("SELECT name FROM sqlite_master WHERE type = 'index'") == ["t_a"])
        try table.expectIntact()
    }
}
