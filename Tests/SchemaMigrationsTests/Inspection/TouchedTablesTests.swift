import AppMigrations
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

/// An existing orphan causes a warning if and only if its table is checked, which shows these tests what
/// is checked.
@Suite("The foreign-key check", .timed)
struct TouchedTablesTests {
    let folder: TemporaryFolder
    let queue: DatabaseQueue

    private static let tables = """
        CREATE TABLE parent(id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE child(id INTEGER PRIMARY KEY, parent_id INTEGER REFERENCES parent(id));
        CREATE TABLE other_parent(id INTEGER PRIMARY KEY);
        CREATE TABLE other_child(id INTEGER PRIMARY KEY, parent_id INTEGER REFERENCES other_parent(id));
        CREATE TABLE log(x);
        CREATE TRIGGER log_child AFTER INSERT ON log WHEN new.x > 100 BEGIN INSERT INTO child(id) VALUES (new.x); END;
        INSERT INTO parent VALUES (1, 'A');
        INSERT INTO child VALUES (1, 1);
        """

    private static let childWarning = "1 row of table child whose parent_id refers to no row of parent."
    private static let otherWarning =
        "1 row of table other_child whose parent_id refers to no row of other_parent."

    /// Creates a database with an orphan in each of two pairs of tables.
    init() throws {
        folder = try TemporaryFolder()
        queue = try folder.queue()
        try folder.migrator(["1_tables.sql": Self.tables]).migrate(queue)
        try queue.execute(
            """
            PRAGMA foreign_keys = OFF; INSERT INTO child VALUES (9, 99); INSERT INTO other_child VALUES (9, 99);
            PRAGMA foreign_keys = ON;
            """)
    }

    private func migrate(_ files: [String: String]) throws -> SchemaReport {
        try folder.migrator(files).migrate(queue)
    }

    @Test(
        "skips tables that no migration changed",
        arguments: [
            "CREATE TABLE a(x); INSERT INTO a VALUES (1);",
            "DROP TRIGGER log_child; INSERT INTO log VALUES (1);",
            "SELECT * FROM child;", "CREATE VIEW v AS SELECT * FROM child;", "ALTER TABLE log ADD COLUMN y;",
            "CREATE TABLE b(x REFERENCES a(y)); DROP TABLE b;",
            // These change no row's reference.
            "ALTER TABLE child ADD COLUMN x;", "ALTER TABLE parent ADD COLUMN x;",
            "ALTER TABLE parent DROP COLUMN name;", "ALTER TABLE parent RENAME COLUMN name TO title;",
            "ALTER TABLE child ADD COLUMN x; ALTER TABLE child DROP COLUMN x; ANALYZE;",
        ])
    func untouched(sql: String) throws {
        #expect(try migrate(["2_x.sql": sql]).warnings == [])
        #expect(try queue.ledger() == [1, 2])
    }

    @Test(
        "only warns of an existing orphan in a changed table or in one that refers to it",
        arguments: [
            "INSERT INTO child VALUES (2, 1);", "UPDATE child SET parent_id = parent_id WHERE id = 1;",
            "DELETE FROM child WHERE id = 1;", "UPDATE parent SET name = 'B';",
            "INSERT INTO parent VALUES (2, 'B');",
            "INSERT INTO log VALUES (1);", "ALTER TABLE child ADD COLUMN x; UPDATE child SET x = 1;",
            "ALTER TABLE child ADD COLUMN x REFERENCES parent(id);",
            "ALTER TABLE parent RENAME COLUMN id TO i;",
            "CREATE INDEX i ON child(parent_id);", "REPLACE INTO \"Child\" VALUES (1, 1);",
            """
            DROP TRIGGER log_child;
            CREATE TABLE new_child(id INTEGER PRIMARY KEY, parent_id INTEGER REFERENCES parent(id));
            INSERT INTO new_child SELECT * FROM child; DROP TABLE child; ALTER TABLE new_child RENAME TO child;
            """,
            """
            CREATE TABLE new_parent(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            INSERT INTO new_parent SELECT * FROM parent; DROP TABLE parent; ALTER TABLE new_parent RENAME TO parent;
            """,
        ])
    func touched(sql: String) throws {
        let report = try migrate(["2_x.sql": sql])
        #expect(report.applied == [2])
        #expect(report.warnings == [Self.childWarning])
        #expect(try queue.ledger() == [1, 2])
        #expect(try queue.integer("SELECT count(*) FROM child WHERE id = 9") == 1)
    }

    @Test("covers every table when a migration in Swift runs, which gets no second attempt")
    func code() throws {
        let schema = try SchemaMigrator(migrations: [
            CodeMigration(1, sql: ""), CodeMigration(2, sql: "INSERT INTO log VALUES (101)"),
        ])
        #expect(try schema.migrate(queue).warnings == [Self.childWarning, Self.otherWarning])
    }

    @Test("warns of each orphan once")
    func both() throws {
        let report = try migrate([
            "2_a.sql": "UPDATE parent SET name = 'B';", "3_b.sql": "UPDATE child SET id = 2 WHERE id = 1;",
            "4_c.sql": "-- migrations: foreign-keys=immediate\nINSERT INTO other_parent VALUES (1);",
            "5_d.sql": "UPDATE parent SET name = 'C';",
        ])
        #expect(report.warnings == [Self.childWarning, Self.otherWarning])
        #expect(report.applied == [2, 3, 4, 5])
    }

    @Test(
        "finds orphans of a table that is dropped and created again unchanged",
        arguments: [
            "DROP TABLE parent; CREATE TABLE parent(id INTEGER PRIMARY KEY, name TEXT);",
            "DROP TABLE IF EXISTS main.\"parent\"; CREATE TABLE parent(id INTEGER PRIMARY KEY, name TEXT);",
            "DROP TABLE parent; CREATE TABLE parent(id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE a(x);",
        ], [false, true])
    func madeAgain(sql: String, inSwift: Bool) throws {
        let migration: any SchemaMigration =
            inSwift ? CodeMigration(2, sql: sql) : SQLMigration(version: 2, name: "x", sql: sql)
        let schema = try SchemaMigrator(migrations: [CodeMigration(1, sql: ""), migration])
        let error = try failure { try schema.migrate(queue) }
        #expect(
            error.message
                == "\(inSwift ? "Code2" : "2_x.sql"): leaves 1 row of table child whose parent_id refers to no row of parent."
        )
        #expect(try queue.integers("SELECT id FROM parent") == [1])
    }

    @Test("finds orphans of the newest table after it is dropped and created again")
    func newestMadeAgain() throws {
        let newest = "CREATE TABLE newest(id INTEGER PRIMARY KEY);"
        let migrations = [
            CodeMigration(1, sql: ""),
            CodeMigration(
                2,
                sql: """
                    CREATE TABLE referring(id INTEGER REFERENCES newest(id)); \(newest)
                    INSERT INTO newest VALUES (1); INSERT INTO referring VALUES (1);
                    """),
        ]
        try SchemaMigrator(migrations: migrations).migrate(queue)
        let again = CodeMigration(3, sql: "DROP TABLE newest; \(newest)")
        let error = try failure {
            try SchemaMigrator(migrations: migrations + [again]).migrate(queue)
        }
        #expect(
            error.message
                == "Code3: leaves 1 row of table referring whose id refers to no row of newest.")
        #expect(try queue.integers("SELECT id FROM newest") == [1])
    }

    @Test(
        "does not count an existing orphan as new if its table or column is renamed",
        arguments: [
            (
                "ALTER TABLE child RENAME TO kid;",
                "1 row of table kid whose parent_id refers to no row of parent."
            ),
            (
                "ALTER TABLE parent RENAME TO elder;",
                "1 row of table child whose parent_id refers to no row of elder."
            ),
            (
                "ALTER TABLE child RENAME COLUMN parent_id TO elder_id;",
                "1 row of table child whose elder_id refers to no row of parent."
            ),
        ])
    func renamed(sql: String, warning: String) throws {
        let report = try migrate(["2_x.sql": sql, "3_y.sql": "CREATE TABLE a(x);"])
        #expect(report.applied == [2, 3])
        #expect(report.warnings == [warning])
    }

    @Test("finds orphans of a column that is added with a default")
    func addedColumn() throws {
        let error = try failure {
            try migrate(["2_x.sql": "ALTER TABLE child ADD COLUMN elder_id REFERENCES parent(id) DEFAULT 98;"]
            )
        }
        #expect(
            error.message
                == "2_x.sql: leaves 2 rows of table child whose elder_id refer to no row of parent.")
    }

    @Test("names the migration that leaves orphans, and keeps earlier ones")
    func culprit() throws {
        let error = try failure {
            try migrate([
                "2_a.sql": "UPDATE parent SET name = 'B';",
                "3_b.sql": "INSERT INTO child VALUES (3, 98), (4, 97);",
                "4_c.sql": "UPDATE parent SET name = 'C';",
            ])
        }
        #expect(error.code == .stepFailed)
        #expect(
            error.message
                == "3_b.sql: leaves 2 rows of table child whose parent_id refer to no row of parent.")
        #expect(error.schemaVersion == 3)
        #expect(error.committed == [2])
        #expect(try queue.ledger() == [1, 2])
        #expect(try queue.integers("SELECT id FROM child ORDER BY id") == [1, 9])
    }

    @Test("names the migration that leaves orphans with all or nothing, and keeps nothing")
    func allOrNothing() throws {
        var schema = try folder.migrator([
            "2_a.sql": "UPDATE parent SET name = 'B';", "3_b.sql": "INSERT INTO child VALUES (3, 98);",
            "4_c.sql": "CREATE TABLE c(x);",
        ])
        schema.options.commits = .allOrNothing
        let error = try failure { try schema.migrate(queue) }
        #expect(
            error.message
                == "3_b.sql: leaves 1 row of table child whose parent_id refers to no row of parent.")
        #expect(error.committed == [])
        #expect(try queue.ledger() == [1])
        #expect(try queue.strings("SELECT name FROM parent") == ["A"])

        try folder.folder(["3_b.sql": "INSERT INTO child VALUES (3, 1);"])
        let report = try schema.migrate(queue)
        #expect(report.applied == [2, 3, 4])
        #expect(report.warnings == [Self.childWarning])
    }

    @Test("warns of an existing foreign key that SQLite cannot check")
    func mismatch() throws {
        try queue.execute(
            """
            PRAGMA foreign_keys = OFF;
            CREATE TABLE p(a); CREATE TABLE c(a REFERENCES p(a)); INSERT INTO c VALUES (1);
            PRAGMA foreign_keys = ON;
            """)
        #expect(
            try migrate(["2_x.sql": "INSERT INTO c VALUES (2);"]).warnings
                == ["a foreign key of table c broken: foreign key mismatch - \"c\" referencing \"p\"."])
    }
}
