import Foundation
import MigrationTools
import TestSupport
import Testing

@Suite("A review of statements and names", .timed)
struct LintTests {
    private static let first = """
        CREATE TABLE person_name(id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, home_town TEXT, birth_day TEXT);
        CREATE INDEX by_name ON person_name(last_name);
        """

    @Test(
        "finds what is probably a mistake",
        arguments: [
            (
                "UPDATE schema_migrations SET version = 3;",
                """
                Table `schema_migrations` is the migrator's own record. Remove the statement: the migrator writes these tables, and \
                `app-migrations adopt` marks migrations. [ledger-write]
                """
            ),
            (
                "REPLACE INTO person_name(id) VALUES (1);",
                """
                REPLACE deletes the rows of table `person_name` that have the same key, with all their columns. Write INSERT \
                … ON CONFLICT DO UPDATE, which keeps the other columns and the rows that refer to it. [replace-into]
                """
            ),
            (
                "CREATE TABLE t(x); CREATE INDEX i ON t(x); INSERT INTO t VALUES (1); DROP TABLE t;",
                """
                Table `t` is dropped by the file that makes it, and nothing reads it in between. Move what undoes the file to \
                a .down.sql file. [undoes-itself]
                """
            ),
            (
                "UPDATE person_name SET home_town = '' WHERE id > 3 AND home_town = NULL;",
                """
                A comparison with NULL is never true, so the WHERE finds no row. Write IS NULL or IS NOT NULL. \
                [null-comparison]
                """
            ),
            (
                "CREATE TABLE IF NOT EXISTS person_name(id INTEGER PRIMARY KEY, name TEXT);",
                """
                Table `person_name` exists already, with another definition, so the statement does nothing. Change that table, \
                or make one of another name. [table-exists]
                """
            ),
            (
                #"CREATE TABLE "order"(id INTEGER PRIMARY KEY, "from" INTEGER REFERENCES person_name(id));"#,
                """
                No index serves foreign key ("from") of table `order`: deleting a row of `person_name` reads the whole table. Add \
                CREATE INDEX order_from ON "order"("from"). [unindexed-foreign-key]
                """
            ),
            (
                "CREATE TABLE t(id INT PRIMARY KEY);",
                """
                Column `id` of table `t` is INT PRIMARY KEY: it takes nulls and texts, and has an index of its own. Write \
                INTEGER PRIMARY KEY. [int-primary-key]
                """
            ),
            (
                "CREATE TABLE t(a INTERGER);",
                "Column `a` of table `t` has the type INTERGER, which looks like INTEGER. Correct the type. [misspelt-type]"
            ),
            (
                "CREATE INDEX again ON person_name(last_name);",
                "Index `again` has the columns of index `by_name`. Drop one of them. [duplicate-index]"
            ),
            (
                "ALTER TABLE person_name ADD COLUMN middleName TEXT;",
                """
                Column `middleName` of table `person_name` is written in camelCase, and most names in snake_case. Write it as \
                the others are. [name-style]
                """
            ),
            (
                "ALTER TABLE person_name RENAME COLUMN home_town TO town;",
                """
                Column `home_town` of table `person_name` is `town` now: an older build that opens the database fails. Add a \
                column instead, for as long as an older build or an extension may open the database. [renamed-column]
                """
            ),
            (
                "ALTER TABLE person_name RENAME TO people;",
                """
                Table `person_name` is `people` now: an older build that opens the database fails. Keep the old name as a view \
                for as long as an older build or an extension may open the database. [renamed-table]
                """
            ),
            (
                "DELETE FROM person_name WHERE 1;",
                "Every row of table `person_name` is deleted: its WHERE is always true. [delete-without-where]"
            ),
            (
                "PRAGMA writable_schema = ON;",
                """
                PRAGMA writable_schema lets statements change the schema as text. A mistake in such a text corrupts \
                the database: use a file that begins with `-- migrations: redefine`. [writable-schema]
                """
            ),
            (
                "PRAGMA main.writable_schema(1);",
                """
                PRAGMA writable_schema lets statements change the schema as text. A mistake in such a text corrupts \
                the database: use a file that begins with `-- migrations: redefine`. [writable-schema]
                """
            ),
        ])
    func mistakes(sql: String, finding: String) throws {
        let found = try ReviewedMigrations(sql, after: Self.first).findings
        #expect(found.contains("2_b.sql:1: \(finding)"), "\(found)")
    }

    @Test(
        "finds nothing in what is right",
        arguments: [
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b DATETIME, c POINT);",
            "CREATE TABLE t(id INT PRIMARY KEY) WITHOUT ROWID;",
            "CREATE INDEX other ON person_name(last_name, first_name);",
            "CREATE INDEX other ON person_name(last_name COLLATE NOCASE);",
            "CREATE INDEX other ON person_name(last_name DESC);",
            "CREATE UNIQUE INDEX unique_name ON person_name(last_name) WHERE id < 0;",
            "ALTER TABLE person_name ADD COLUMN middle_name TEXT; ALTER TABLE person_name ADD COLUMN note TEXT;",
            "CREATE TABLE t(x); REPLACE INTO t VALUES (1);",
            "PRAGMA writable_schema;",
            """
            CREATE TABLE IF NOT EXISTS person_name(
                id INTEGER PRIMARY KEY, first_name text, last_name TEXT, home_town TEXT, birth_day TEXT);
            """,
            "UPDATE person_name SET home_town = NULL WHERE home_town = '' AND id IS NOT NULL;",
            "CREATE TABLE t(x); INSERT INTO t SELECT id FROM person_name; DELETE FROM t WHERE x < 0; DROP TABLE t;",
        ])
    func right(sql: String) throws {
        #expect(try ReviewedMigrations(sql, after: Self.first).findings == [])
    }

    @Test("reports one of two new indexes with the same columns")
    func twoNewIndexes() throws {
        let sql = "CREATE INDEX one ON person_name(home_town); CREATE INDEX two ON person_name(home_town);"
        #expect(
            try ReviewedMigrations(sql, after: Self.first).findings == [
                "2_b.sql:1: Index `two` has the columns of index `one`. Drop one of them. [duplicate-index]"
            ])
    }

    @Test(
        "takes the types of other databases for what they are",
        arguments: ["JSONB", "NVARCHAR(20)", "NCHAR(2)", "NTEXT"])
    func otherTypes(type: String) throws {
        let review = try ReviewedMigrations(["1_a.sql": "CREATE TABLE t(a \(type));"]).review
        #expect(review.findings.filter { $0.rule.name == "misspelt-type" }.map(\.reason) == [])
    }

    @Test("says that what a file loses is unknown where no generated rows meet a constraint")
    func unjudged() throws {
        let files = [
            "1_a.sql": "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b TEXT, kind TEXT NOT NULL);",
            "2_b.sql": """
            CREATE TABLE t_new(id INTEGER PRIMARY KEY, a TEXT, kind TEXT NOT NULL UNIQUE);
            INSERT INTO t_new(id, a, kind) SELECT id, b, 'main' FROM t;
            DROP TABLE t;
            ALTER TABLE t_new RENAME TO t;
            """,
        ]
        let review = try ReviewedMigrations(files).review
        #expect(Set(review.findings.map(\.rule.name)).isSuperset(of: ["new-unique", "untried"]))
    }

    @Test(
        "does not say so of a file that changes no rows",
        arguments: [
            "CREATE UNIQUE INDEX one ON t(d) WHERE d = 1;", "ALTER TABLE t ADD COLUMN a TEXT NOT NULL;",
        ])
    func nothingToLose(sql: String) throws {
        let review = try ReviewedMigrations(
            sql, after: "CREATE TABLE t(id INTEGER PRIMARY KEY, d BOOLEAN NOT NULL CHECK (d IN (0, 1)));")
        #expect(review.rules.count == 1 && !review.rules[0].hasSuffix("untried"), "\(review.rules)")
    }

    @Test(
        "takes severities from a file beside the migrations, whatever its line ends",
        arguments: ["\n", "\r\n"])
    func severities(lineEnd: String) throws {
        let files = [
            "1_a.sql": Self.first,
            "2_b.sql": "ALTER TABLE person_name RENAME TO people;\nCREATE TABLE t(a INTERGER);",
        ]
        let rules =
            "# The widget reads these tables.\nrenamed-table: error\nmisspelt-type: off\n\nno-rule: note\n"
            .replacing("\n", with: lineEnd)
        let review = try ReviewedMigrations(files.merging(["check.rules": rules]) { $1 }).review
        #expect(
            review.findings.map { "\($0.file):\($0.line) \($0.rule.name) \($0.severity)" } == [
                "2_b.sql:1 renamed-table error", "check.rules:5 unknown-rule warning",
            ])
    }

    @Test(
        "is silent about tables and columns that are not there, or whose values have been copied",
        arguments: [
            ["1_a.sql": "CREATE TABLE a(x);", "2_b.sql": "DROP TABLE IF EXISTS b;"],
            [
                "1_a.sql": "CREATE TABLE a(x);",
                "2_b.sql": "CREATE TABLE b(x); INSERT INTO b SELECT x FROM a;",
                "3_c.sql": "DROP TABLE a;",
            ],
            [
                "1_a.sql": "CREATE TABLE a(x);", "2_b.sql": "ALTER TABLE a ADD COLUMN y; UPDATE a SET y = x;",
                "3_c.sql": "ALTER TABLE a DROP COLUMN x;",
            ],
            ["1_a.sql": "CREATE TABLE a(x, y AS (x + 1));", "2_b.sql": "ALTER TABLE a DROP COLUMN y;"],
            // The rebuild has no other purpose.
            [
                "1_a.sql": "CREATE TABLE a(id INTEGER PRIMARY KEY, x TEXT NOT NULL);",
                "2_b.sql":
                    "CREATE TABLE b(id INTEGER PRIMARY KEY, x TEXT); INSERT INTO b SELECT * FROM a; DROP TABLE a; ALTER TABLE b RENAME TO a;",
            ],
        ])
    func noFalseAlarm(files: [String: String]) throws {
        #expect(try ReviewedMigrations(files).findings == [])
    }

    @Test("still reports a table whose rows were not copied, and a file whose rows are deleted once")
    func stillReported() throws {
        #expect(
            try ReviewedMigrations([
                "1_a.sql": "CREATE TABLE a(x);", "2_b.sql": "ALTER TABLE a RENAME TO b; DROP TABLE b;",
            ])
            .rules.contains("1 drop-table"))
        #expect(
            try ReviewedMigrations([
                "1_a.sql": "CREATE TABLE a(x);", "2_b.sql": "DELETE FROM a;\nDROP TABLE a;",
            ]).rules == ["1 delete-without-where"])
    }

    @Test("goes on after a file that is empty or fails, and names what did not run")
    func goesOn() throws {
        let review = try ReviewedMigrations([
            "1_a.sql": "CREATE TABLE a(id INTEGER PRIMARY KEY, x TEXT);", "2_b.sql": "CREATE TABEL b(x);",
            "3_c.sql": "INSERT INTO b VALUES (1);", "4_d.sql": "\u{0}", "5_e.sql": "UPDATE a SET x = NULL;",
        ])
        #expect(review.review.notRun == ["2_b.sql", "3_c.sql", "4_d.sql"])
        #expect(
            review.review.findings.map { "\($0.file) \($0.rule.name)" } == [
                "2_b.sql does-not-apply", "4_d.sql unreadable-file", "5_e.sql update-without-where",
            ])
    }
}
