import Foundation
import TestSupport
import Testing

@testable import MigrationTools

@Suite("A review of views and foreign keys", .timed)
struct ViewAndKeyTests {
    private static let view = """
        CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT);
        CREATE VIEW v AS SELECT id, a FROM t;
        """

    @Test("says which view stops a rename, and how to do it")
    func stoppedRename() throws {
        let sql = """
            CREATE TABLE u(id INTEGER PRIMARY KEY, a TEXT, b);
            INSERT INTO u(id, a) SELECT id, a FROM t;
            DROP TABLE t;
            ALTER TABLE u RENAME TO t;
            """
        #expect(
            try ReviewedMigrations(sql, after: Self.view).findings == [
                """
                2_b.sql:4: Error in view v: no such table: main.t (SQLite 1). Drop it before the table, and create it \
                again after the rename. [rename-fails]
                """
            ])
        let fixed = "DROP VIEW v;\n\(sql)\nCREATE VIEW v AS SELECT id, a FROM t;"
        #expect(try ReviewedMigrations(fixed, after: Self.view).findings == [])
    }

    @Test("finds a view whose column a rename renames")
    func viewColumn() throws {
        let sql = "-- allow: renamed-column\nALTER TABLE t RENAME COLUMN a TO title;"
        #expect(
            try ReviewedMigrations(sql, after: Self.view).findings == [
                """
                2_b.sql:2: Renaming column `a` of table `t` renames column `a` of view `v` as well: queries that name it \
                fail. Name the view's columns: CREATE VIEW name(column, …) AS …. [renamed-view-column]
                """
            ])
        let named =
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT); CREATE VIEW v(id, a) AS SELECT id, a FROM t;"
        #expect(try ReviewedMigrations(sql, after: named).findings == [])
        let again = "DROP VIEW v;\n\(sql)\nCREATE VIEW v AS SELECT id, title FROM t;"
        #expect(try ReviewedMigrations(again, after: Self.view).findings == [])
    }

    @Test("finds a trigger that goes with a view that is made again")
    func viewTrigger() throws {
        let first = """
            \(Self.view)
            CREATE TRIGGER v_added INSTEAD OF INSERT ON v BEGIN INSERT INTO t(a) VALUES (new.a); END;
            """
        let sql = "DROP VIEW v;\nCREATE VIEW v AS SELECT id, a, 1 FROM t;"
        #expect(
            try ReviewedMigrations(sql, after: first).findings == [
                """
                2_b.sql:1: Creating view `v` again loses trigger `v_added`, which goes with the old one. Create the trigger \
                again at the end of the file. [lost-trigger]
                """
            ])
    }

    @Test("finds a foreign key without an index, where it is declared")
    func unindexed() throws {
        let reviewed = try ReviewedMigrations([
            "1_a.sql":
                "CREATE TABLE book(id INTEGER PRIMARY KEY);\nCREATE TABLE note(id INTEGER PRIMARY KEY);",
            "2_b.sql": "SELECT 1;\nALTER TABLE note ADD COLUMN book INTEGER REFERENCES book(id);",
            "3_c.sql": "CREATE TABLE tag(x);",
        ])
        #expect(
            reviewed.findings == [
                """
                2_b.sql:2: No index serves foreign key (book) of table `note`: deleting a row of `book` reads the whole \
                table. Add CREATE INDEX note_book ON note(book). [unindexed-foreign-key]
                """
            ])
    }

    @Test(
        "accepts every index that serves a foreign key, in any file",
        arguments: [
            "CREATE INDEX i ON note(book, x)",
            "CREATE UNIQUE INDEX i ON note(book) WHERE false; CREATE INDEX j ON note(book)",
            "-- allow: unindexed-foreign-key\nSELECT 1",
        ])
    func indexed(sql: String) throws {
        let isAllowed = sql.hasPrefix("--")
        let allow = isAllowed ? "-- allow: unindexed-foreign-key\n" : ""
        let reviewed = try ReviewedMigrations([
            "1_a.sql":
                "CREATE TABLE book(id INTEGER PRIMARY KEY);\n\(allow)CREATE TABLE note(x, book INTEGER REFERENCES book(id));",
            "2_b.sql": "\(sql);",
        ])
        #expect(reviewed.findings == [])
    }

    @Test(
        "accepts keys that serve a foreign key",
        arguments: [
            "CREATE TABLE note(book INTEGER PRIMARY KEY REFERENCES book(id));",
            "CREATE TABLE note(book INTEGER REFERENCES book(id), x, PRIMARY KEY (book, x)) WITHOUT ROWID;",
            "CREATE TABLE note(a UNIQUE, b, FOREIGN KEY (a, b) REFERENCES pair(a, b));",
            "CREATE TABLE note(a, b, FOREIGN KEY (a, b) REFERENCES pair(a, b), UNIQUE (b, a));",
        ])
    func keys(sql: String) throws {
        let first = "CREATE TABLE book(id INTEGER PRIMARY KEY); CREATE TABLE pair(a, b, PRIMARY KEY (a, b));"
        #expect(try ReviewedMigrations(sql, after: first).findings == [])
    }
}
