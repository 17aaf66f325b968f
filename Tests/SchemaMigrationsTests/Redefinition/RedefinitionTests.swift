import GRDB
import SchemaMigrations
import TestTraits
import Testing

/// What a table's new definition may change.
@Suite("A new definition", .timed)
struct RedefinitionTests {
    private static let setUp = """
        CREATE TABLE album(id INTEGER PRIMARY KEY);
        INSERT INTO album VALUES (1), (2);
        CREATE TABLE t(id INTEGER PRIMARY KEY, title TEXT, album INTEGER);
        CREATE INDEX t_title ON t(title);
        CREATE TABLE log(text);
        CREATE TRIGGER t_insert AFTER INSERT ON t BEGIN INSERT INTO log VALUES (NEW.title); END;
        CREATE VIEW titles AS SELECT title FROM t;
        INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2);
        """
    private static let definition = """
        CREATE TABLE t(id INTEGER PRIMARY KEY, title TEXT NOT NULL CHECK (length(title) > 0),
        album INTEGER REFERENCES album(id) ON DELETE CASCADE)
        """

    @Test("adds NOT NULL, CHECK and a foreign key, which hold from then on")
    func hold() throws {
        let table = try RedefinedTable(Self.setUp)
        #expect(try table.redefine(Self.definition) == .edited)
        #expect(
            try table.message(of: "INSERT INTO t VALUES (3, NULL, 1)")
                == "NOT NULL constraint failed: t.title")
        #expect(
            try table.message(of: "INSERT INTO t VALUES (3, '', 1)")
                == "CHECK constraint failed: length(title) > 0")
        #expect(try table.message(of: "INSERT INTO t VALUES (3, 'c', 9)") == "FOREIGN KEY constraint failed")
        try table.database.execute("DELETE FROM album WHERE id = 2; INSERT INTO t VALUES (3, 'c', 1)")
        #expect(try table.rows() == ["1, \"a\", 1", "3, \"c\", 1"])
        #expect(try table.rows("SELECT * FROM titles") == ["\"a\"", "\"c\""])
        #expect(try table.rows("SELECT * FROM log").last == "\"c\"")
        #expect(try table.redefine(Self.definition) == .unchanged)
        try table.expectIntact()
    }

    @Test("names the rows that break it, and changes nothing")
    func broken() throws {
        let table = try RedefinedTable(
            Self.setUp
                + "INSERT INTO t VALUES (4, NULL, 1), (5, NULL, 1), (6, '', 1), (7, NULL, 2), (8, NULL, 2)")
        #expect(
            try table.refusal(of: Self.definition, afterWriting: true) == """
                The rows of table t break its new definition: column title is NULL in 4 rows (id: 4, 5, 7); CHECK \
                (length(title) > 0) fails in 1 row (id: 6). Correct these rows first, in the same transaction.
                """)
    }

    @Test("names the rows that refer to nothing, and changes nothing")
    func orphans() throws {
        let table = try RedefinedTable(Self.setUp + "INSERT INTO t VALUES (4, 'd', 9)")
        #expect(
            try table.refusal(of: Self.definition, afterWriting: true) == """
                The rows of table t break its new definition: foreign key album → album(id) refers to no row in 1 row \
                (id: 4). Correct the row first, in the same transaction.
                """)
    }

    @Test(
        "names the table if SQLite cannot check a condition, as when a query may ask for the time",
        arguments: [
            ("a < date('now')", "non-deterministic use of date() in a CHECK constraint"),
            ("a < \"strftime\"('%s', 'now')", "non-deterministic use of strftime() in a CHECK constraint"),
            ("a <> 'b' AND json_extract(a, '$') > 0", "malformed JSON"),
        ])
    func unanswered(condition: String, problem: String) throws {
        let table = try RedefinedTable("CREATE TABLE t(a); INSERT INTO t VALUES ('b'), ('{')")
        #expect(
            try table.refusal(of: "CREATE TABLE t(a CHECK (\(condition)))", afterWriting: true) == """
                SQLite cannot check the rows of table t under its new definition: \(problem). Correct the condition of the \
                CHECK, or the rows for which SQLite cannot check it. Nothing was changed.
                """)
        #expect(try table.redefine("CREATE TABLE t(a CHECK (date(a) IS NULL))") == .edited)
    }

    @Test("keeps the value that a short row showed")
    func shortRow() throws {
        let table = try RedefinedTable(
            """
            CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1), (2);
            ALTER TABLE t ADD COLUMN kind TEXT DEFAULT 'old'; INSERT INTO t VALUES (3, 'old'), (4, 'x');
            CREATE INDEX t_kind ON t(kind);
            CREATE TRIGGER t_update AFTER UPDATE ON t BEGIN SELECT raise(ABORT, 'fired'); END;
            """)
        try table.redefine("CREATE TABLE t(id INTEGER PRIMARY KEY, kind TEXT DEFAULT 'new')")
        try table.database.execute("INSERT INTO t(id) VALUES (5)")
        #expect(try table.rows() == [#"1, "old""#, #"2, "old""#, #"3, "old""#, #"4, "x""#, #"5, "new""#])
        try table.expectIntact()
    }

    @Test("is refused if it is more than constraints")
    func more() throws {
        let table = try RedefinedTable("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b INT UNIQUE)")
        #expect(
            try table.refusal(of: "CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, b INT UNIQUE)") == """
                Table t would have another type in column a (TEXT, then INTEGER). That is more than a constraint: create \
                another table, copy the rows, drop this one and rename the other. Nothing was changed.
                """)
    }

    @Test("leads to a rebuild where SQLite refuses the edit")
    func rebuild() throws {
        let table = try RedefinedTable(Self.setUp)
        #expect(try table.redefine(Self.definition, editing: false) == .rebuilt)
        #expect(try table.message(of: "INSERT INTO t VALUES (3, 'c', 9)") == "FOREIGN KEY constraint failed")
        #expect(try table.rows() == ["1, \"a\", 1", "2, \"b\", 2"])
        #expect(try table.rows("SELECT * FROM titles") == ["\"a\"", "\"b\""])
        try table.expectIntact()
    }
}
