import Foundation
import GRDB
import MigrationTesting
import SchemaMigrations
import TestSupport
import Testing

@Suite("An upgrade matrix detects every kind of drift", .timed)
struct KindsOfDriftTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private static let base =
        "CREATE TABLE p(id INTEGER PRIMARY KEY, k UNIQUE); CREATE TABLE q(id INTEGER PRIMARY KEY);"

    /// The schema of a shipped database, the one that the files make now, and words of the report.
    static let drifts: [(before: String, now: String, words: String)] = [
        ("CREATE TABLE a(x TEXT)", "CREATE TABLE a(x INTEGER)", "column `x` is TEXT"),
        ("CREATE TABLE a(x)", "CREATE TABLE a(x, y)", "column `y` is missing after upgrading"),
        ("CREATE TABLE a(x, y)", "CREATE TABLE a(x)", "column `y` is missing in a fresh install"),
        ("CREATE TABLE a(x, y)", "CREATE TABLE a(y, x)", "order of the columns"),
        ("CREATE TABLE a(x)", "CREATE TABLE a(x NOT NULL)", "column `x` is without a type"),
        ("CREATE TABLE a(x)", "CREATE TABLE a(x PRIMARY KEY)", "column `x` is without a type"),
        ("CREATE TABLE a(x)", "CREATE TABLE a(x UNIQUE)", "table `a`: definition of column"),
        ("CREATE TABLE a(x)", "CREATE TABLE a(x CHECK (x > 0))", "table `a`: definition of column"),
        (
            "CREATE TABLE a(x CHECK (x > 0))", "CREATE TABLE a(x CHECK (x > 1))",
            "table `a`: definition of column"
        ),
        (
            "CREATE TABLE a(x CHECK (x <> 'A'))", "CREATE TABLE a(x CHECK (x <> 'a'))",
            "table `a`: definition of column"
        ),
        (
            "CREATE TABLE a(x CHECK (x IN (\"A\")))", "CREATE TABLE a(x CHECK (x IN (\"a\")))",
            "table `a`: definition of column"
        ),
        ("CREATE TABLE a(x DEFAULT Open)", "CREATE TABLE a(x DEFAULT open)", "column `x` is DEFAULT Open"),
        (
            "CREATE TABLE a(x DEFAULT \"Open\")", "CREATE TABLE a(x DEFAULT \"open\")",
            "column `x` is DEFAULT \"Open\""
        ),
        ("CREATE TABLE a(x DEFAULT \"1\")", "CREATE TABLE a(x DEFAULT 1)", "column `x` is DEFAULT \"1\""),
        ("CREATE TABLE a(x DEFAULT 'x')", "CREATE TABLE a(x DEFAULT \"X\")", "column `x` is DEFAULT 'x'"),
        (
            "CREATE TABLE a(x DEFAULT '\u{E9}')", "CREATE TABLE a(x DEFAULT 'e\u{301}')",
            "column `x` is DEFAULT"
        ),
        (
            "CREATE TABLE a(x COLLATE NOCASE)", "CREATE TABLE a(x COLLATE RTRIM)",
            "table `a`: definition of column"
        ),
        (
            "CREATE TABLE a(x, y AS (x + 1))", "CREATE TABLE a(x, y AS (x + 2))",
            "table `a`: definition of column"
        ),
        (
            "CREATE TABLE a(x, y AS (x) VIRTUAL)", "CREATE TABLE a(x, y AS (x) STORED)",
            "table `a`: definition of column"
        ),
        ("CREATE TABLE a(x REFERENCES p(k))", "CREATE TABLE a(x REFERENCES q(id))", "foreign key (x)"),
        (
            "CREATE TABLE a(x REFERENCES p)", "CREATE TABLE a(x REFERENCES p ON DELETE CASCADE)",
            "ON DELETE CASCADE"
        ),
        (
            "CREATE TABLE a(x REFERENCES p)", "CREATE TABLE a(x)",
            "foreign key (x) is missing in a fresh install"
        ),
        (
            "CREATE TABLE a(x REFERENCES p DEFERRABLE INITIALLY DEFERRED)", "CREATE TABLE a(x REFERENCES p)",
            "table `a` is CREATE"
        ),
        (
            "CREATE TABLE a(x PRIMARY KEY)", "CREATE TABLE a(x PRIMARY KEY) WITHOUT ROWID",
            "column `x` is PRIMARY KEY after"
        ),
        ("CREATE TABLE a(x INT)", "CREATE TABLE a(x INT) STRICT", "table `a`: `STRICT` is missing"),
        (
            "CREATE TABLE a(x INTEGER PRIMARY KEY)", "CREATE TABLE a(x INTEGER PRIMARY KEY AUTOINCREMENT)",
            "table `a`: `AUTOINCREMENT` is missing after"
        ),
        ("CREATE TABLE a(x)", "CREATE TABLE b(x)", "table `b` is missing after upgrading"),
        ("CREATE TABLE a(x)", "CREATE TABLE a(x); CREATE INDEX i ON a(x)", "index `i` is missing after"),
        ("CREATE INDEX i ON p(k)", "CREATE UNIQUE INDEX i ON p(k)", "index `i` is CREATE"),
        ("CREATE INDEX i ON p(k)", "CREATE INDEX i ON p(k DESC)", "index `i` is CREATE"),
        ("CREATE INDEX i ON p(k)", "CREATE INDEX i ON p(k) WHERE k > 'A'", "index `i` is CREATE"),
        (
            "CREATE INDEX i ON p(k) WHERE k > 'A'", "CREATE INDEX i ON p(k) WHERE k > 'a'",
            "index `i` is CREATE"
        ),
        ("CREATE INDEX i ON p(k)", "CREATE INDEX i ON p(lower(k))", "index `i` is CREATE"),
        ("CREATE VIEW v AS SELECT k FROM p", "CREATE VIEW v AS SELECT id FROM p", "view `v` is CREATE"),
        (
            "CREATE VIEW v AS SELECT \"A\" FROM p", "CREATE VIEW v AS SELECT \"a\" FROM p",
            "view `v` is CREATE"
        ),
        (
            "CREATE TRIGGER t AFTER DELETE ON p BEGIN SELECT 1; END",
            "CREATE TRIGGER t BEFORE DELETE ON p BEGIN SELECT 1; END", "trigger `t` is CREATE"
        ),
        (
            "CREATE TRIGGER t AFTER DELETE ON p BEGIN SELECT 'A'; END",
            "CREATE TRIGGER t AFTER DELETE ON p BEGIN SELECT 'a'; END", "trigger `t` is CREATE"
        ),
        (
            "CREATE VIRTUAL TABLE s USING fts5(x, prefix='2')",
            "CREATE VIRTUAL TABLE s USING fts5(x, prefix='3')",
            "table `s` is CREATE"
        ),
        (
            "CREATE TABLE doc_content(a); CREATE VIRTUAL TABLE doc USING fts5(x, content='')",
            "CREATE TABLE doc_content(b); CREATE VIRTUAL TABLE doc USING fts5(x, content='')",
            "table `doc_content`: column `a` is missing in a fresh install"
        ),
        ("PRAGMA user_version = 3", "PRAGMA user_version = 4", "PRAGMA user_version is 3 after upgrading"),
        (
            "PRAGMA application_id = 3", "PRAGMA application_id = 4",
            "PRAGMA application_id is 3 after upgrading"
        ),
        ("INSERT INTO q VALUES (1)", "INSERT INTO q VALUES (2)", "table `q` lacks 1 row of a fresh install"),
        (
            "INSERT INTO p VALUES (1, 'A')", "INSERT INTO p VALUES (1, 'a')",
            "table `p` lacks 1 row of a fresh install"
        ),
        (
            "INSERT INTO p VALUES (1, '\u{E9}')", "INSERT INTO p VALUES (1, 'e\u{301}')",
            "table `p` lacks 1 row of a fresh install"
        ),
        (
            "INSERT INTO p VALUES (1, 1)", "INSERT INTO p VALUES (1, 1.0)",
            "table `p` lacks 1 row of a fresh install"
        ),
    ]

    private var configuration: Configuration {
        var configuration = Configuration()
        configuration.acceptsDoubleQuotedStringLiterals = true
        configuration.foreignKeysEnabled = false
        return configuration
    }

    @Test("between a shipped database and a fresh install", arguments: drifts)
    func shipped(before: String, now: String, words: String) throws {
        // A ledger alone, so that no checksum gives the edit away.
        let shipped = try DatabaseQueue(path: folder.file("1.0.sqlite").path, configuration: configuration)
        try shipped.writeWithoutTransaction { db in
            try db.execute(sql: Self.base + before)
            try db.execute(
                sql:
                    "CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL); INSERT INTO schema_migrations VALUES (1)"
            )
        }
        try shipped.close()
        func report(_ sql: String) throws -> String {
            let schema = try SchemaMigrator(migrations: [
                SQLMigration(version: 1, name: "first", sql: Self.base + sql),
                SQLMigration(version: 2, name: "second", sql: "CREATE TABLE later(x)"),
            ])
            let matrix = UpgradeMatrix(
                of: schema, from: [], filledWith: .none, fixtures: folder.url, configuration: configuration)
            do {
                return "\(try matrix.run())"
            } catch {
                return "\(error)"
            }
        }
        let drift = try report(now)
        #expect(drift.contains(words), "\(drift)")
        // Without the drift there is nothing to say.
        let same = try report(before)
        #expect(same.hasPrefix("1 upgrade, each ends where a fresh install does"), "\(same)")
        #expect(!same.contains("note:"), "\(same)")
    }

    private static let rebuild = """
        CREATE TABLE new(id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL);
        INSERT INTO new SELECT id, coalesce(text, '') FROM entry;
        DROP TABLE entry;
        ALTER TABLE new RENAME TO entry;
        """

    private func problems(_ first: String, _ second: String) throws -> String {
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(version: 1, name: "first", sql: first),
            SQLMigration(version: 2, name: "second", sql: second),
        ])
        return try #require(throws: UpgradeMatrixError.self) { try UpgradeMatrix(of: schema).run() }
            .description
    }

    @Test("a rebuild that loses the sequence of AUTOINCREMENT is reported")
    func sequence() throws {
        let table = "CREATE TABLE entry(id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT);"
        #expect(
            try problems(table, Self.rebuild) == """
                1 of 2 upgrades failed.
                - Table `entry` may give the ids of deleted rows again after upgrading from 1: its AUTOINCREMENT sequence was \
                at 1020, and is at 20.
                  When a migration rebuilds the table, have it copy the table's row in sqlite_sequence.
                """)
        let kept = """
            \(Self.rebuild)
            UPDATE sqlite_sequence SET seq = (SELECT max(seq) FROM old_sequence) WHERE name = 'entry';
            """
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(version: 1, name: "first", sql: table),
            SQLMigration(
                version: 2, name: "second",
                sql: """
                    CREATE TEMP TABLE old_sequence AS SELECT seq FROM sqlite_sequence WHERE name = 'entry';
                    \(kept)
                    """),
        ])
        #expect(try UpgradeMatrix(of: schema).run().problems == [])
    }

    private static let search = """
        CREATE TABLE entry(id INTEGER PRIMARY KEY, text TEXT);
        CREATE VIRTUAL TABLE search USING fts5(text, content='entry', content_rowid='id');
        CREATE TRIGGER inserted AFTER INSERT ON entry BEGIN
            INSERT INTO search(rowid, text) VALUES (new.id, new.text);
        END;
        """

    @Test("a migration that leaves an external full-text index behind is reported")
    func fullText() throws {
        let change = "UPDATE entry SET text = text || 'more';"
        #expect(
            try problems(Self.search, change) == """
                1 of 2 upgrades failed.
                - Full-text table `search` does not index the rows that it belongs to after upgrading from 1.
                  In the migration that changes the rows, add INSERT INTO "search"("search") VALUES ('rebuild').
                """)
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(version: 1, name: "first", sql: Self.search),
            SQLMigration(
                version: 2, name: "second", sql: change + "INSERT INTO search(search) VALUES ('rebuild');"),
        ])
        #expect(try UpgradeMatrix(of: schema).run().problems == [])
    }

    @Test("as a note if a new full-text table does not index the rows from before")
    func newFullText() throws {
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(
                version: 1, name: "first", sql: "CREATE TABLE entry(id INTEGER PRIMARY KEY, text TEXT)"),
            SQLMigration(
                version: 2, name: "second",
                sql: "CREATE VIRTUAL TABLE search USING fts5(text, content='entry', content_rowid='id')"),
        ])
        #expect(
            try UpgradeMatrix(of: schema, from: [1]).run().upgrades[0].notes == [
                "full-text table `search` is new, and does not index the rows from before"
            ])
    }

    @Test("rows that hold the time or random numbers are no drift")
    func volatileSeeds() throws {
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(
                version: 1, name: "first",
                sql: """
                    CREATE TABLE install(id INTEGER PRIMARY KEY, text, seconds, day, token, made);
                    INSERT INTO install
                        VALUES (1, datetime('now'), strftime('%s'), julianday(), 7, unixepoch() * 1000);
                    CREATE TABLE device(id);
                    INSERT INTO device VALUES (hex(randomblob(16)));
                    """)
        ])
        let shipped = try DatabaseQueue(path: folder.file("1.0.sqlite").path)
        try schema.migrate(shipped)
        try shipped.write {
            try $0.execute(sql: "UPDATE install SET text = '2020-01-02', seconds = 5, day = 2, made = 17")
        }
        try shipped.close()
        let matrix = UpgradeMatrix(of: schema, from: [], fixtures: folder.url)
        #expect(try matrix.run().upgrades.map(\.notes) == [[]])
        try change("UPDATE install SET token = 8")
        #expect(
            try matrix.run().upgrades.map(\.notes) == [
                ["table `install` lacks 1 row of a fresh install, or has other values there"]
            ])
    }

    private func change(_ sql: String) throws {
        let shipped = try DatabaseQueue(path: folder.file("1.0.sqlite").path)
        try shipped.write { try $0.execute(sql: sql) }
        try shipped.close()
    }
}
