import MigrationTools
import Testing

@Suite("A review of a compatible migration", .timed)
struct CompatibilityTests {
    private static let library = """
        CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT NOT NULL UNIQUE, year INTEGER);
        CREATE TABLE loan(id INTEGER PRIMARY KEY, book INTEGER NOT NULL REFERENCES book ON DELETE CASCADE);
        CREATE VIEW recent AS SELECT title FROM book WHERE year > 2000;
        """

    private func problems(_ sql: String) throws -> [String] {
        try ReviewedMigrations("-- migrations: compatible\n\(sql)", after: Self.library).findings
            .filter { $0.hasSuffix("[not-compatible]") }
    }

    @Test(
        "accepts what only adds to the schema",
        arguments: [
            "ALTER TABLE book ADD COLUMN author TEXT",
            "ALTER TABLE book ADD COLUMN pages INTEGER NOT NULL DEFAULT 0",
            "ALTER TABLE book ADD COLUMN shelf INTEGER REFERENCES loan ON DELETE SET NULL",
            "CREATE INDEX book_year ON book(year)",
            "CREATE VIEW old AS SELECT title FROM book WHERE year < 2000",
            "CREATE TABLE shelf(id INTEGER PRIMARY KEY, label TEXT NOT NULL UNIQUE CHECK (label <> ''))",
            "CREATE TABLE tag(book INTEGER NOT NULL REFERENCES book ON DELETE CASCADE, word TEXT)",
            "CREATE TABLE tag(id INTEGER PRIMARY KEY, word TEXT); CREATE UNIQUE INDEX tag_word ON tag(word)",
            "CREATE VIRTUAL TABLE words USING fts5(text)",
        ])
    func compatible(sql: String) throws {
        #expect(try problems(sql) == [])
    }

    @Test("rejects a default that the column refuses, with which the migration fails over rows")
    func refusedDefault() throws {
        let review = try ReviewedMigrations(
            """
            -- migrations: compatible
            CREATE TABLE tag_new(id INTEGER PRIMARY KEY, word TEXT, mark BLOB DEFAULT (1 + 1)) STRICT;
            INSERT INTO tag_new(id, word) SELECT id, word FROM tag;
            DROP TABLE tag;
            ALTER TABLE tag_new RENAME TO tag;
            """, after: "CREATE TABLE tag(id INTEGER PRIMARY KEY, word TEXT) STRICT")
        let problem = review.findings.first { $0.hasSuffix("[not-compatible]") } ?? ""
        let reason = "fails: cannot store INT value in BLOB column tag.mark"
        #expect(problem.contains(reason), "\(review.findings)")
    }

    @Test(
        "rejects everything else",
        arguments: [
            ("DROP VIEW recent", "view `recent` is gone"),
            ("ALTER TABLE book RENAME TO volume", "table `book` is gone"),
            ("ALTER TABLE book RENAME COLUMN year TO published", "column `year` of table `book` is gone"),
            (
                "CREATE UNIQUE INDEX loan_book ON loan(book)",
                "index `loan_book` is unique, and refuses rows that an older app may write"
            ),
            (
                "CREATE INDEX book_json ON book(json_extract(title, '$.x'))",
                "index `book_json` has an expression, which may fail for a value of an older app"
            ),
            (
                "CREATE TRIGGER t AFTER INSERT ON book BEGIN SELECT 1; END",
                "trigger `t` is new, and acts on what an older app writes"
            ),
            (
                "CREATE TABLE tag(id INTEGER PRIMARY KEY, book INTEGER REFERENCES book)",
                """
                foreign key `book` of table `tag` keeps an older app from deleting rows of table `book`: it needs ON DELETE \
                CASCADE or SET NULL
                """
            ),
            (
                "ALTER TABLE book ADD COLUMN mood TEXT CHECK (mood <> '')",
                "column `mood` of table `book` has a constraint, which may refuse rows of an older app"
            ),
            (
                "ALTER TABLE book ADD COLUMN rowid TEXT", "column `rowid` of table `book` hides the row's id"
            ),
            (
                "ALTER TABLE book ADD COLUMN size INTEGER AS (length(title))",
                "column `size` of table `book` is generated, and its expression may fail for a value of an older app"
            ),
            ("PRAGMA user_version = 3", "PRAGMA user_version is another"),
            ("UPDATE book SET year = 1", "it changes the rows of table `book`"),
            ("INSERT INTO book(title) VALUES ('Emma')", "it changes the rows of table `book`"),
        ])
    func incompatible(sql: String, problem: String) throws {
        let found = try problems(sql)
        let reason = "An app that does not know this migration cannot use the database: \(problem)."
        #expect(found.contains { $0.contains(reason) }, "\(found)")
    }

    @Test(
        "rejects what an older app loses where its rows replace others, by whichever constraint",
        arguments: [
            "id INTEGER PRIMARY KEY ON CONFLICT REPLACE, isbn TEXT",
            "id INTEGER PRIMARY KEY, isbn TEXT CONSTRAINT once UNIQUE ON CONFLICT REPLACE",
            "id INTEGER PRIMARY KEY, isbn TEXT, UNIQUE (isbn) ON CONFLICT REPLACE",
        ])
    func replaced(columns: String) throws {
        let review = try ReviewedMigrations(
            """
            -- migrations: compatible
            ALTER TABLE book ADD COLUMN rating INTEGER;
            CREATE TABLE tag(book INTEGER REFERENCES book ON DELETE CASCADE, word TEXT);
            """, after: "CREATE TABLE book(\(columns))")
        let found = review.findings.filter { $0.hasSuffix("[not-compatible]") }
        for part in [
            "column `rating` of table `book` loses its value where an older app replaces the row",
            "foreign key `book` of table `tag` loses rows, or what they refer to",
        ] {
            #expect(found.contains { $0.contains(part) }, "\(review.findings)")
        }
    }

    @Test(
        "says that columns are in another order only of those that are left",
        arguments: ["RENAME COLUMN year TO published", "DROP COLUMN year"])
    func order(change: String) throws {
        let review = try ReviewedMigrations(
            "-- migrations: compatible\nALTER TABLE book \(change)",
            after: "CREATE TABLE book(id INTEGER PRIMARY KEY, year INTEGER, title TEXT)")
        let found = review.findings.filter { $0.hasSuffix("[not-compatible]") }
        #expect(found.count == 1 && found[0].contains("column `year` of table `book` is gone"), "\(found)")
    }

    @Test("accepts additions to a table that gives nulls a default")
    func replacedNulls() throws {
        let review = try ReviewedMigrations(
            "-- migrations: compatible\nALTER TABLE book ADD COLUMN rating INTEGER",
            after: """
                CREATE TABLE book(
                    id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (hex(randomblob(16))), isbn TEXT UNIQUE)
                """)
        #expect(review.findings.filter { $0.hasSuffix("[not-compatible]") } == [])
    }

    @Test("believes nothing about rows that a table without its NOT NULL default would refuse")
    func rebuilt() throws {
        let found = try problems(
            """
            CREATE TABLE new(id INTEGER PRIMARY KEY, title TEXT NOT NULL UNIQUE, year INTEGER, isbn TEXT NOT NULL);
            INSERT INTO new SELECT id, title, year, '' FROM book;
            DROP VIEW recent; DROP TABLE book; ALTER TABLE new RENAME TO book;
            CREATE VIEW recent AS SELECT title FROM book WHERE year > 2000;
            """)
        #expect(
            found.contains {
                $0.contains(
                    "column `isbn` of table `book` is NOT NULL and has no default, so an older app cannot")
            })
    }
}
