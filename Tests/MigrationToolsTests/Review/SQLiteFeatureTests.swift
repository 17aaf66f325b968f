import Foundation
import GRDB
import SchemaMigrations
import Testing

@testable import MigrationTools

@Suite("The forms of SQL that older versions of SQLite lack", .timed)
struct SQLiteFeatureTests {
    /// The minor version of the SQLite that runs the tests.
    private static let linked =
        (try? DatabaseQueue().read { db in
            try String.fetchOne(db, sql: "SELECT sqlite_version()")
        }).flatMap(SQLiteVersion.init)

    /// Returns whether SQLite runs the statements, and the last one returns something.
    private func runs(_ sql: String) throws -> Bool {
        let queue = try DatabaseQueue()
        do {
            return try queue.write { db in
                var row: Row?
                var isQuery = false
                let statements = try db.allStatements(sql: sql)
                while let statement = try statements.next() {
                    // A form of ALTER TABLE has columns, too.
                    isQuery = statement.isReadonly && statement.columnCount > 0
                    row = try Row.fetchOne(statement)
                }
                return !isQuery || row.map { !$0.databaseValues.contains(.null) } ?? false
            }
        } catch is DatabaseError {
            return false
        }
    }

    @Test("run from the version that the table names, and not before", arguments: SQLiteFeature.all)
    func versions(feature: SQLiteFeature) throws {
        let linked = try #require(Self.linked)
        #expect(try runs(feature.example) == (linked.minor >= feature.minor), "with SQLite \(linked)")
    }

    private func found(_ sql: String, oldest: String) throws -> [String] {
        let outline = try ScriptOutline(SQLScript(Data(sql.utf8), fileName: "1_a.sql"))
        return SQLiteFeature.findings(in: outline, oldest: SQLiteVersion(oldest)).map(\.reason)
    }

    @Test("are looked for in rows too, of which plain ones are kept without their values")
    func data() throws {
        let sql = """
            INSERT INTO a VALUES (1, 'x'), (-2.5, NULL); INSERT INTO a VALUES (3, x'00');
            INSERT INTO a VALUES (1_000, 2); INSERT INTO a VALUES (unixepoch(), 2); INSERT INTO f(f) VALUES ('rebuild');
            """
        let outline = try ScriptOutline(SQLScript(Data(sql.utf8), fileName: "1_a.sql"))
        #expect(outline.statements.map(\.tokens.count) == [4, 4, 9, 11, 10])
        #expect(try found(sql, oldest: "3.45").count == 1)
    }

    @Test(
        "are found for an older version, and not for the one that brought them", arguments: SQLiteFeature.all)
    func findings(feature: SQLiteFeature) throws {
        let reason =
            "\(feature.name) needs SQLite 3.\(feature.minor), and --oldest is 3.\(feature.minor - 1). Write it in another way."
        #expect(try found(feature.example, oldest: "3.\(feature.minor - 1)").contains(reason))
        #expect(try found(feature.example.lowercased(), oldest: "3.\(feature.minor - 1)").count >= 1)
        #expect(
            try !found(feature.example, oldest: "3.\(feature.minor)").contains { $0.hasPrefix(feature.name) })
    }

    @Test(
        "are not found where a word means something else",
        arguments: [
            "CREATE TABLE concat(x); INSERT INTO concat(x) VALUES (1); CREATE INDEX i ON concat(x);",
            "CREATE TABLE IF NOT EXISTS t(concat, \"if\"); SELECT concat, \"if\" FROM t;",
            "WITH concat(x) AS (SELECT 1) SELECT x FROM concat;",
            "SELECT group_concat(x) OVER (PARTITION BY x ORDER BY x) FROM t WINDOW w AS (ORDER BY x);",
            "SELECT max(x) FROM (SELECT 1 AS x ORDER BY 1) WHERE x IN (SELECT x ORDER BY x);",
            "SELECT 'concat(1)', \"timediff\" FROM t; -- json_pretty(x)",
            "SELECT iif(1, 2, 3), iif(max(1, 2), (3), 4);",
            "SELECT date('now', 'start of month'), strftime('%Y-%m-%d', 'now'), floor(2.5), 'subsec';",
            "CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT RAISE(ABORT, 'no'); SELECT RAISE(IGNORE); END;",
            "SELECT a_1, _2 FROM t_1; REINDEX t; ALTER TABLE t RENAME COLUMN constraint_id TO alter_id;",
            "ALTER TABLE t ADD COLUMN c CHECK (c > 0); ALTER TABLE t DROP COLUMN c;",
            "CREATE VIRTUAL TABLE s USING fts5(a, content='t', content_rowid='id');",
        ])
    func others(sql: String) throws {
        #expect(try found(sql, oldest: "3.39") == [])
    }

    @Test(
        "are counted from a version that the package supports",
        arguments: [
            ("3.39", "3.39"), ("3.46.1", "3.46"), ("3.100.0", "3.100"), ("3.38", nil), ("3", nil),
            ("4.0", nil),
            ("3.x", nil), ("3.39.4.1", nil), ("", nil), ("3.-1", nil), ("3.99999999999999999999", nil),
        ] as [(String, String?)])
    func version(text: String, read: String?) {
        #expect(SQLiteVersion(text)?.description == read)
    }
}
