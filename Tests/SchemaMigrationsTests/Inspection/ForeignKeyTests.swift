import AppMigrations
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("Foreign keys", .timed)
struct ForeignKeyTests {
    let folder: TemporaryFolder
    let queue: DatabaseQueue

    private static let tables = """
        CREATE TABLE author(id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE book(
            id INTEGER PRIMARY KEY, author_id INTEGER NOT NULL REFERENCES author(id) ON DELETE CASCADE
        );
        INSERT INTO author VALUES (1, 'A'), (2, 'B');
        INSERT INTO book VALUES (1, 1), (2, 1), (3, 2);
        """

    /// The steps that SQLite's documentation of ALTER TABLE recommends.
    private static let rebuild = """
        CREATE TABLE new_author(id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT '');
        INSERT INTO new_author SELECT id, name FROM author;
        DROP TABLE author;
        ALTER TABLE new_author RENAME TO author;
        """

    init() throws {
        folder = try TemporaryFolder()
        queue = try folder.queue()
    }

    @discardableResult
    private func migrate(_ files: [String: String]) throws -> [SchemaVersion] {
        try folder.migrator(files.merging(["1_tables.sql": Self.tables]) { given, _ in given }).migrate(queue)
            .applied
    }

    private func expectFailure(_ files: [String: String]) throws -> MigrationError {
        try #require(throws: MigrationError.self) { try migrate(files) }
    }

    private func addOldOrphan() throws {
        try queue.execute(
            "PRAGMA foreign_keys = OFF; INSERT INTO book VALUES (9, 99); PRAGMA foreign_keys = ON;")
    }

    @Test(
        "keep the children of a rebuilt parent table",
        arguments: [
            rebuild,
            "-- migrations: foreign-keys=deferred\n\(rebuild)",
            "-- migrations: foreign-keys=unchecked\n\(rebuild)",
            "PRAGMA foreign_keys = OFF;\n\(rebuild)\nPRAGMA foreign_keys = ON;",
            "PRAGMA foreign_keys = 0;\n\(rebuild)",
            "\(rebuild)\nPRAGMA foreign_keys = ON;",
            "-- migrations: foreign-keys=deferred\nPRAGMA foreign_keys = ON;\n\(rebuild)",
            "CREATE TABLE x(a);\nPRAGMA foreign_keys = ON;\n\(rebuild)\nPRAGMA foreign_keys = OFF;\nDROP TABLE x;",
        ], [false, true])
    func rebuilt(sql: String, atOnce: Bool) throws {
        if !atOnce { #expect(try migrate([:]) == [1]) }
        #expect(try migrate(["2_rebuild.sql": sql]) == (atOnce ? [1, 2] : [2]))
        #expect(try queue.integers("SELECT id FROM book ORDER BY id") == [1, 2, 3])
        #expect(try queue.strings("SELECT name FROM author ORDER BY id") == ["A", "B"])
        #expect(try queue.strings("SELECT \"notnull\" FROM pragma_table_info('author')") == ["0", "1"])
        #expect(try queue.integer("PRAGMA foreign_keys") == 1)
        #expect(try queue.strings("SELECT \"table\" FROM pragma_foreign_key_list('book')") == ["author"])
    }

    @Test("keep the children of a parent table that is rebuilt in Swift")
    func rebuiltInSwift() throws {
        try migrate([:])
        let schema = try SchemaMigrator(migrations: [
            CodeMigration(1, sql: ""), CodeMigration(2, sql: Self.rebuild),
        ])
        #expect(try schema.migrate(queue).applied == [2])
        #expect(try queue.integer("SELECT count(*) FROM book") == 3)
    }

    @Test(
        "cascade if a file requests it",
        arguments: [
            "-- migrations: foreign-keys=immediate\nDELETE FROM author WHERE id = 1;",
            "PRAGMA foreign_keys = ON;\nDELETE FROM author WHERE id = 1;",
        ])
    func cascade(sql: String) throws {
        #expect(try migrate(["2_delete.sql": sql]) == [1, 2])
        #expect(try queue.integers("SELECT id FROM book") == [3])
    }

    @Test("do not cascade in a file that asks for them after its first statement, which is told")
    func noCascade() throws {
        let error = try expectFailure([
            "2_delete.sql":
                "SELECT 1;\nPRAGMA foreign_keys = ON;\nDELETE FROM author WHERE id = 1;\nSELECT 2;"
        ])
        #expect(
            error.message
                == "2_delete.sql: leaves 2 rows of table book whose author_id refer to no row of author.")
        #expect(try queue.integers("SELECT id FROM book") == [1, 2, 3])
    }

    @Test("are checked in tables whose names look the same")
    func composedNames() throws {
        let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
        #expect(try migrate([:]) == [1])
        try queue.write { db in
            for table in [composed, decomposed] {
                try db.execute(sql: "CREATE TABLE \(table)(author_id REFERENCES author(id))")
            }
        }
        let error = try expectFailure([
            "2_rows.sql":
                "INSERT INTO \(composed) VALUES (1); INSERT INTO \(decomposed) VALUES (99);"
        ])
        #expect(
            error.message
                == "2_rows.sql: leaves 1 row of table \(decomposed) whose author_id refers to no row of author."
        )
    }

    @Test("that are immediate name the failing statement")
    func enforced() throws {
        let error = try expectFailure([
            "2_orphan.sql":
                "-- migrations: foreign-keys=immediate\nSELECT 1;\nINSERT INTO book VALUES (4, 9);"
        ])
        #expect(error.message == "2_orphan.sql:3: FOREIGN KEY constraint failed (SQLite 787).")
        #expect(error.committed == [1])
    }

    private static let remedy = """
        Keep the rows that others refer to, or delete the rows that refer to them. It was rolled back. Fix it \
        and migrate again.
        """

    @Test("that a migration breaks name it, and earlier migrations stay")
    func orphans() throws {
        let error = try expectFailure([
            "2_a.sql": "CREATE TABLE a(x);",
            "3_delete.sql": "CREATE TABLE b(x); DELETE FROM author WHERE id = 1;",
            "4_c.sql": "CREATE TABLE c(x);",
        ])
        #expect(error.code == .stepFailed)
        #expect(
            error.description
                == "3_delete.sql: leaves 2 rows of table book whose author_id refer to no row of author. \(Self.remedy)"
        )
        #expect(error.file == "3_delete.sql")
        #expect(error.schemaVersion == 3)
        #expect(error.committed == [1, 2])
        #expect(try queue.tables() == ["a", "author", "book"])
        #expect(try queue.ledger() == [1, 2])
        #expect(try queue.integer("SELECT count(*) FROM author") == 2)
        #expect(try queue.integer("PRAGMA foreign_keys") == 1)

        #expect(try migrate(["3_delete.sql": "DELETE FROM book; DELETE FROM author;"]) == [3, 4])
    }

    @Test(
        "that a migration breaks are described",
        arguments: [
            (
                "INSERT INTO book VALUES (4, 9);",
                "1 row of table book whose author_id refers to no row of author"
            ),
            (
                """
                CREATE TABLE pair(a, b, PRIMARY KEY (a, b));
                CREATE TABLE use(x, y, FOREIGN KEY (x, y) REFERENCES pair(a, b));
                INSERT INTO use VALUES (1, 2), (1, NULL);
                """, "1 row of table use whose x, y refers to no row of pair"
            ),
        ])
    func descriptions(sql: String, violation: String) throws {
        let error = try expectFailure(["2_x.sql": sql])
        #expect(error.description == "2_x.sql: leaves \(violation). \(Self.remedy)")
        #expect(try queue.ledger() == [1])
    }

    @Test("whose table is gone may be right: a rename may have taken the keys along")
    func missingTable() throws {
        let error = try expectFailure(["2_x.sql": "ALTER TABLE author RENAME TO old; DROP TABLE old;"])
        #expect(
            error.description == """
                2_x.sql: leaves 3 rows of table book whose author_id refer to no row of old, which does not exist. The rows may \
                be right: rebuild book, so that it refers to the table that has taken the place of old, or to none. It was \
                rolled back. Fix it and migrate again.
                """)
        #expect(try queue.ledger() == [1])
    }

    @Test(
        "that SQLite cannot check are described",
        arguments: [
            "CREATE TABLE p(a);", "CREATE TABLE p(a TEXT); CREATE UNIQUE INDEX i ON p(a COLLATE NOCASE);",
            "CREATE TABLE p(a PRIMARY KEY COLLATE RTRIM, b); DROP TABLE p; CREATE TABLE p(a, b, UNIQUE (a, b));",
            "CREATE TABLE p(a); CREATE UNIQUE INDEX i ON p(a) WHERE a > 1;",
            "CREATE TABLE p(a); CREATE UNIQUE INDEX i ON p(a || '');",
            "CREATE TABLE p(a, PRIMARY KEY (a COLLATE NOCASE));",
        ])
    func mismatch(parent: String) throws {
        let error = try expectFailure([
            "2_x.sql": "\(parent) CREATE TABLE c(a REFERENCES p(a)); INSERT INTO c VALUES (1);"
        ])
        #expect(
            error.description == """
                2_x.sql: leaves a foreign key of table c broken: foreign key mismatch - "c" referencing "p". Make \
                the foreign key refer to columns that are unique together. It was rolled back. Fix it and migrate again.
                """)
    }

    @Test("declared as deferred name the migration that breaks them, even in immediate mode")
    func deferred() throws {
        let error = try expectFailure([
            "2_a.sql": "-- migrations: foreign-keys=immediate\nCREATE TABLE a(x);",
            "3_defer.sql": """
            -- migrations: foreign-keys=immediate
            CREATE TABLE c(x REFERENCES author(id) DEFERRABLE INITIALLY DEFERRED);
            INSERT INTO c VALUES (7);
            """,
        ])
        #expect(error.code == .stepFailed)
        #expect(error.message == "3_defer.sql: leaves 1 row of table c whose x refers to no row of author.")
        #expect(error.committed == [1, 2])
        #expect(try queue.tables() == ["a", "author", "book"])
    }

    @Test("are not checked if a file requests it")
    func unchecked() throws {
        #expect(
            try migrate(["2_x.sql": "-- migrations: foreign-keys=unchecked\nDELETE FROM author;"]) == [1, 2])
        #expect(try queue.integer("SELECT count(*) FROM book") == 3)
    }

    @Test("are not checked if a later file fails")
    func uncheckedBeforeRollback() throws {
        try migrate([:])
        let error = try expectFailure([
            "2_x.sql":
                "-- migrations: foreign-keys=unchecked\nDELETE FROM author; CREATE UNIQUE INDEX i ON book(id);",
            "3_y.sql": "-- migrations: foreign-keys=unchecked\nINSERT OR ROLLBACK INTO book VALUES (1, 1);",
        ])
        #expect(error.message == "3_y.sql:2: UNIQUE constraint failed: book.id (SQLite 1555).")
        #expect(error.committed == [2])
        #expect(try queue.ledger() == [1, 2])
    }

    @Test("that were already broken do not stop the migration")
    func oldOrphan() throws {
        try migrate([:])
        try addOldOrphan()
        #expect(try migrate(["2_a.sql": "CREATE TABLE a(x);", "3_rebuild.sql": Self.rebuild]) == [2, 3])
        #expect(try queue.integer("SELECT count(*) FROM book") == 4)
        #expect(try queue.ledger() == [1, 2, 3])
    }

    @Test("that were already broken do not hide newly broken ones")
    func oldAndNewOrphan() throws {
        try migrate([:])
        try addOldOrphan()
        let error = try expectFailure([
            "2_a.sql": "CREATE TABLE a(x);", "3_x.sql": "INSERT INTO book VALUES (4, 98);",
        ])
        #expect(
            error.message == "3_x.sql: leaves 1 row of table book whose author_id refers to no row of author."
        )
        #expect(error.committed == [2])
        #expect(try queue.tables() == ["a", "author", "book"])
    }

    @Test("that were already broken do not matter if a file fails, and earlier files stay")
    func oldOrphanAndFailure() throws {
        try migrate([:])
        try addOldOrphan()
        let error = try expectFailure(["2_a.sql": "CREATE TABLE a(x);", "3_x.sql": "SELECT nonsense;"])
        #expect(error.message == "3_x.sql:1: no such column: nonsense (SQLite 1).")
        #expect(error.committed == [2])
        #expect(try queue.ledger() == [1, 2])
    }

    @Test("are checked in an app that does not enforce them, and stay disabled")
    func appWithout() throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let queue = try folder.queue("off.sqlite", configuration)
        let schema = try folder.migrator([
            "1_tables.sql": Self.tables, "2_rebuild.sql": Self.rebuild,
            "3_delete.sql": "DELETE FROM author WHERE id = 1;",
        ])
        let error = try failure { try schema.migrate(queue) }
        #expect(
            error.message
                == "3_delete.sql: leaves 2 rows of table book whose author_id refer to no row of author.")
        #expect(error.committed == [1, 2])
        #expect(try queue.integer("PRAGMA foreign_keys") == 0)
        #expect(try queue.integers("SELECT id FROM author ORDER BY id") == [1, 2])
        #expect(try queue.integer("SELECT count(*) FROM book") == 3)
    }
}
