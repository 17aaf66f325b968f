import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("Problems from before a migration", .timed)
struct OldProblemsTests {
    let folder: TemporaryFolder
    let queue: DatabaseQueue

    init() throws {
        folder = try TemporaryFolder()
        queue = try folder.queue()
        try folder.migrator(["1_nothing.sql": "-- nothing"]).migrate(queue)
    }

    /// Creates tables with orphans, and applies a file.
    private func migrate(_ before: String, _ sql: String) throws -> SchemaReport {
        try queue.execute("PRAGMA foreign_keys = OFF; \(before); PRAGMA foreign_keys = ON;")
        return try folder.migrator(["1_nothing.sql": "-- nothing", "2_x.sql": sql]).migrate(queue)
    }

    private static let parents =
        "CREATE TABLE p(id INTEGER PRIMARY KEY, old); INSERT INTO p VALUES (1, 0), (2, 1), (3, 1);"
    private static let oldOrphans = """
        \(parents) CREATE TABLE c(id INTEGER PRIMARY KEY, p REFERENCES p(id));
        INSERT INTO c(p) VALUES (1), (2), (3), (4), (90), (91);
        """

    @Test(
        "excuse no others",
        arguments: [
            (
                oldOrphans, "DELETE FROM c WHERE p NOT IN (SELECT id FROM p); DELETE FROM p WHERE old = 1;",
                "2 rows of table c whose p refer to no row of p"
            ),
            (
                "\(oldOrphans) CREATE TABLE d(p REFERENCES p(id)); INSERT INTO d VALUES (80), (81), (82);",
                "DELETE FROM d; DELETE FROM p WHERE id = 2;", "1 row of table c whose p refers to no row of p"
            ),
            (
                "\(oldOrphans) CREATE TABLE q(id INTEGER PRIMARY KEY); CREATE TABLE d(q REFERENCES q(id)); INSERT INTO d VALUES (2);",
                "DELETE FROM p WHERE id = 2;", "1 row of table c whose p refers to no row of p"
            ),
            (
                "\(oldOrphans) CREATE UNIQUE INDEX u ON p(old) WHERE 0; CREATE TABLE n(a UNIQUE, b UNIQUE); CREATE TABLE m(a REFERENCES n(a)); INSERT INTO m VALUES (5);",
                "CREATE TABLE k(b REFERENCES n(b)); INSERT INTO k VALUES (5);",
                "1 row of table k whose b refers to no row of n"
            ),
            (
                "CREATE TABLE a(x); CREATE VIEW va AS SELECT missing FROM a; CREATE TABLE b(y); CREATE VIEW vb AS SELECT y FROM b;",
                "DROP VIEW va; CREATE VIEW va AS SELECT x FROM a; DROP TABLE b; CREATE TABLE b(z);",
                "view vb broken: no such column: y"
            ),
            (
                """
                CREATE TABLE a(x); CREATE TABLE b(y);
                CREATE TRIGGER ta AFTER INSERT ON a BEGIN INSERT INTO gone VALUES (1); END;
                CREATE TRIGGER tb AFTER INSERT ON a BEGIN INSERT INTO b VALUES (1); END;
                """,
                """
                DROP TRIGGER ta; CREATE TRIGGER ta AFTER INSERT ON a BEGIN SELECT 1; END;
                DROP TRIGGER tb; CREATE TRIGGER tb AFTER INSERT ON a BEGIN INSERT INTO gone VALUES (1); END;
                """,
                "trigger tb broken: no such table: main.gone"
            ),
            (
                "CREATE TABLE n(a); CREATE TABLE m(a REFERENCES n(a)); INSERT INTO m VALUES (1);",
                "DROP TABLE m; CREATE TABLE o(b); CREATE TABLE r(b REFERENCES o(b)); INSERT INTO r VALUES (1);",
                "a foreign key of table r broken: foreign key mismatch - \"r\" referencing \"o\""
            ),
            (
                """
                CREATE TABLE p(a, b, PRIMARY KEY (a, b)); CREATE TABLE c(x, y, FOREIGN KEY (x, y) REFERENCES p(a, b));
                INSERT INTO c VALUES (1, 2), (NULL, 5), (3, NULL);
                """,
                "INSERT INTO c VALUES (2, 1);", "1 row of table c whose x, y refers to no row of p"
            ),
        ])
    func notExcused(before: String, sql: String, problem: String) throws {
        let error = try failure { try migrate(before, sql) }
        #expect(error.message == "2_x.sql: leaves \(problem).")
        #expect(try queue.ledger() == [1])
        #expect(try queue.integer("SELECT count(*) FROM sqlite_temp_master") == 0)
    }

    private static let notes = """
        \(parents)
        CREATE TABLE note(id INTEGER PRIMARY KEY, p INTEGER REFERENCES p(id));
        CREATE TABLE memo(id INTEGER PRIMARY KEY, p TEXT REFERENCES p(id));
        INSERT INTO note(p) VALUES (1), (90), (91); INSERT INTO memo(p) VALUES ('1'), ('90'), ('92'), ('x');
        """

    @Test(
        "are only warned of, wherever their rows go",
        arguments: [
            // Two tables become one, with other types.
            (
                notes,
                """
                CREATE TABLE entry(id INTEGER PRIMARY KEY, p REFERENCES p(id));
                INSERT INTO entry(p) SELECT p FROM note UNION ALL SELECT p FROM memo; DROP TABLE note; DROP TABLE memo;
                """, "5 rows of table entry whose p refer to no row of p."
            ),
            // One table becomes two.
            (
                notes,
                """
                CREATE TABLE one(p REFERENCES p); CREATE TABLE two(p TEXT REFERENCES p(id));
                INSERT INTO one SELECT p FROM note WHERE p = 90; INSERT INTO two SELECT p FROM note WHERE p <> 90;
                DROP TABLE note; DROP TABLE memo;
                """, "1 row of table one whose p refers to no row of p."
            ),
            // The parent and its column get other names, and another type.
            (
                notes, "ALTER TABLE p RENAME TO q; ALTER TABLE q RENAME COLUMN id TO ident; DROP TABLE memo;",
                "2 rows of table note whose p refer to no row of q."
            ),
            (
                notes,
                """
                DROP TABLE memo; CREATE TABLE n(id TEXT PRIMARY KEY); INSERT INTO n SELECT id FROM p; DROP TABLE p;
                ALTER TABLE n RENAME TO p;
                """, "2 rows of table note whose p refer to no row of p."
            ),
            // The parent's key takes another type, and the child stays as it is.
            (
                notes,
                """
                DROP TABLE note; DELETE FROM memo WHERE p = '1'; DROP TABLE p; CREATE TABLE p(id BLOB UNIQUE);
                """, "3 rows of table memo whose p refer to no row of p."
            ),
            // Without ids, and with keys of two columns in another order.
            (
                """
                CREATE TABLE p(a INTEGER, b TEXT COLLATE NOCASE, PRIMARY KEY (a, b)) WITHOUT ROWID;
                CREATE TABLE c(x, y, PRIMARY KEY (x, y), FOREIGN KEY (x, y) REFERENCES p(a, b)) WITHOUT ROWID;
                INSERT INTO c VALUES ('1', 'A'), (2, 'b');
                """,
                """
                CREATE TABLE d(y, x, FOREIGN KEY (y, x) REFERENCES p(b, a)); INSERT INTO d VALUES ('a', 1), ('B', '2');
                DROP TABLE c;
                """, "2 rows of table d whose y, x refer to no row of p."
            ),
            // The parent is missing, and is made.
            (
                "CREATE TABLE c(p REFERENCES gone); INSERT INTO c VALUES (1), (2);",
                "CREATE TABLE gone(id INTEGER PRIMARY KEY); INSERT INTO gone VALUES (1);",
                "1 row of table c whose p refers to no row of gone."
            ),
            (
                "CREATE TABLE n(a); CREATE TABLE m(a REFERENCES n(a)); INSERT INTO m VALUES (1);",
                "ALTER TABLE m RENAME TO o; ALTER TABLE n RENAME TO p;",
                "a foreign key of table o broken: foreign key mismatch - \"o\" referencing \"p\"."
            ),
        ])
    func excused(before: String, sql: String, warning: String) throws {
        let report = try migrate(before, sql)
        #expect(report.applied == [2])
        #expect(report.warnings.contains(warning), "\(report.warnings)")
        #expect(try queue.integer("SELECT count(*) FROM sqlite_temp_master") == 0)
        #expect(try queue.ledger() == [1, 2])
    }

    @Test(
        "are compared as the parent's column compares",
        arguments: [
            ("INTEGER", "TEXT", "'1'", "1", true), ("TEXT", "INTEGER", "1", "'1'", true),
            ("TEXT", "INTEGER", "1", "'01'", false), ("INTEGER", "BLOB", "1.0", "1", true),
            ("BLOB", "BLOB", "1", "'1'", false), ("TEXT COLLATE NOCASE", "TEXT", "'a'", "'A'", true),
            ("TEXT", "TEXT COLLATE NOCASE", "'a'", "'A'", false),
            ("TEXT COLLATE RTRIM", "", "'a'", "'a '", true),
            ("REAL", "", "1", "'1.0'", true), ("NUMERIC", "", "'1e1'", "10", true),
            ("TEXT", "TEXT", "'\u{e9}'", "'e\u{301}'", false), ("BLOB", "", "x'61'", "'a'", false),
        ])
    func comparisons(parent: String, child: String, old: String, new: String, isSame: Bool) throws {
        let before = """
            CREATE TABLE p(id \(parent) UNIQUE); CREATE TABLE c(p \(child) REFERENCES p(id)); INSERT INTO c VALUES (\(old));
            CREATE TABLE d(p REFERENCES p(id))
            """
        let sql = "INSERT INTO d VALUES (\(new));"
        if isSame {
            #expect(try migrate(before, sql).applied == [2])
        } else {
            let error = try failure { try migrate(before, sql) }
            #expect(error.message == "2_x.sql: leaves 1 row of table d whose p refers to no row of p.")
        }
    }

    @Test("use the app's own collations")
    func collation() throws {
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            db.add(
                collation: DatabaseCollation("length") { first, second in
                    first.count < second.count
                        ? .orderedAscending : first.count > second.count ? .orderedDescending : .orderedSame
                })
        }
        let queue = try folder.queue("collation.sqlite", configuration)
        try queue.execute(
            """
            PRAGMA foreign_keys = OFF; CREATE TABLE p(id TEXT COLLATE length UNIQUE); CREATE TABLE c(p REFERENCES p(id));
            INSERT INTO c VALUES ('aaa'); CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL);
            INSERT INTO schema_migrations VALUES (1);
            """)
        let files = ["1_nothing.sql": "-- nothing", "2_x.sql": "INSERT INTO c VALUES ('bbb');"]
        #expect(try folder.migrator(files).migrate(queue).applied == [2])
        let error = try failure {
            try folder.migrator(["3_x.sql": "INSERT INTO c VALUES ('bb');"]).migrate(queue)
        }
        #expect(error.message == "3_x.sql: leaves 1 row of table c whose p refers to no row of p.")
    }

    // MARK: Several files

    private static let commits: [SchemaOptions.Commits] = [.grouped(after: .seconds(60)), .allOrNothing]

    /// Creates an orphan that refers to 90, and a migrator with several files.
    private func schema(_ files: [String: String], _ commits: SchemaOptions.Commits) throws -> SchemaMigrator
    {
        try queue.execute(
            """
            PRAGMA foreign_keys = OFF; \(Self.parents) CREATE TABLE c(id INTEGER PRIMARY KEY, p REFERENCES p(id));
            INSERT INTO c(p) VALUES (1), (2), (90); PRAGMA foreign_keys = ON;
            """)
        var schema = try folder.migrator(["1_nothing.sql": "-- nothing"].merging(files) { $1 })
        schema.options.commits = commits
        return schema
    }

    @Test(
        "lock nobody out whose next file removes what a file leaves behind", arguments: commits,
        [
            ("DELETE FROM p WHERE id = 2", "DELETE FROM c WHERE p = 2"),
            (
                "CREATE TABLE d(p REFERENCES p(id)); DROP TABLE p; DELETE FROM c WHERE p < 90",
                "DROP TABLE d; CREATE TABLE p(id INTEGER PRIMARY KEY)"
            ),
        ])
    func fixedLater(commits: SchemaOptions.Commits, files: (String, String)) throws {
        let schema = try schema(["2_x.sql": files.0, "3_y.sql": files.1], commits)
        let report = try schema.migrate(queue)
        #expect(report.applied == [2, 3])
        #expect(report.warnings == ["1 row of table c whose p refers to no row of p."])
        #expect(try queue.integers("SELECT p FROM c WHERE p > 1") == [90])
        #expect(try queue.integer("SELECT count(*) FROM sqlite_temp_master") == 0)
        #expect(try queue.ledger() == [1, 2, 3])
    }

    @Test("lock nobody out whose next down migration removes what one leaves behind")
    func fixedLaterDown() throws {
        let schema = try schema(
            [
                "2_x.sql": "SELECT 1", "2_x.down.sql": "DELETE FROM c WHERE p = 2",
                "3_y.sql": "SELECT 1", "3_y.down.sql": "DELETE FROM p WHERE id = 2",
            ], .grouped())
        try schema.migrate(queue)
        #expect(try schema.rollback(queue, to: 1) == [3, 2])
        #expect(try queue.ledger() == [1])
    }

    @Test(
        "excuse no file of several, and the error names it", arguments: commits,
        [
            ("SELECT 1", "DELETE FROM p WHERE id = 2", "1 row of table c whose p refers to no row of p"),
            (
                "CREATE TABLE q(id INTEGER PRIMARY KEY); CREATE TABLE d(q REFERENCES q(id)); DELETE FROM c WHERE p = 1",
                "DROP TABLE q", "table d with a foreign key to table q, which no longer exists"
            ),
        ])
    func culprit(commits: SchemaOptions.Commits, files: (String, String, problem: String)) throws {
        let schema = try schema(["2_x.sql": files.0, "3_y.sql": files.1], commits)
        let error = try failure { try schema.migrate(queue) }
        #expect(error.message == "3_y.sql: leaves \(files.problem).")
        let committed: [SchemaVersion] = commits == .allOrNothing ? [] : [2]
        #expect(error.committed == committed)
        #expect(try queue.ledger() == [1] + committed)
        #expect(try queue.integers("SELECT id FROM p") == [1, 2, 3])
    }

    // MARK: Parents that are dropped

    private static let empty = """
        CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p REFERENCES p(id)); CREATE TABLE other(x);
        """

    @Test(
        "are not a parent that is dropped, although its child is empty", arguments: [false, true],
        [false, true])
    func dropped(atOnce: Bool, inSwift: Bool) throws {
        let drop: any SchemaMigration =
            inSwift
            ? CodeMigration(3, sql: "DROP TABLE p") : SQLMigration(version: 3, name: "x", sql: "DROP TABLE p")
        let schema = try SchemaMigrator(migrations: [
            CodeMigration(1, sql: ""), SQLMigration(version: 2, name: "t", sql: Self.empty), drop,
        ])
        if !atOnce { try schema.migrate(queue, upTo: 2) }
        let error = try failure { try schema.migrate(queue) }
        #expect(
            error.description == """
                \(inSwift ? "Code3" : "3_x.sql"): leaves table c with a foreign key to table p, which no longer exists. \
                Drop c as well, or rebuild it without the key: every insert would fail without p. It was rolled \
                back. Fix it and migrate again.
                """)
        #expect(try queue.ledger() == [1, 2])
    }

    @Test(
        "lock nobody out who drops the child as well, or never had the parent",
        arguments: [
            "DROP TABLE p; DROP TABLE c;", "DROP TABLE c; DROP TABLE p;",
            "CREATE TABLE d(x REFERENCES later(id));",
            "-- migrations: foreign-keys=unchecked\nDROP TABLE p;", "ALTER TABLE p RENAME TO q;",
            "DROP TABLE p; CREATE TABLE p(id INTEGER PRIMARY KEY);",
        ])
    func notDropped(sql: String) throws {
        let report = try migrate(Self.empty, sql)
        #expect(report.applied == [2])
        #expect(report.warnings == [])
    }
}
