import AppMigrations
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A database of 200,000 rows", .timed)
struct LargeDatabaseTests {
    private static let counts: [String: Int64] = [
        "author": 1_000, "book": 19_000, "loan": 150_000, "note": 30_000,
    ]

    private func rows(_ count: Int64) -> String {
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))"
    }

    private func makeDatabase(_ folder: TemporaryFolder) throws -> DatabaseQueue {
        let queue = try folder.queue()
        try queue.execute(
            """
            CREATE TABLE author(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            CREATE TABLE book(
                id INTEGER PRIMARY KEY, author_id INTEGER NOT NULL REFERENCES author(id) ON DELETE CASCADE, title TEXT
            );
            CREATE TABLE loan(
                id INTEGER PRIMARY KEY, book_id INTEGER NOT NULL REFERENCES book(id) ON DELETE CASCADE, day INTEGER
            );
            CREATE TABLE note(
                id INTEGER PRIMARY KEY, book_id INTEGER REFERENCES book(id) ON DELETE SET NULL,
                loan_id INTEGER REFERENCES loan(id) ON DELETE CASCADE, text TEXT
            );
            CREATE INDEX loan_book ON loan(book_id);
            BEGIN;
            \(rows(1_000)) INSERT INTO author SELECT i, 'Author ' || i FROM n;
            \(rows(19_000)) INSERT INTO book SELECT i, i % 1000 + 1, 'Title ' || i FROM n;
            \(rows(150_000)) INSERT INTO loan SELECT i, i % 19000 + 1, i % 365 FROM n;
            \(rows(30_000)) INSERT INTO note SELECT i, i % 19000 + 1, i * 5, 'Note ' || i FROM n;
            COMMIT;
            """)
        return queue
    }

    private func counts(_ queue: DatabaseQueue) throws -> [String: Int64] {
        try Self.counts.keys.reduce(into: [:]) { $0[$1] = try queue.integer("SELECT count(*) FROM \($1)") }
    }

    private static let files = [
        "2_rebuild_author.sql": """
        CREATE TABLE new_author(id INTEGER PRIMARY KEY, name TEXT NOT NULL, born INTEGER);
        INSERT INTO new_author(id, name) SELECT id, name FROM author;
        DROP TABLE author;
        ALTER TABLE new_author RENAME TO author;
        """,
        "3_rebuild_book.sql": """
        PRAGMA foreign_keys = OFF;
        CREATE TABLE new_book(
            id INTEGER PRIMARY KEY, title TEXT NOT NULL DEFAULT '',
            author_id INTEGER NOT NULL REFERENCES author(id) ON DELETE CASCADE
        );
        INSERT INTO new_book SELECT id, title, author_id FROM book;
        DROP TABLE book;
        ALTER TABLE new_book RENAME TO book;
        PRAGMA foreign_keys = ON;
        """,
        "4_rebuild_loan.sql": """
        CREATE TABLE new_loan(
            id INTEGER PRIMARY KEY, day INTEGER, book_id INTEGER NOT NULL REFERENCES book(id) ON DELETE CASCADE
        );
        INSERT INTO new_loan SELECT id, day, book_id FROM loan;
        DROP TABLE loan;
        ALTER TABLE new_loan RENAME TO loan;
        CREATE INDEX loan_book ON loan(book_id);
        """, "5_late.sql": "ALTER TABLE note ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;",
        "6_vacuum.sql": "-- migrations: transaction=none\nVACUUM;",
    ]

    @Test("keeps every row of every table while parent and child tables are rebuilt")
    func upgrade() throws {
        let folder = try TemporaryFolder()
        let queue = try makeDatabase(folder)
        #expect(try counts(queue) == Self.counts)
        let digests = [
            "SELECT sum(id * length(name)) FROM author",
            "SELECT sum(id * author_id + length(title)) FROM book",
            "SELECT sum(id * book_id + day) FROM loan",
            "SELECT sum(id * book_id + loan_id + length(text)) FROM note",
        ]
        let before = try digests.map(queue.integer)

        let schema = try folder.migrator(
            Self.files.merging(["1_tables.sql": "-- Made by an earlier version."]) { $1 },
            adopting: SchemaAdoption { _ in 1 })
        let report = try schema.migrate(queue)
        #expect(report.applied == [2, 3, 4, 5, 6])
        #expect(report.warnings == [])
        #expect(try counts(queue) == Self.counts)
        #expect(try digests.map(queue.integer) == before)
        #expect(try queue.strings("SELECT \"table\" FROM pragma_foreign_key_check") == [])
        #expect(try queue.strings("PRAGMA integrity_check") == ["ok"])
        #expect(try queue.integer("PRAGMA foreign_keys") == 1)
    }

    @Test("keeps every row if a migration that leaves orphans fails, and the migration is named")
    func orphans() throws {
        let folder = try TemporaryFolder()
        let queue = try makeDatabase(folder)
        var files = Self.files
        files["1_tables.sql"] = "-- Made by an earlier version."
        files["4_rebuild_loan.sql"] = "DELETE FROM book WHERE id <= 10;"
        let error = try failure {
            try folder.migrator(files, adopting: SchemaAdoption { _ in 1 }).migrate(queue)
        }
        #expect(
            error.message
                == "4_rebuild_loan.sql: leaves 19 rows of table note whose book_id refer to no row of book.")
        #expect(error.committed == [2, 3])
        #expect(try counts(queue) == Self.counts)
    }
}
