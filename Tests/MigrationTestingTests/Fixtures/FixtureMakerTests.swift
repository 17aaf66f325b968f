import Foundation
import GRDB
import MigrationTesting
import SchemaMigrations
import TestSupport
import Testing

@Suite("A fixture", .timed)
struct FixtureMakerTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Makes a fixture of a database that SQL has made, and reads it.
    private func fixture(_ sql: String, _ maker: FixtureMaker = FixtureMaker()) throws -> (
        queue: DatabaseQueue, report: FixtureReport
    ) {
        let real = try DatabaseQueue(path: folder.file("real.sqlite").path)
        try real.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA foreign_keys = OFF")
            try db.execute(sql: sql)
        }
        let url = folder.file("\(UUID().uuidString).sqlite")
        let report = try maker.write(real, to: url)
        let queue = try DatabaseQueue(path: url.path)
        try queue.read { db in
            try #expect(String.fetchAll(db, sql: "PRAGMA integrity_check") == ["ok"])
            try #expect(Row.fetchAll(db, sql: "PRAGMA foreign_key_check").isEmpty)
        }
        return (queue, report)
    }

    private func strings(_ sql: String, _ queue: DatabaseQueue) throws -> [String] {
        try queue.read { try String.fetchAll($0, sql: sql) }
    }

    @Test(
        "replaces a text with noise of the same shape",
        arguments: [
            ("Walked to the harbour, 3 times.", #"[A-Z][a-z]{5} [a-z]{2} [a-z]{3} [a-z]{7}, \d [a-z]{5}\."#),
            ("2024-05-17", #"\d{4}-(0[1-9]|1[0-2])-([01]\d|2[0-8])"#),
            (
                "2024-05-17 08:30:00.123",
                #"\d{4}-(0\d|1[0-2])-[0-2]\d ([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}"#
            ),
            ("2024-05-17T08:30:00Z", #"\d{4}-(0\d|1[0-2])-[0-2]\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ"#),
            ("08:30", #"([01]\d|2[0-3]):[0-5]\d"#),
            (
                "9F1B7C1E-58A0-4B1C-8F0A-2D7B6A9E1C33",
                "[0-9A-F]{8}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{12}"
            ),
            ("ada@example.org", "[a-z]{3}@[a-z]{7}\\.[a-z]{3}"),
            ("\u{416}\u{443}\u{440}\u{43d}\u{430}\u{43b}", "[\u{410}-\u{42f}][\u{430}-\u{44f}]{5}"),
            ("\u{65e5}\u{8a18}", "[\u{4e00}-\u{9fa5}]{2}"),
            (
                #"{"name": "Ada \"L\" \u00e9", "age": 36, "ok": true, "x": [0, null]}"#,
                #"\{"[a-z]{4}": "[A-Z][a-z]{2} \\"[A-Z]\\" \\u00[ef][0-9a-f]", "[a-z]{3}": [1-9]\d, "[a-z]{2}": true, "[a-z]": \[0, null\]\}"#
            ),
        ])
    func shape(text: String, pattern: String) throws {
        let (queue, _) = try fixture(
            "CREATE TABLE t(x); INSERT INTO t VALUES ('\(text.replacingOccurrences(of: "'", with: "''"))')")
        let found = try #require(try strings("SELECT x FROM t", queue).first)
        #expect(found != text)
        #expect(try found.wholeMatch(of: Regex(pattern)) != nil, "\(found)")
    }

    @Test("has as many rows of a table as it should, from all of its parts", arguments: [1, 20, 29, 30, 31])
    func rowsPerTable(limit: Int) throws {
        let sql = """
            CREATE TABLE t(id INTEGER PRIMARY KEY);
            WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 30)
            INSERT INTO t SELECT id FROM n;
            """
        let (queue, report) = try fixture(sql, FixtureMaker(rowsPerTable: limit))
        #expect(report.tables.map(\.rows) == [min(limit, 30)])
        let ids = try queue.read { try Int.fetchAll($0, sql: "SELECT id FROM t") }
        #expect(zip(ids, ids.dropFirst()).allSatisfy { $1 - $0 <= 30 / limit + 1 }, "\(ids)")
        #expect(try #require(ids.last) > 30 - 30 / limit - 1)
    }

    @Test("replaces every time without seconds, by another one")
    func times() throws {
        let times = "printf('%02d:%02d', id / 60, id % 60)"
        let sql = """
            CREATE TABLE t(id INTEGER PRIMARY KEY, x);
            WITH RECURSIVE n(id) AS (SELECT 0 UNION ALL SELECT id + 1 FROM n WHERE id < 1439)
            INSERT INTO t SELECT id, \(times) FROM n;
            """
        // A time that is drawn without a look at the old one is the same once in 1440 times.
        for _ in 1...2 {
            let (queue, _) = try fixture(sql, FixtureMaker(rowsPerTable: 1_440))
            #expect(try strings("SELECT count(*) FROM t", queue) == ["1440"])
            #expect(try strings("SELECT x FROM t WHERE x = \(times)", queue) == [])
            try FileManager.default.removeItem(at: folder.file("real.sqlite"))
        }
    }

    @Test(
        "replaces every letter, whatever combines with the characters around it",
        arguments: [
            "{\"title\":\"\u{FE0F} Herz\",\"name\":\"Alice Smithson\"}",
            "{\"title\":\"\u{301}Herz\",\"name\":\"Alice\u{600}\",\"\u{200D}Smithson\":\"\u{1F3FB}Herz\"}",
            "[\"\u{E33}Alice\", \"Smithson\u{600}\", \"\\u0041lice\"]",
            "\"\u{301}Alice\"", "2024-05-17\u{301}Alice", "0123456789abcdef\u{200D}Alice",
        ])
    func combiningScalars(text: String) throws {
        let (queue, _) = try fixture(
            "CREATE TABLE t(x); INSERT INTO t VALUES ('\(text.replacingOccurrences(of: "'", with: "''"))')")
        let found = Data(try #require(try strings("SELECT x FROM t", queue).first).utf8)
        let secrets = ["Alice", "lice", "Smit", "Herz", "name", "title", "0041", "0123", "2024"]
        // Noise may well spell what is not in the text.
        for secret in secrets where Data(text.utf8).range(of: Data(secret.utf8)) != nil {
            #expect(
                found.range(of: Data(secret.utf8)) == nil,
                "\(secret) in \(String(decoding: found, as: UTF8.self))")
        }
    }

    @Test(
        "replaces scalars that spell a text without letters",
        arguments: [
            "\u{2801}\u{2807}\u{280A}\u{2809}\u{2811}", "\u{1F1E6}\u{1F1F1}\u{1F1EE}\u{1F1E8}",
            "\u{E0041}\u{E006C}\u{E0069}\u{E0063}", "\u{24B6}\u{24DB}\u{24D8}\u{24D2}\u{24D4}",
            "\u{1F130}\u{1F13B}\u{1F138}\u{1F132}", "\u{FF21}\u{FF4C}\u{FF49}\u{FF43}",
            "\u{2168}\u{00B2}\u{2460}",
            "\u{662}\u{660}\u{662}\u{664}-\u{660}\u{665}-\u{661}\u{667}", "\u{E000}\u{E001}\u{FFFE}\u{378}",
        ])
    func otherLetters(text: String) throws {
        let (queue, _) = try fixture("CREATE TABLE t(x); INSERT INTO t VALUES ('\(text)')")
        let found = Array(try #require(try strings("SELECT x FROM t", queue).first).unicodeScalars)
        #expect(found.count == text.unicodeScalars.count)
        for (old, new) in zip(text.unicodeScalars, found) where old != "-" { #expect(old != new) }
    }

    @Test("takes two spellings of a character for two values, as SQLite does")
    func spellings() throws {
        let (queue, report) = try fixture(
            "CREATE TABLE t(x TEXT PRIMARY KEY) WITHOUT ROWID; INSERT INTO t VALUES ('\u{E9}'), ('e\u{301}')")
        #expect(report.notes == [])
        #expect(try strings("SELECT count(*) FROM t", queue) == ["2"])
    }

    @Test("replaces numbers by others of which the original cannot be computed")
    func numbers() throws {
        let (queue, _) = try fixture(
            """
            CREATE TABLE t(x);
            INSERT INTO t VALUES (9223372036854775807), (-9223372036854775808), (1234.5678), (1e300), (7), (-0.5)
            """, FixtureMaker(numbers: .replaced))
        let found = try strings("SELECT x FROM t", queue)
        #expect(found.count == 6)
        for (digits, run) in zip(found, ["2233", "2233", "1234", "-", "-", "-"]) {
            #expect(!digits.contains(run) || run == "-", "\(digits)")
        }
        #expect(found[4] == "7")
        #expect(found[1].hasPrefix("-"))
        #expect(found[0] != "4611686018427387903")
    }

    private static let diary = """
        CREATE TABLE person(name TEXT PRIMARY KEY, mail TEXT UNIQUE COLLATE NOCASE, picture BLOB);
        CREATE TABLE entry(
            id INTEGER PRIMARY KEY AUTOINCREMENT, author TEXT NOT NULL REFERENCES person(name) ON DELETE CASCADE,
            previous INTEGER REFERENCES entry(id), mood TEXT CHECK (mood IN ('happy', 'sad')),
            text TEXT NOT NULL, day TEXT);
        CREATE UNIQUE INDEX entry_text ON entry(author, text);
        CREATE VIEW days AS SELECT day FROM entry;
        CREATE VIRTUAL TABLE search USING fts5(text, content='entry', content_rowid='id');
        CREATE VIRTUAL TABLE memory USING fts5(text);
        INSERT INTO memory VALUES ('secret memory');
        CREATE TRIGGER entry_inserted AFTER INSERT ON entry BEGIN
            INSERT INTO search(rowid, text) VALUES (new.id, new.text);
        END;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
        INSERT INTO person SELECT 'Secret' || i, 'secret' || i || '@x.org', CAST('secret' || i AS BLOB) FROM n;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
        INSERT INTO entry SELECT i, 'Secret' || (i * 7 % 300 + 1), CASE WHEN i % 50 > 1 THEN i - 1 END,
            CASE i % 3 WHEN 0 THEN 'happy' WHEN 1 THEN 'sad' END, 'secret text ' || i, '2024-05-17' FROM n;
        PRAGMA user_version = 7;
        """

    @Test("has rows of every table, valid foreign keys, and none of the users' texts")
    func diary() throws {
        let (queue, report) = try fixture(Self.diary, FixtureMaker(rowsPerTable: 10))
        #expect(report.tables.map(\.name) == ["entry", "memory", "person"])
        #expect(report.tables.map(\.all) == [1_000, 1, 300])
        #expect(report.notes == [])
        for table in report.tables { #expect(table.rows >= min(10, table.all) && table.rows <= table.all) }
        #expect(
            try strings("SELECT count(*) FROM entry JOIN person ON name = author", queue) == [
                "\(report.tables[0].rows)"
            ])
        #expect(try strings("SELECT mood FROM entry WHERE mood NOT IN ('happy', 'sad')", queue) == [])
        #expect(try strings("SELECT count(*) FROM search", queue) == ["\(report.tables[0].rows)"])
        try queue.write { try $0.execute(sql: "INSERT INTO search(search) VALUES ('integrity-check')") }
        #expect(try strings("PRAGMA user_version", queue) == ["7"])
        #expect(try strings("SELECT seq FROM sqlite_sequence", queue) == ["1000"])
        #expect(try strings("SELECT text FROM entry WHERE text NOT GLOB '[a-z]* [a-z]* [0-9]*'", queue) == [])
        #expect(try strings("SELECT name FROM person WHERE length(picture) <> length(name)", queue) == [])
        let bytes = try Data(contentsOf: URL(fileURLWithPath: queue.path))
        for secret in ["secret", "Secret"] { #expect(bytes.range(of: Data(secret.utf8)) == nil) }
        #expect(report.size == Int64(bytes.count))
    }

    @Test("keeps the ledger byte for byte, so that it can be migrated")
    func records() throws {
        let migrations = [
            SQLMigration(version: 1, name: "a", sql: "CREATE TABLE a(x TEXT)"),
            SQLMigration(version: 2, name: "b", sql: "ALTER TABLE a ADD y"),
        ]
        try folder.migrate(migrations, in: "real.sqlite", upTo: 1)
        let (queue, _) = try fixture(
            """
            CREATE TABLE grdb_migrations(identifier TEXT NOT NULL PRIMARY KEY); INSERT INTO grdb_migrations VALUES ('v1');
            INSERT INTO a VALUES ('secret')
            """)
        #expect(try strings("SELECT identifier FROM grdb_migrations", queue) == ["v1"])
        let schema = try SchemaMigrator(migrations: migrations)
        let real = try DatabaseQueue(path: folder.file("real.sqlite").path)
        #expect(try queue.read(AppliedMigration.fetchAll) == real.read(AppliedMigration.fetchAll))
        #expect(try queue.read(schema.status).editedVersions == [])
        #expect(try schema.migrate(queue).applied == [2])
    }

    @Test("keeps or replaces columns, keys and numbers as its options say")
    func options() throws {
        let sql = """
            CREATE TABLE t(id INTEGER PRIMARY KEY, genre TEXT, data TEXT, phone INT, flag INT);
            INSERT INTO t VALUES (1234, 'crime', '{"title":"Emma"}', 491234567, 1);
            """
        let (queue, _) = try fixture(
            sql, FixtureMaker(keeping: ["T.genre"], jsonKeys: .kept, numbers: .replaced))
        let row = try #require(try queue.read { try Row.fetchOne($0, sql: "SELECT * FROM t") })
        #expect(row["id"] == 1_234)
        #expect(row["genre"] == "crime")
        #expect((row["data"] as String).hasPrefix("{\"title\":\""))
        #expect(row["data"] != "{\"title\":\"Emma\"}")
        #expect(row["phone"] != 491_234_567)
        #expect("\(row["phone"] as Int)".count == 9)
        #expect(row["flag"] == 1)
    }

    @Test("replaces different texts with different ones, even if few are possible")
    func unique() throws {
        let letters = "abcdefghijklmnopqrstuvwxyz".map { "('\($0)')" }.joined(separator: ",")
        let (queue, report) = try fixture(
            "CREATE TABLE t(x TEXT PRIMARY KEY) WITHOUT ROWID; INSERT INTO t VALUES \(letters), ('-'), ('')",
            FixtureMaker(rowsPerTable: 100))
        #expect(report.notes == [])
        #expect(try strings("SELECT count(*) FROM t", queue) == ["28"])
    }

    @Test("has the rows whose foreign keys match in another spelling or type")
    func looseKeys() throws {
        let (queue, report) = try fixture(
            """
            CREATE TABLE author(name TEXT PRIMARY KEY COLLATE NOCASE);
            CREATE TABLE book(author TEXT COLLATE NOCASE REFERENCES author(name));
            INSERT INTO author VALUES ('Jane Austen'); INSERT INTO book VALUES ('jane austen'), ('JANE AUSTEN');
            CREATE TABLE tag(id INTEGER PRIMARY KEY); CREATE TABLE link(tag TEXT REFERENCES tag(id));
            INSERT INTO tag VALUES (12345); INSERT INTO link VALUES ('12345');
            CREATE TABLE code(id TEXT PRIMARY KEY); CREATE TABLE use(code INTEGER REFERENCES code(id));
            INSERT INTO code VALUES ('4321'); INSERT INTO use VALUES (4321);
            """)
        #expect(report.notes == [])
        #expect(report.tables.map(\.rows) == report.tables.map(\.all))
        #expect(try strings("SELECT count(*) FROM book JOIN author ON name = author", queue) == ["2"])
        #expect(try strings("SELECT id FROM code WHERE id = '4321'", queue) == [])
    }

    @Test("keeps the sequence of a table without rows")
    func sequence() throws {
        let (queue, _) = try fixture(
            """
            CREATE TABLE a(id INTEGER PRIMARY KEY AUTOINCREMENT); CREATE TABLE b(id INTEGER PRIMARY KEY AUTOINCREMENT);
            INSERT INTO a VALUES (3); DELETE FROM a; INSERT INTO b VALUES (1), (7); DELETE FROM b WHERE id = 7;
            """)
        #expect(try strings("SELECT name || seq FROM sqlite_sequence ORDER BY 1", queue) == ["a3", "b7"])
    }

    @Test("leaves out orphans and rows that noise does not fit, and notes it")
    func leftOut() throws {
        let (queue, report) = try fixture(
            """
            CREATE TABLE p(code TEXT PRIMARY KEY CHECK (code LIKE 'ABCDEFG%'));
            CREATE TABLE c(p TEXT REFERENCES p(code));
            INSERT INTO p VALUES ('ABCDEFGH'); INSERT INTO c(p) VALUES ('ABCDEFGH'), ('none'), (NULL);
            """)
        #expect(try strings("SELECT count(*) FROM c", queue) == ["1"])
        #expect(
            report.notes == [
                """
                1 row of table `p` left out, since noise does not fit: CHECK constraint failed: code LIKE 'ABCDEFG%'. If no person \
                writes the column, keep it
                """,
                "2 rows of table `c` left out, without a row of `p` to refer to",
            ])
        #expect(
            report.description.hasPrefix("  c  1  of  3 rows\n  p  0  of   1 row\n  note: 1 row of table `p`")
        )
    }

    @Test("overwrites no file, and leaves none behind if it fails")
    func refusals() throws {
        let url = folder.file("1.0.sqlite")
        try Data("mine".utf8).write(to: url)
        let queue = try DatabaseQueue()
        #expect(throws: FixtureError.self) { try FixtureMaker().write(queue, to: url) }
        let error = try #require(throws: FixtureError.self) {
            try FixtureMaker(keeping: ["a.b"]).write(queue, to: folder.file("2.0.sqlite"))
        }
        #expect(
            error.description == """
                There is no column a.b, which was to be kept. Name a column as table.column, of a table that is in the database.
                """)
        #expect(try folder.contents == ["1.0.sqlite": Data("mine".utf8)])
        #expect(throws: FixtureError.self) {
            try FixtureMaker().write(queue, to: folder.file("nowhere").appendingPathComponent("a.sqlite"))
        }
    }
}
