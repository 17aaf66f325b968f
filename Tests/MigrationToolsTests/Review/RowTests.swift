import TestSupport
import Testing

@testable import MigrationTools

@Suite("A review over generated rows", .timed)
struct RowTests {
    private static let table = "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b INTEGER);"

    @Test(
        "finds a constraint that existing rows may break",
        arguments: [
            (
                "CREATE UNIQUE INDEX i ON t(a);",
                """
                2_b.sql:1: Over generated rows: UNIQUE constraint failed: t.a (SQLite 2067). Merge or delete the duplicates \
                first. [new-unique]
                """
            ),
            (
                "CREATE TABLE u(id INTEGER PRIMARY KEY, a TEXT NOT NULL, b);\nINSERT INTO u SELECT * FROM t;\nDROP TABLE t;\nALTER TABLE u RENAME TO t;",
                """
                2_b.sql:2: Over generated rows: NOT NULL constraint failed: u.a (SQLite 1299). Give the column a value in \
                every row first: coalesce(column, …), or a DEFAULT. [new-not-null]
                """
            ),
            (
                "CREATE TABLE u(id INTEGER PRIMARY KEY, a CHECK (length(a) > 2), b);\nINSERT INTO u SELECT * FROM t;\nDROP TABLE t;\nALTER TABLE u RENAME TO t;",
                """
                2_b.sql:2: Over generated rows: CHECK constraint failed: length(a) > 2 (SQLite 275). Correct the values \
                first. [new-check]
                """
            ),
            (
                "CREATE TABLE u(id INTEGER PRIMARY KEY, a, b CHECK (b >= 0));\nINSERT INTO u SELECT * FROM t;\nDROP TABLE t;\nALTER TABLE u RENAME TO t;",
                """
                2_b.sql:2: Over generated rows: CHECK constraint failed: b >= 0 (SQLite 275). Correct the values first. \
                [new-check]
                """
            ),
            (
                "SELECT 1;\nALTER TABLE t ADD COLUMN c TEXT NOT NULL;",
                """
                2_b.sql:2: Cannot add a NOT NULL column with default value NULL (SQLite 1). Give the column a constant \
                DEFAULT, or rebuild the table. [add-column]
                """
            ),
            (
                "ALTER TABLE t ADD COLUMN c INTEGER DEFAULT 0 CHECK (c > 0);",
                """
                2_b.sql:1: CHECK constraint failed (SQLite 1). Give the column a DEFAULT that satisfies its constraints. \
                [add-column]
                """
            ),
            (
                "ALTER TABLE t ADD COLUMN c TEXT DEFAULT (datetime('now'));",
                """
                2_b.sql:1: Cannot add a column with non-constant default (SQLite 1). Give the column a constant DEFAULT, or \
                rebuild the table. [add-column]
                """
            ),
        ])
    func constraints(sql: String, finding: String) throws {
        #expect(try ReviewedMigrations(sql, after: Self.table).findings == [finding])
    }

    @Test(
        "finds nothing if the file sees to it, or if another constraint is in the way",
        arguments: [
            "DELETE FROM t WHERE id NOT IN (SELECT min(id) FROM t GROUP BY a); CREATE UNIQUE INDEX i ON t(a);",
            "CREATE UNIQUE INDEX i ON t(id, a);",
            "CREATE UNIQUE INDEX i ON t(a) WHERE a IS NULL AND id < 0;",
            "ALTER TABLE t ADD COLUMN c; CREATE UNIQUE INDEX i ON t(c);",
            // The app's own rows may have this id only here.
            "INSERT INTO t(id, a) VALUES (1, 'first');",
            "CREATE TABLE u(id INTEGER PRIMARY KEY, a NOT NULL); INSERT INTO u SELECT id, ifnull(a, '') FROM t;",
            // The generator does not write JSON, and the app may.
            "UPDATE t SET a = json_set(a, '$.b', 1);",
        ])
    func harmless(sql: String) throws {
        #expect(try ReviewedMigrations(sql, after: Self.table).findings == [])
    }

    @Test("finds rows that are left without their parent")
    func orphans() throws {
        let first = """
            CREATE TABLE book(id INTEGER PRIMARY KEY, old INTEGER NOT NULL);
            CREATE TABLE note(id INTEGER PRIMARY KEY, book INTEGER NOT NULL REFERENCES book(id) ON DELETE CASCADE);
            CREATE INDEX note_book ON note(book);
            """
        let sql = "SELECT 1;\nDELETE FROM book WHERE id > 5;"
        let reviewed = try ReviewedMigrations(sql, after: first)
        #expect(reviewed.rules == ["2 orphans"])
        let reason = try #require(reviewed.review.findings.first?.reason)
        #expect(reason.hasPrefix("Over generated rows, it leaves "))
        #expect(
            reason.hasSuffix(
                """
                rows of table note whose book refer to no row of book. Delete these rows, or let them refer to a row that exists. Where a \
                DELETE leaves them, `-- migrations: foreign-keys=immediate` runs its ON DELETE.
                """))
        #expect(
            try ReviewedMigrations("-- migrations: foreign-keys=immediate\n\(sql)", after: first).findings
                == [])
    }

    @Test("generated rows repeat what they may, and hold nulls")
    func awkwardRows() throws {
        let review = try ReviewedMigrations(
            "CREATE UNIQUE INDEX i ON t(a); CREATE UNIQUE INDEX j ON t(b);",
            after: "CREATE TABLE t(a TEXT NOT NULL, b TEXT NOT NULL, PRIMARY KEY (a, b));")
        #expect(review.rules == ["1 new-unique"])
        let other = try ReviewedMigrations(
            "CREATE UNIQUE INDEX j ON t(b);",
            after: "CREATE TABLE t(a TEXT NOT NULL, b TEXT NOT NULL, PRIMARY KEY (a, b));")
        #expect(other.rules == ["1 new-unique"])
    }
}
