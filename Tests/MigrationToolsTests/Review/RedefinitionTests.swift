import MigrationTools
import Testing

@Suite("A review of a redefinition", .timed)
struct RedefinitionTests {
    private static let first = """
        CREATE TABLE book(id INTEGER PRIMARY KEY);
        CREATE TABLE note(id INTEGER PRIMARY KEY, book INTEGER, text TEXT);
        CREATE INDEX note_book ON note(book);
        CREATE TRIGGER note_added AFTER INSERT ON note BEGIN SELECT 1; END;
        """

    private func reviewed(_ columns: String, after first: String = Self.first) throws -> ReviewedMigrations {
        try ReviewedMigrations(
            "-- migrations: redefine\n\nCREATE TABLE note(id INTEGER PRIMARY KEY, \(columns));", after: first)
    }

    @Test("finds nothing if rows cannot break it, and does not take the table for a new one")
    func harmless() throws {
        let reviewed = try reviewed("book INTEGER DEFAULT 1, text TEXT CHECK (1)")
        #expect(reviewed.allFindings == [])
        #expect(reviewed.review.notRun == [])
    }

    @Test(
        "finds the constraints that rows may break",
        arguments: [
            ("book INTEGER, text TEXT NOT NULL", "column text is NULL in ", "new-not-null"),
            ("book INTEGER, text TEXT CHECK (text > 'z')", "CHECK (text > 'z') fails in ", "new-check"),
            (
                "book INTEGER REFERENCES book(id), text TEXT",
                "foreign key book → book(id) refers to no row in ", "orphans"
            ),
        ])
    func misfits(columns: String, problem: String, rule: String) throws {
        let findings = try reviewed(columns).allFindings
        #expect(findings.count == 1)
        let start =
            "2_b.sql:3: Over generated rows: The rows of table note break its new definition: \(problem)"
        #expect(findings.first?.hasPrefix(start) == true, "\(findings)")
        #expect(findings.first?.hasSuffix(" [\(rule)]") == true, "\(findings)")
    }

    @Test("finds what it loses beside what it adds, and takes a single loss for intended")
    func lost() throws {
        let first = "CREATE TABLE note(id INTEGER PRIMARY KEY, book INTEGER NOT NULL, text TEXT DEFAULT 'x');"
        #expect(try reviewed("book INTEGER, text TEXT DEFAULT 'x'", after: first).allFindings == [])
        #expect(try reviewed("book INTEGER NOT NULL, text TEXT", after: first).allFindings == [])
        #expect(
            try reviewed("book INTEGER, text TEXT", after: first).allFindings == [
                """
                2_b.sql:3: Redefining table `note` loses the DEFAULT of column `text`. Declare `text` with DEFAULT 'x' in \
                the new table. [lost-default]
                """,
                """
                2_b.sql:3: Redefining table `note` loses the NOT NULL of column `book`. Declare `book` NOT NULL in the new \
                table. [lost-not-null]
                """,
            ])
    }

    @Test("reports one that cannot be, and a statement that does not belong there")
    func refused() throws {
        let renamed = try reviewed("book INTEGER, body TEXT").allFindings
        #expect(renamed.count == 1)
        #expect(
            renamed.first?.hasPrefix("2_b.sql:3: Table note would have a column body in place of text.")
                == true,
            "\(renamed)")
        #expect(renamed.first?.hasSuffix(" [does-not-apply]") == true, "\(renamed)")
        let refused = try reviewed("book INTEGER, text TEXT); INSERT INTO note(id) VALUES (1").allFindings
        #expect(
            refused == [
                "2_b.sql:3: INSERT is not allowed in a file that redefines tables. [refused-statement]"
            ])
    }

    /// Rebuilds the table `note`.
    private func rebuild(_ columns: String, copying values: String = "id, book, text") throws -> [String] {
        try ReviewedMigrations(
            """
            CREATE TABLE note_new(id INTEGER PRIMARY KEY, \(columns));
            INSERT INTO note_new(id, book, text) SELECT \(values) FROM note;
            DROP TABLE note;
            ALTER TABLE note_new RENAME TO note;
            CREATE INDEX note_book ON note(book);
            """, after: Self.first.replacing(#/CREATE TRIGGER.*/#, with: "")
        ).allFindings
    }

    @Test(
        "is what check asks for in the place of a rebuild that changes constraints alone",
        arguments: [
            ("book INTEGER, text TEXT CHECK (text IS NOT 5)", "id, book, text"),
            ("book INTEGER DEFAULT 7, text TEXT", "id, book, text"),
        ])
    func needless(columns: String, values: String) throws {
        #expect(
            try rebuild(columns, copying: values) == [
                """
                2_b.sql:1: Rebuilding table `note` changes constraints alone, and copies every row. Put the new CREATE \
                TABLE into a file that begins with `-- migrations: redefine`: it copies no row. [needless-rebuild]
                """
            ])
    }

    @Test("follows an UPDATE where a rebuild fills columns that become NOT NULL")
    func needlessFilling() throws {
        #expect(
            try rebuild("book INTEGER, text TEXT NOT NULL", copying: "id, book, coalesce(text, '')") == [
                """
                2_b.sql:1: Rebuilding table `note` changes constraints and fills column `text`, and copies every row. \
                Fill it by an UPDATE in one file, and put the new CREATE TABLE into the next, which begins with \
                `-- migrations: redefine` and `-- allow: new-not-null`: it copies no row. [needless-rebuild]
                """
            ])
    }

    @Test(
        "cannot replace a rebuild that does more",
        arguments: [
            ("book TEXT, text TEXT", "id, book, text"),
            ("book INTEGER, text TEXT COLLATE NOCASE", "id, book, text"),
            ("book INTEGER, text TEXT, mood TEXT", "id, book, text"),
            ("book INTEGER, text TEXT CHECK (1)", "id, book, text || '!'"),
            ("book INTEGER, text TEXT", "id, book, text"),
        ])
    func needed(columns: String, values: String) throws {
        #expect(try !rebuild(columns, copying: values).contains { $0.hasSuffix("[needless-rebuild]") })
    }
}
