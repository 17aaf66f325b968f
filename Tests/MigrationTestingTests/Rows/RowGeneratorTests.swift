import GRDB
import MigrationTesting
import Testing

@Suite("Generated rows", .timed)
struct RowGeneratorTests {
    /// Fills a schema, and checks that SQLite finds nothing wrong with it.
    private func filled(
        _ schema: String, _ generator: RowGenerator = RowGenerator()
    ) throws -> (queue: DatabaseQueue, notes: [String]) {
        let queue = try DatabaseQueue()
        let notes = try queue.write { db in
            try db.execute(sql: schema)
            return try generator.fill(db)
        }
        try queue.read { db in
            try #expect(String.fetchAll(db, sql: "PRAGMA integrity_check") == ["ok"])
            try #expect(Row.fetchAll(db, sql: "PRAGMA foreign_key_check").isEmpty)
        }
        return (queue, notes)
    }

    private func count(_ table: String, _ queue: DatabaseQueue) throws -> Int? {
        try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") }
    }

    @Test(
        "fill a table",
        arguments: [
            "CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT NOT NULL, c BLOB NOT NULL, d REAL NOT NULL, e)",
            "CREATE TABLE t(a TEXT PRIMARY KEY, b TEXT UNIQUE NOT NULL, c INT UNIQUE) WITHOUT ROWID",
            "CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT NOT NULL, c BLOB, d ANY, e REAL NOT NULL) STRICT",
            "CREATE TABLE t(a DATE NOT NULL CHECK (a IS date(a)), b DATETIME NOT NULL CHECK (datetime(b) IS NOT NULL))",
            "CREATE TABLE t(a TEXT NOT NULL CHECK (a IN ('E', 'it''s')), b INT NOT NULL CHECK (b BETWEEN -7 AND -5))",
            "CREATE TABLE t(a TEXT NOT NULL CHECK (length(a) = 36), b TEXT NOT NULL CHECK (b LIKE '____-__'))",
            "CREATE TABLE t(\"a\" JSON NOT NULL CHECK (json_valid(\"a\")), [b] TEXT NOT NULL CHECK ([b] GLOB 'x[0-9]*'))",
            "CREATE TABLE t(a INT NOT NULL, b INT NOT NULL, CHECK (a > 5 AND b > 7), UNIQUE (a, b))",
            "CREATE TABLE t(a INT NOT NULL CHECK (typeof(a) = 'integer'), b AS (a + 1) STORED, c INT AS (a) VIRTUAL)",
            "CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, parent INT REFERENCES t(id) ON DELETE CASCADE)",
            "CREATE TABLE t(id INTEGER PRIMARY KEY, parent INT NOT NULL REFERENCES t(id))",
            "CREATE TABLE t(is_done INTEGER NOT NULL CHECK (is_done IN (0, 1)), \"select\" BOOLEAN NOT NULL)",
            "CREATE TABLE p(a TEXT, b INT, PRIMARY KEY (a, b)); CREATE TABLE t(x INT NOT NULL, y TEXT NOT NULL, "
                + "FOREIGN KEY (y, x) REFERENCES p(a, b))",
            "CREATE TABLE p(a TEXT NOT NULL UNIQUE); CREATE TABLE t(x TEXT NOT NULL UNIQUE REFERENCES p(a) "
                + "DEFERRABLE INITIALLY DEFERRED)",
            "CREATE TABLE t(x TEXT NOT NULL REFERENCES z); CREATE TABLE z(a TEXT PRIMARY KEY NOT NULL)",
        ])
    func fill(schema: String) throws {
        for seed in 1...5 as ClosedRange<UInt64> {
            let (queue, notes) = try filled(schema, RowGenerator(seed: seed))
            #expect(notes == [])
            #expect(try count("t", queue) == 20)
        }
    }

    @Test("fill a table that joins two others")
    func join() throws {
        let (queue, _) = try filled(
            """
            CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(id INTEGER PRIMARY KEY);
            CREATE TABLE ab(a INT NOT NULL REFERENCES a, b INT NOT NULL REFERENCES b, PRIMARY KEY (a, b));
            """, RowGenerator(rowsPerTable: 50))
        #expect(try count("ab", queue) == 50)
    }

    @Test("are as many as a table takes, and a note explains why there are none")
    func few() throws {
        let (queue, notes) = try filled(
            """
            CREATE TABLE one(id INTEGER PRIMARY KEY CHECK (id = 1), x TEXT);
            CREATE TABLE none(x CHECK (x * x = 2 AND x IS NOT NULL));
            CREATE TABLE a(id INTEGER PRIMARY KEY, b INT NOT NULL REFERENCES b(id));
            CREATE TABLE b(id INTEGER PRIMARY KEY, a INT NOT NULL REFERENCES a(id));
            CREATE TABLE lost(x REFERENCES nowhere(y));
            """)
        #expect(try count("one", queue) == 1)
        #expect(
            notes.sorted() == [
                "table `a` was given no rows: it refers to rows of a table that has none",
                "table `b` was given no rows: it refers to rows of a table that has none",
                "table `lost` was given no rows: no such table: main.nowhere",
                "table `none` was given no rows: CHECK constraint failed: x * x = 2 AND x IS NOT NULL",
            ])
    }

    @Test("are the same for the same seed, even beside other tables")
    func seed() throws {
        let table = "CREATE TABLE t(a TEXT, b INTEGER, c BLOB, d REAL, uuid TEXT);"
        func rows(_ schema: String, _ seed: UInt64) throws -> [Row] {
            let (queue, _) = try filled(schema, RowGenerator(seed: seed))
            return try queue.read { try Row.fetchAll($0, sql: "SELECT * FROM t") }
        }
        let first = try rows(table, 7)
        #expect(try rows("CREATE TABLE a(x);" + table, 7) == first)
        #expect(try rows(table, 8) != first)
    }

    @Test("are added to existing rows, and fire triggers")
    func more() throws {
        let (queue, _) = try filled(
            """
            CREATE TABLE t(id INTEGER PRIMARY KEY, x TEXT); INSERT INTO t VALUES (41, 'a');
            CREATE VIRTUAL TABLE found USING fts5(x, content='t', content_rowid='id');
            CREATE TRIGGER inserted AFTER INSERT ON t BEGIN
                INSERT INTO found(rowid, x) VALUES (new.id, new.x);
            END;
            """)
        #expect(try count("t", queue) == 21)
        #expect(try count("t WHERE id > 41", queue) == 20)
        #expect(try count("found WHERE found MATCH 'harbour OR ada OR 100'", queue) ?? 0 > 0)
    }
}
