import GRDB
import SchemaMigrations

/// The migrations of the app's database, and what version 1.0 of the app has left in it.
enum Schema {
    static let migrations = statements.enumerated().map { index, sql in
        SQLMigration(version: SchemaVersion(index + 1), name: "m\(index + 1)", sql: sql)
    }

    /// The migrations' SQL.
    static let statements = [
        """
        CREATE TABLE author(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE book(
            id INTEGER PRIMARY KEY, title TEXT NOT NULL,
            author INTEGER NOT NULL REFERENCES author(id) ON DELETE CASCADE);
        CREATE TABLE effect(version TEXT NOT NULL);
        """,
        "ALTER TABLE book ADD COLUMN year INTEGER; UPDATE book SET year = 1900 + id;",
        // With foreign keys on, the books would go with their authors.
        """
        CREATE TABLE new_author(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, born INTEGER);
        INSERT INTO new_author(id, name) SELECT id, name FROM author;
        DROP TABLE author;
        ALTER TABLE new_author RENAME TO author;
        """,
        "CREATE INDEX book_author ON book(author);",
        """
        CREATE TABLE tag(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        INSERT INTO tag(name) VALUES ('novel'), ('poem'), ('play');
        """,
        """
        CREATE TABLE book_tag(
            book INTEGER NOT NULL REFERENCES book(id), tag INTEGER NOT NULL REFERENCES tag(id),
            PRIMARY KEY (book, tag)) WITHOUT ROWID;
        INSERT INTO book_tag SELECT id, 1 + id % 3 FROM book;
        """,
        "CREATE VIEW recent AS SELECT title FROM book WHERE year > 1910;",
        """
        -- migrations: foreign-keys=deferred
        CREATE TABLE new_book(
            id INTEGER PRIMARY KEY, title TEXT NOT NULL, year INTEGER, note TEXT,
            author INTEGER NOT NULL REFERENCES author(id) ON DELETE CASCADE);
        DROP VIEW recent;
        INSERT INTO new_book SELECT id, title, year, 'first', author FROM book;
        DROP TABLE book;
        ALTER TABLE new_book RENAME TO book;
        CREATE INDEX book_author ON book(author);
        """,
        "CREATE TRIGGER tagged AFTER INSERT ON tag BEGIN UPDATE book SET note = NEW.name; END;",
        "INSERT INTO tag(name) VALUES ('letter'); DELETE FROM book_tag WHERE book = 3;",
    ]

    /// The migrations of a scenario's launch, of which the last one may redefine a table.
    static func migrations(for scenario: Scenario) -> [any SchemaMigration] {
        guard scenario.start == .redefined else { return migrations }
        let last = CodeMigration(SchemaVersion(statements.count), "m\(statements.count)") { db in
            try db.execute(sql: statements[statements.count - 1] + addedColumn)
            guard try db.redefine(table: "book", as: book, editing: true) == .edited else {
                throw DatabaseError(message: "book was not edited")
            }
        }
        return migrations.dropLast() + [last]
    }

    /// Rows do not have the column, and show its default.
    private static let addedColumn = "ALTER TABLE book ADD COLUMN place TEXT DEFAULT 'shelf';"

    private static let book = """
        CREATE TABLE book(
            id INTEGER PRIMARY KEY, title TEXT NOT NULL CHECK (title <> ''), year INTEGER NOT NULL, note TEXT,
            author INTEGER REFERENCES author(id) ON DELETE SET NULL, place TEXT NOT NULL DEFAULT 'box')
        """

    /// Does the same without redefining the table.
    static let rebuiltBook = """
        CREATE TEMP TABLE copy AS SELECT * FROM book;
        DROP TABLE book;
        \(book);
        INSERT INTO book SELECT *, 'shelf' FROM copy;
        DROP TABLE copy;
        CREATE INDEX book_author ON book(author);
        """

    /// The migrations of another branch, which an app that does not know them undoes.
    static let branch = branchStatements.enumerated().map { index, sql in
        SQLMigration(version: SchemaVersion(index + 101), name: "b\(index)", sql: sql.up, down: sql.down)
    }

    /// The versions of the branch's migrations.
    static let branchVersions = [101, 102]

    static let branchStatements = [
        (
            up: "CREATE TABLE shelf(id INTEGER PRIMARY KEY); INSERT INTO shelf(id) SELECT id FROM book;",
            down: "DROP TABLE shelf;"
        ),
        (
            up: """
            ALTER TABLE book ADD COLUMN shelf INTEGER;
            UPDATE book SET shelf = id;
            UPDATE author SET name = upper(name);
            """,
            down: """
            UPDATE author SET name = substr(name, 1, 1) || lower(substr(name, 2));
            ALTER TABLE book DROP COLUMN shelf;
            """
        ),
    ]

    /// The migrations that rebuild a table to which another one refers with `ON DELETE CASCADE`.
    static let rebuilds = [3]

    /// Deletes an author with a book, and returns true if the book stays.
    static func keepsBook(ofDeletedAuthor db: Database) throws -> Bool {
        try db.execute(
            sql: """
                INSERT INTO author(id, name) VALUES (1000, 'Di');
                INSERT INTO book(id, title, author) VALUES (1000, 'Gone', 1000);
                DELETE FROM author WHERE id = 1000;
                """)
        return try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM book WHERE id = 1000)") ?? false
    }

    /// The rows of the users of version 1.0.
    static let rows = """
        INSERT INTO author(id, name) VALUES (1, 'Ada'), (2, 'Bo'), (3, 'Cy');
        INSERT INTO book(title, author)
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
        SELECT 'Book ' || i || hex(zeroblob(50)), 1 + i % 3 FROM n;
        """
}
