import TestSupport
import Testing

@testable import MigrationTools

@Suite("A review of rows that a new CHECK refuses", .timed)
struct NewCheckTests {
    private static let note =
        "CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT NOT NULL, size INTEGER NOT NULL);"

    private static func rebuild(_ title: String, _ size: String, _ insertion: String = "INSERT") -> String {
        """
        CREATE TABLE n(id INTEGER PRIMARY KEY, title TEXT NOT NULL \(title), size INTEGER NOT NULL \(size), mood TEXT);
        \(insertion) INTO n(id, title, size) SELECT id, title, size FROM note; DROP TABLE note; ALTER TABLE n RENAME TO note;
        """
    }

    @Test(
        "finds rows with a value that only the constraint names, or a longer one",
        arguments: [
            ("CHECK (length(title) <= 200)", ""), ("CHECK (title <> 'draft')", ""),
            ("", "CHECK (size <> 17)"),
            ("", "CHECK (size BETWEEN 0 AND 90000)"),
        ])
    func refused(title: String, size: String) throws {
        #expect(
            try ReviewedMigrations(Self.rebuild(title, size, "INSERT OR IGNORE"), after: Self.note).rules == [
                "2 lost-rows"
            ])
        let found = try ReviewedMigrations(Self.rebuild(title, size), after: Self.note).rules
        // No row has a number between these, so that the file runs over none.
        #expect(found == ["2 new-check"] + (size.contains("BETWEEN") ? ["2 untried"] : []))
    }

    @Test("finds them in a redefinition")
    func redefined() throws {
        let sql = """
            -- migrations: redefine
            CREATE TABLE note(
                id INTEGER PRIMARY KEY, title TEXT NOT NULL CHECK (length(title) <= 200), size INTEGER NOT NULL);
            """
        #expect(try ReviewedMigrations(sql, after: Self.note).rules == ["2 new-check"])
    }

    @Test("finds nothing if the file corrects such rows, or the constraint was there before")
    func corrected() throws {
        let check = "CHECK (title <> 'draft')"
        let old = Self.note.replacing("title TEXT NOT NULL", with: "title TEXT NOT NULL \(check)")
        #expect(try ReviewedMigrations(Self.rebuild(check, ""), after: old).findings == [])
        let correction = "UPDATE note SET title = 'draft!' WHERE title = 'draft';"
        let sql = "\(correction)\n\(Self.rebuild(check, ""))"
        #expect(try ReviewedMigrations(sql, after: Self.note).findings == [])
    }

    @Test(
        "finds the rows that a condition leaves out, too",
        arguments: [("--", ["3 lost-rows", "3 new-check"]), ("-- allow: new-check", ["3 lost-rows"])])
    func conditions(comment: String, rules: [String]) throws {
        let sql = """
            CREATE TABLE n(id INTEGER PRIMARY KEY, title TEXT NOT NULL, size INTEGER NOT NULL CHECK (size > 0));
            \(comment)
            INSERT INTO n SELECT * FROM note WHERE length(title) <= 200;
            DROP TABLE note; ALTER TABLE n RENAME TO note;
            """
        #expect(try ReviewedMigrations(sql, after: Self.note).rules.sorted() == rules)
    }

    @Test("finds rows that a condition leads to the constraint", arguments: ["OR IGNORE ", ""])
    func conditionBefore(clause: String) throws {
        let sql = """
            CREATE TABLE draft(id INTEGER PRIMARY KEY, title TEXT CHECK (length(title) <= 200), kind TEXT);
            CREATE TABLE done(id INTEGER PRIMARY KEY, title TEXT, kind TEXT);
            INSERT \(clause)INTO draft SELECT * FROM note WHERE kind = 'draft';
            INSERT INTO done SELECT * FROM note WHERE kind IS NOT 'draft';
            DROP TABLE note;
            """
        let first = "CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT, kind TEXT);"
        let rule = clause == "" ? "3 new-check" : "5 drop-table"
        #expect(try ReviewedMigrations(sql, after: first).rules == [rule])
    }

    @Test("finds the values that change, too")
    func changedValues() throws {
        let sql = """
            CREATE TABLE n(id INTEGER PRIMARY KEY, title TEXT CHECK (length(title) <= 200), mood TEXT);
            INSERT INTO n SELECT id, title, title || mood FROM note;
            DROP TABLE note; ALTER TABLE n RENAME TO note;
            """
        let first = "CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT, mood TEXT);"
        let plain = sql.replacing(" CHECK (length(title) <= 200)", with: "")
        let rules = try ReviewedMigrations(plain, after: first).rules
        #expect(!rules.isEmpty)
        let found = try ReviewedMigrations(sql, after: first).rules
        #expect(found.sorted() == (rules + ["2 new-check"]).sorted())
    }
}
