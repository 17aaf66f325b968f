import AppMigrations
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("The check of views and triggers", .timed)
struct BrokenSchemaTests {
    let folder: TemporaryFolder
    let queue: DatabaseQueue

    private static let tables = """
        CREATE TABLE a(x, y, sum AS (x + y), stored AS (x * 2) STORED);
        CREATE TABLE b(x);
        CREATE VIEW v AS SELECT x FROM a;
        CREATE TRIGGER t AFTER UPDATE OF y ON a BEGIN INSERT INTO b VALUES (new.x); END;
        """

    private static let remedy = """
        Drop what uses the old names first, and create it again. It was rolled back. \
        Fix it and migrate again.
        """

    init() throws {
        folder = try TemporaryFolder()
        queue = try folder.queue()
    }

    @discardableResult
    private func migrate(_ files: [String: String]) throws -> SchemaReport {
        try folder.migrator(files.merging(["1_tables.sql": Self.tables]) { given, _ in given }).migrate(queue)
    }

    @Test("accepts valid views, triggers and generated columns")
    func fine() throws {
        let report = try migrate([
            "2_more.sql": """
            CREATE TRIGGER i INSTEAD OF INSERT ON v BEGIN INSERT INTO a(x) VALUES (new.x); END;
            CREATE VIEW w AS SELECT * FROM v;
            CREATE TRIGGER d INSTEAD OF DELETE ON w BEGIN DELETE FROM a WHERE x = old.x; END;
            CREATE TRIGGER s AFTER INSERT ON a BEGIN UPDATE b SET x = new.sum; END;
            CREATE TABLE k(id INTEGER PRIMARY KEY NOT NULL, n TEXT NOT NULL) STRICT, WITHOUT ROWID;
            CREATE TRIGGER n BEFORE DELETE ON k BEGIN SELECT RAISE(ABORT, 'kept') WHERE old.n = 'keep'; END;
            INSERT INTO v VALUES (4);
            """
        ])
        #expect(report.applied == [1, 2])
        #expect(report.warnings == [])
        #expect(try queue.integers("SELECT stored FROM a") == [8])
    }

    @Test("accepts a rename that SQLite applies to views and triggers")
    func renamed() throws {
        try migrate(["2_rename.sql": "ALTER TABLE a RENAME COLUMN x TO z; ALTER TABLE b RENAME TO c;"])
        #expect(
            try queue.strings("SELECT sql FROM sqlite_master WHERE name = 'v'").first?.contains("z") == true)
        #expect(
            try queue.strings("SELECT sql FROM sqlite_master WHERE name = 't'").first?.contains("\"c\"")
                == true)
    }

    @Test(
        "names the view or trigger that a migration breaks",
        arguments: [
            ("DROP TABLE b;", "trigger t broken: no such table: main.b"),
            ("DROP TABLE a;", "view v broken: no such table: main.a"),
            ("CREATE VIEW w AS SELECT missing FROM b;", "view w broken: no such column: missing"),
            (
                "CREATE TRIGGER u AFTER DELETE ON b BEGIN INSERT INTO b(z) VALUES (1); END;",
                "trigger u broken: table b has no column named z"
            ),
            (
                "CREATE TRIGGER u INSTEAD OF UPDATE ON v BEGIN INSERT INTO nowhere VALUES (1); END;",
                "trigger u broken: no such table: main.nowhere"
            ),
            (
                "CREATE VIEW w AS SELECT * FROM gone; CREATE TRIGGER u INSTEAD OF INSERT ON w BEGIN SELECT 1; END;",
                "view w broken: no such table: main.gone"
            ),
            (
                """
                CREATE TABLE new_a(x2); INSERT INTO new_a SELECT x FROM a; DROP VIEW v; DROP TABLE a;
                ALTER TABLE new_a RENAME TO a; CREATE VIEW v AS SELECT x FROM a;
                """, "view v broken: no such column: x"
            ),
        ])
    func broken(sql: String, what: String) throws {
        let error = try failure { try migrate(["2_ok.sql": "INSERT INTO b VALUES (1)", "3_x.sql": sql]) }
        #expect(error.code == .stepFailed)
        #expect(error.description == "3_x.sql: leaves \(what). \(Self.remedy)")
        #expect(error.file == "3_x.sql")
        #expect(error.schemaVersion == 3)
        #expect(error.committed == [1, 2])
        #expect(try queue.tables() == ["a", "b"])
        #expect(try queue.ledger() == [1, 2])
    }

    private static let search = """
        CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT, title TEXT);
        CREATE VIRTUAL TABLE search USING fts5(body, content='note', content_rowid='id');
        INSERT INTO note VALUES (1, 'wet sand', 'Beach');
        INSERT INTO search(search) VALUES ('rebuild');
        """

    @Test(
        "names the full-text table whose texts a migration takes away",
        arguments: [
            ("DROP TABLE note;", "no such table: main.note"),
            ("ALTER TABLE note RENAME TO entry;", "no such table: main.note"),
            ("ALTER TABLE note RENAME COLUMN body TO text;", "no such column: content.body"),
            ("ALTER TABLE note DROP COLUMN body;", "no such column: content.body"),
            ("ALTER TABLE note RENAME COLUMN id TO key;", "no such column: content.id"),
        ])
    func fullText(sql: String, what: String) throws {
        let error = try failure { try migrate(["2_search.sql": Self.search, "3_x.sql": sql]) }
        #expect(error.code == .stepFailed)
        #expect(error.description == "3_x.sql: leaves full-text table search broken: \(what). \(Self.remedy)")
        #expect(error.committed == [1, 2])
        #expect(try queue.strings("SELECT body FROM search WHERE search MATCH 'sand'") == ["wet sand"])
    }

    @Test(
        "accepts a full-text table that finds its texts after a migration",
        arguments: [
            "ALTER TABLE note RENAME COLUMN title TO name;", "DROP TABLE search; DROP TABLE note;",
            """
            CREATE TABLE new_note(id INTEGER PRIMARY KEY, body TEXT); INSERT INTO new_note SELECT id, body FROM note;
            DROP TABLE note; ALTER TABLE new_note RENAME TO note;
            """,
            """
            ALTER TABLE note RENAME TO entry; DROP TABLE search;
            CREATE VIRTUAL TABLE search USING fts5(body, content="entry", content_rowid=id);
            """,
            """
            ALTER TABLE note RENAME TO entry;
            CREATE VIEW note AS SELECT id, body FROM entry;
            """,
            "CREATE VIRTUAL TABLE old USING fts4(content='note', body); DROP TABLE old;",
            "CREATE VIRTUAL TABLE old USING fts4(content='note');",
            "CREATE VIRTUAL TABLE own USING fts5(content); DROP TABLE b; CREATE TABLE b(x);",
        ])
    func fullTextIsThere(sql: String) throws {
        let report = try migrate(["2_search.sql": Self.search, "3_x.sql": sql])
        #expect(report.applied == [1, 2, 3])
        #expect(report.warnings == [])
    }

    @Test("only warns of a full-text table that was broken before")
    func oldFullText() throws {
        try migrate(["2_search.sql": Self.search])
        try queue.execute("ALTER TABLE note RENAME TO entry")
        let report = try migrate(["2_search.sql": Self.search, "3_x.sql": "CREATE TABLE c(x)"])
        #expect(report.applied == [3])
        #expect(report.warnings == ["full-text table search broken: no such table: main.note."])
    }

    @Test("reports SQLite's error if a view that was already broken prevents a rename")
    func keptFromRenaming() throws {
        try migrate([:])
        try queue.execute("CREATE VIEW old AS SELECT * FROM gone")
        let error = try failure { try migrate(["2_x.sql": "ALTER TABLE b RENAME TO c;"]) }
        #expect(error.message == "2_x.sql:1: error in view old: no such table: main.gone (SQLite 1).")
        #expect(try queue.ledger() == [1])
        #expect(try migrate(["2_x.sql": "DROP VIEW old; ALTER TABLE b RENAME TO c;"]).applied == [2])
    }

    @Test("reports a broken view even if the migration removes an orphan")
    func notExcused() throws {
        let keys = "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p REFERENCES p(id));"
        try migrate(["2_keys.sql": keys])
        try queue.execute(
            "PRAGMA foreign_keys = OFF; INSERT INTO c VALUES (9); PRAGMA foreign_keys = ON;")
        let error = try failure {
            try migrate(["2_keys.sql": keys, "3_x.sql": "DELETE FROM c; DROP TABLE a;"])
        }
        #expect(error.description == "3_x.sql: leaves view v broken: no such table: main.a. \(Self.remedy)")
        #expect(try queue.integers("SELECT p FROM c") == [9])
    }

    @Test("only warns of what was already broken, and of missing functions")
    func before() throws {
        try migrate([:])
        try queue.execute(
            """
            CREATE VIEW old AS SELECT * FROM gone;
            CREATE TRIGGER u INSTEAD OF INSERT ON old BEGIN SELECT 1; END;
            CREATE TRIGGER o AFTER INSERT ON b BEGIN INSERT INTO gone VALUES (1); END;
            """)
        let function = DatabaseFunction("shout", argumentCount: 1) { $0.first }
        try queue.write { db in
            db.add(function: function)
            try db.execute(sql: "CREATE VIEW loud AS SELECT shout(x) FROM a")
            db.remove(function: function)
        }
        let report = try migrate(["2_x.sql": "CREATE TABLE c(x)", "3_y.sql": "CREATE TABLE d(x)"])
        #expect(report.applied == [2, 3])
        #expect(
            report.warnings == [
                // A change of a fires its trigger, which fires the one of b.
                "trigger o broken: no such table: main.gone.",
                "trigger t broken: no such table: main.gone.",
                "view loud broken: no such function: shout.",
                "view old broken: no such table: main.gone.",
            ])
    }

    @Test("checks earlier migrations before one that rolls back the whole transaction")
    func beforeRollback() throws {
        let error = try failure {
            try migrate([
                "2_ok.sql": "CREATE UNIQUE INDEX i ON b(x); INSERT INTO b VALUES (1);",
                "3_x.sql": "DROP TABLE a;",
                "4_rollback.sql": "INSERT OR ROLLBACK INTO b VALUES (1);",
            ])
        }
        #expect(error.description == "3_x.sql: leaves view v broken: no such table: main.a. \(Self.remedy)")
        #expect(error.committed == [1, 2])
        #expect(try queue.tables() == ["a", "b"])
    }

    @Test("does not run if the schema did not change")
    func rowsOnly() throws {
        try migrate([:])
        try queue.execute("CREATE VIEW old AS SELECT * FROM gone")
        #expect(try migrate(["2_x.sql": "INSERT INTO b VALUES (1)"]).warnings == [])
    }
}
