import MigrationTools
import TestTraits
import Testing

@Suite("A review of synchronized tables", .timed)
struct SynchronizedTests {
    /// A file of tables that obey every rule.
    private static let first = """
        -- tool: synced
        CREATE TABLE entry(id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()), title TEXT);
        CREATE TABLE tag(
            id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()),
            entryID TEXT REFERENCES entry ON DELETE CASCADE
        );
        CREATE INDEX tag_entryID ON tag(entryID);
        """

    /// Returns the findings that concern synchronized tables.
    private func findings(_ migrations: ReviewedMigrations) -> [String] {
        migrations.allFindings.filter { $0.contains("[synced-") }
    }

    @Test(
        "finds a table that cannot be synchronized",
        arguments: [
            (
                "CREATE TABLE a(id INTEGER PRIMARY KEY);",
                """
                Table `a` has a number as its key, which two devices give to two rows. Write id TEXT PRIMARY KEY NOT NULL ON \
                CONFLICT REPLACE DEFAULT (uuid()), in this order. [synced-key]
                """
            ),
            (
                "CREATE TABLE a(id TEXT);",
                """
                Table `a` has no primary key. Write id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()), in this \
                order. [synced-key]
                """
            ),
            (
                "CREATE TABLE a(b TEXT, c TEXT, PRIMARY KEY (b, c));",
                """
                Table `a` has a primary key of several columns. Write id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT \
                (uuid()), in this order. [synced-key]
                """
            ),
            (
                "CREATE TABLE a(id TEXT NOT NULL PRIMARY KEY ON CONFLICT REPLACE DEFAULT 'x');",
                """
                Table `a` deletes a row in whose place another one with its key comes. Write id TEXT PRIMARY KEY NOT NULL ON \
                CONFLICT REPLACE DEFAULT (uuid()), in this order. [synced-key]
                """
            ),
            (
                "CREATE TABLE a(id TEXT PRIMARY KEY, name TEXT UNIQUE);",
                """
                Table `a` is UNIQUE in name: two devices may each have a row with the same value. Remove it, and handle \
                duplicates in the app. [synced-unique]
                """
            ),
            (
                "CREATE TABLE a(id TEXT PRIMARY KEY, b TEXT REFERENCES entry ON DELETE RESTRICT);",
                """
                Foreign key b of table `a` has no ON DELETE action that the sync engine supports. Write ON DELETE CASCADE, SET \
                NULL or SET DEFAULT. [synced-on-delete]
                """
            ),
            (
                "CREATE TABLE a(id TEXT PRIMARY KEY, b TEXT REFERENCES entry);",
                """
                Foreign key b of table `a` has no ON DELETE action that the sync engine supports. Write ON DELETE CASCADE, SET \
                NULL or SET DEFAULT. [synced-on-delete]
                """
            ),
            (
                "CREATE TABLE a(id TEXT PRIMARY KEY, modificationdate TEXT);",
                """
                Column `modificationdate` of table `a` has a name of CloudKit's. Give it another name. [synced-name]
                """
            ),
        ])
    func tables(sql: String, expected: String) throws {
        let found = try ReviewedMigrations("-- tool: synced\n\(sql)", after: Self.first)
        #expect(findings(found) == ["2_b.sql:2: \(expected)"])
        #expect(findings(try ReviewedMigrations(sql, after: Self.first)) == [])
    }

    @Test(
        "finds a change that older releases do not follow",
        arguments: [
            (
                "ALTER TABLE entry ADD COLUMN rating INTEGER NOT NULL DEFAULT 0;",
                """
                Column `rating` of table `entry` is NOT NULL: a row from a device with an older release has no value there, and \
                is rejected as a whole. Let it be NULL, or write NOT NULL ON CONFLICT REPLACE DEFAULT and a value. \
                [synced-not-null]
                """
            ),
            (
                "ALTER TABLE entry RENAME COLUMN title TO heading;",
                """
                Column `title` of table `entry` is gone: devices with older releases go on sending its values. Add a column or \
                a table, and keep the old one for good. [synced-change]
                """
            ),
            (
                "ALTER TABLE entry DROP COLUMN title;",
                """
                Column `title` of table `entry` is gone: devices with older releases go on sending its values. Add a column or \
                a table, and keep the old one for good. [synced-change]
                """
            ),
            (
                "ALTER TABLE tag RENAME TO label;",
                """
                Table `tag` is gone: devices with older releases go on sending its rows. Add a column or a table, and keep the \
                old one for good. [synced-change]
                """
            ),
            (
                "UPDATE entry SET title = 'none' WHERE title IS NULL;",
                """
                Rows of table `entry` are changed once: each device changes its own, sends nothing, and goes on receiving rows \
                in the old form from older releases. Change them in a step that says again:. [synced-update]
                """
            ),
        ])
    func changes(sql: String, expected: String) throws {
        #expect(findings(try ReviewedMigrations(sql, after: Self.first)) == ["2_b.sql:1: \(expected)"])
    }

    @Test("finds a column that is given another type, or NOT NULL, in a rebuild")
    func rebuild() throws {
        let first = "-- tool: synced\nCREATE TABLE entry(id TEXT PRIMARY KEY, title TEXT);"
        let sql = """
            CREATE TABLE new_entry(id TEXT PRIMARY KEY, title BLOB NOT NULL DEFAULT '');
            INSERT INTO new_entry SELECT id, coalesce(title, '') FROM entry;
            DROP TABLE entry;
            ALTER TABLE new_entry RENAME TO entry;
            """
        #expect(
            findings(try ReviewedMigrations(sql, after: first)) == [
                """
                2_b.sql:1: Column `title` of table `entry` is BLOB and was TEXT: the record keeps its first type. Add a column \
                or a table, and keep the old one for good. [synced-change]
                """,
                """
                2_b.sql:1: Column `title` of table `entry` is NOT NULL: a row from a device with an older release has no value \
                there, and is rejected as a whole. Let it be NULL, or write NOT NULL ON CONFLICT REPLACE DEFAULT and a value. \
                [synced-not-null]
                """,
            ])
    }

    @Test(
        "finds nothing in tables that obey the rules, and in changes that older releases follow",
        arguments: [
            "ALTER TABLE entry ADD COLUMN rating INTEGER;",
            "ALTER TABLE entry ADD COLUMN rating INTEGER NOT NULL ON CONFLICT REPLACE DEFAULT 0;",
            "-- tool: synced\nCREATE TABLE a(id TEXT PRIMARY KEY, b TEXT REFERENCES entry ON DELETE SET NULL);",
            "CREATE INDEX entry_title ON entry(title);",
            "CREATE TABLE draft(id INTEGER PRIMARY KEY, title TEXT UNIQUE NOT NULL);",
            "-- allow: synced-update\nUPDATE entry SET title = 'none' WHERE title IS NULL;",
        ])
    func right(sql: String) throws {
        #expect(findings(try ReviewedMigrations(sql, after: Self.first)) == [])
    }

    @Test(
        "knows a table that its file has made under another name, and none that is temporary",
        arguments: [
            (
                "CREATE TEMPORARY TABLE a(id INTEGER PRIMARY KEY);",
                "CREATE TABLE a(id INTEGER PRIMARY KEY);", 0
            ),
            (
                """
                CREATE TABLE new_a(id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()), b TEXT);
                ALTER TABLE new_a RENAME TO a;
                """, "ALTER TABLE a DROP COLUMN b;", 1
            ),
        ])
    func names(first: String, second: String, count: Int) throws {
        let found = findings(try ReviewedMigrations(second, after: "-- tool: synced\n\(first)"))
        #expect(found.count == count, "\(found)")
    }

    @Test("takes the tables of a baseline from its comments", arguments: ["\n", "\r\n"])
    func baseline(lineEnd: String) throws {
        let baseline = """
            -- replaces: 1
            -- synced: a
            CREATE TABLE a(id INTEGER PRIMARY KEY);
            """
        let found = findings(
            try ReviewedMigrations([
                "2_baseline.sql": baseline.replacing("\n", with: lineEnd),
                "3_c.sql": "ALTER TABLE a ADD COLUMN b NOT NULL DEFAULT 0;",
            ]))
        #expect(
            found.contains { $0.hasPrefix("3_c.sql:1: ") && $0.hasSuffix("[synced-not-null]") }, "\(found)")
    }

    @Test("takes the tables from code.rules, too")
    func rules() throws {
        let files = [
            "1_a.sql": "CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(id INTEGER PRIMARY KEY);"
        ]
        #expect(findings(try ReviewedMigrations(files)) == [])
        let found = try ReviewedMigrations(files.merging(["code.rules": "synced: A, c\n"]) { $1 })
        #expect(
            findings(found) == [
                """
                1_a.sql:1: Table `a` has a number as its key, which two devices give to two rows. Write id TEXT PRIMARY KEY NOT \
                NULL ON CONFLICT REPLACE DEFAULT (uuid()), in this order. [synced-key]
                """
            ])
    }
}
