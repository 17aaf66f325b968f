import AppMigrations
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("Tables with odd names", .timed)
struct OddNameTests {
    let folder: TemporaryFolder
    let queue: DatabaseQueue

    static let names = [
        "stra\u{df}e", "\u{149}", "a\"b", "\"", "a]b", "a`b", "a'b", "two words", "e\u{301}", "\"\u{301}",
        "SELECT",
        "\u{130}", "a.b",
    ]

    init() throws {
        folder = try TemporaryFolder()
        queue = try folder.queue()
    }

    private func migrate(_ files: [String: String]) throws -> SchemaReport {
        try folder.migrator(files).migrate(queue)
    }

    private static func tables(_ name: SQLName) -> String {
        """
        CREATE TABLE \(name.sql)(\(name.sql) INTEGER PRIMARY KEY);
        CREATE TABLE child(id INTEGER PRIMARY KEY, parent REFERENCES \(name.sql)(\(name.sql)));
        INSERT INTO \(name.sql) VALUES (1);
        INSERT INTO child VALUES (1, 1);
        """
    }

    @Test(
        "are checked when they are dropped and made again empty, within one file or in two", arguments: names,
        [false, true])
    func emptied(name: String, atOnce: Bool) throws {
        let name = SQLName(name)
        var files = ["1_tables.sql": Self.tables(name)]
        if !atOnce { _ = try migrate(files) }
        files["2_empty.sql"] =
            "DROP TABLE \(name.sql);\nCREATE TABLE \(name.sql)(\(name.sql) INTEGER PRIMARY KEY);"
        let error = try failure { try migrate(files) }
        #expect(error.schemaVersion == 2)
        #expect(
            error.message.contains("leaves 1 row of table child whose parent refers to no row of \(name)"),
            "\(error)")
        #expect(try queue.integer("SELECT count(*) FROM \(name.sql)") == 1)
    }

    @Test("keep two names apart that only Swift takes for one")
    func lookalikes() throws {
        let (one, two) = (SQLName("\u{e9}"), SQLName("e\u{301}"))
        _ = try migrate([
            "1_tables.sql": """
            CREATE TABLE \(one.sql)(id INTEGER PRIMARY KEY); CREATE TABLE \(two.sql)(id INTEGER PRIMARY KEY);
            CREATE TABLE child(parent REFERENCES \(two.sql)); INSERT INTO \(two.sql) VALUES (1);
            INSERT INTO child VALUES (1);
            """,
            "2_drop.sql": "DROP TABLE \(one.sql);",
        ])
        #expect(try queue.ledger() == [1, 2])
    }

    @Test("may have triggers, views and columns with odd names", arguments: names)
    func triggers(name: String) throws {
        let name = SQLName(name)
        let other = SQLName("\(name)2")
        _ = try migrate([
            "1_tables.sql": """
            CREATE TABLE \(name.sql)(id INTEGER PRIMARY KEY, \(name.sql));
            CREATE VIEW \(other.sql) AS SELECT \(name.sql) FROM \(name.sql);
            CREATE TRIGGER \(SQLName("\(name)3").sql) AFTER UPDATE OF \(name.sql) ON \(name.sql) BEGIN SELECT 1; END;
            """,
            "2_more.sql":
                "ALTER TABLE \(name.sql) ADD COLUMN more; INSERT INTO \(name.sql) VALUES (1, 2, 3);",
        ])
        let error = try failure {
            try folder.migrator(["3_break.sql": "ALTER TABLE \(name.sql) DROP COLUMN id;"]).migrate(queue)
        }
        #expect(error.schemaVersion == 3)
        let report = try folder.migrator([
            "3_break.sql": "DROP VIEW \(other.sql); CREATE VIEW \(other.sql) AS SELECT 1 AS \(name.sql);"
        ]).migrate(queue)
        #expect(report.applied == [3])
    }

    @Test("are refused when a view of an odd name breaks", arguments: names)
    func brokenView(name: String) throws {
        let name = SQLName(name)
        let error = try failure {
            try migrate([
                "1_view.sql": "CREATE TABLE t(a); CREATE VIEW \(name.sql) AS SELECT a FROM t;",
                "2_drop.sql": "DROP TABLE t;",
            ])
        }
        #expect(error.message.contains("leaves view \(name) broken"), "\(error)")
    }
}
