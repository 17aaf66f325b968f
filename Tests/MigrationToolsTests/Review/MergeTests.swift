import TestSupport
import Testing

@testable import MigrationTools

@Suite("A review of tables that are merged", .timed)
struct MergeTests {
    private static let drop = "\nDROP TABLE other;"
    private static let made = "CREATE TABLE whole(key TEXT PRIMARY KEY NOT NULL, body TEXT);"

    private func findings(_ sql: String, keys type: String = "TEXT PRIMARY KEY NOT NULL") throws -> [String] {
        let first = ["one", "other"].map { "CREATE TABLE \($0)(key \(type), body TEXT);" }
        return try ReviewedMigrations(sql, after: first.joined()).findings
    }

    @Test(
        "finds the rows that have a key of the other table",
        arguments: [
            "INSERT OR IGNORE INTO one SELECT * FROM other;\(drop)",
            "INSERT OR IGNORE INTO one(body, key) SELECT o.body, o.key AS k FROM other AS o;\(drop)",
            "INSERT OR IGNORE INTO one SELECT * FROM (SELECT * FROM other ORDER BY key);\(drop)",
            "INSERT INTO one SELECT key, body FROM other WHERE true ON CONFLICT DO NOTHING;\(drop)",
            """
            \(made) INSERT INTO whole SELECT * FROM one; INSERT OR IGNORE INTO whole SELECT * FROM other; DROP TABLE one;\(drop)
            """,
            """
            \(made) INSERT OR IGNORE INTO whole SELECT * FROM one UNION ALL SELECT key, body FROM other; \
            DROP TABLE one;\(drop)
            """,
        ], ["TEXT PRIMARY KEY NOT NULL", "BLOB PRIMARY KEY NOT NULL"])
    func lost(sql: String, type: String) throws {
        #expect(
            try findings(sql, keys: type) == [
                "2_b.sql:2: Table `other` is dropped: of 8 generated rows, 2 are lost. [drop-table]"
            ])
    }

    @Test("finds them among rows that others refer to, and rows with a key of two columns")
    func otherKeys() throws {
        let sql = "INSERT OR IGNORE INTO one SELECT * FROM other; DROP TABLE other;"
        let table = "(area TEXT, name TEXT, body TEXT, PRIMARY KEY (area, name));"
        let found = try ReviewedMigrations(sql, after: "CREATE TABLE one\(table) CREATE TABLE other\(table)")
        #expect(found.rules == ["1 drop-table"])
        let first = """
            CREATE TABLE one(key TEXT PRIMARY KEY NOT NULL, body TEXT);
            CREATE TABLE other(key TEXT PRIMARY KEY NOT NULL, body TEXT);
            CREATE TABLE child(id INTEGER PRIMARY KEY, other TEXT REFERENCES other(key));
            CREATE INDEX child_other ON child(other);
            """
        let move = "INSERT OR IGNORE INTO one SELECT * FROM other; UPDATE child SET other = NULL;\(Self.drop)"
        let rules = try ReviewedMigrations(move, after: first).rules
        #expect(rules.contains("2 drop-table"), "\(rules)")
    }

    @Test(
        "finds nothing if such rows are kept, or are the same but for their key",
        arguments: [
            "INSERT OR IGNORE INTO one SELECT * FROM other;",
            "INSERT OR IGNORE INTO one(key) SELECT key FROM other; ALTER TABLE other RENAME TO rest;",
            """
            CREATE TABLE double AS SELECT * FROM other WHERE key IN (SELECT key FROM one);
            INSERT OR IGNORE INTO one SELECT * FROM other;\(drop)
            """,
            "INSERT OR IGNORE INTO one SELECT key || ' (2)', body FROM other;\(drop)",
        ])
    func kept(sql: String) throws {
        #expect(try findings(sql).filter { !$0.contains("[renamed-table]") } == [])
    }

    @Test("finds nothing in names that both tables have, and no more")
    func names() throws {
        let first =
            "CREATE TABLE tag(name TEXT PRIMARY KEY NOT NULL); CREATE TABLE label(name TEXT PRIMARY KEY NOT NULL);"
        let sql = "INSERT OR IGNORE INTO tag SELECT name FROM label; DROP TABLE label;"
        #expect(try ReviewedMigrations(sql, after: first).findings == [])
    }

    @Test("takes the columns of a star from the table that is merged, every time", arguments: 1...8)
    func otherTables(_: Int) throws {
        let first = """
            CREATE TABLE list(id TEXT PRIMARY KEY NOT NULL, name TEXT);
            CREATE TABLE one(key TEXT PRIMARY KEY NOT NULL, body TEXT);
            CREATE TABLE other(key TEXT PRIMARY KEY NOT NULL, body TEXT);
            """
        let condition = "WHERE body IN (SELECT id FROM list) OR body NOT IN (SELECT id FROM list)"
        let found = try ReviewedMigrations(
            "INSERT OR IGNORE INTO one SELECT * FROM other \(condition);\(Self.drop)", after: first)
        #expect(found.rules.contains("2 drop-table"))
    }

    @Test(
        "finds nothing in the second of two releases that both copy the rows, but only keys are no copy",
        arguments: [
            ("INSERT INTO entry(id, body) SELECT key, body FROM other;", []),
            ("CREATE TABLE log AS SELECT key FROM other;", ["2 drop-table"]),
        ])
    func twoReleases(copy: String, rules: [String]) throws {
        let second = "INSERT OR IGNORE INTO entry(id, body) SELECT key, body FROM other;\(Self.drop)"
        let files = [
            "1_a.sql": "CREATE TABLE other(key TEXT PRIMARY KEY NOT NULL, body TEXT);",
            "2_b.sql": "CREATE TABLE entry(id TEXT PRIMARY KEY NOT NULL, body TEXT);\n\(copy)",
            "3_c.sql": second,
        ]
        #expect(try ReviewedMigrations(files).rules == rules)
    }
}
