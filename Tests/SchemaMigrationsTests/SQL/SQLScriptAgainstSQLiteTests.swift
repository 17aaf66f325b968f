import Foundation
import GRDB
import MigrationTesting
import MigrationTools
import TestSupport
import TestTraits
import Testing

@testable import SchemaMigrations

@Suite("A SQL file's statements", .timed)
struct SQLScriptAgainstSQLiteTests {
    /// Runs a script on a new database, and compares its statements with SQLite's.
    private func compare(_ script: SQLScript, in queue: DatabaseQueue) throws {
        let bytes = Array(script.sql.utf8)
        let ours = script.statements.map { String(decoding: bytes[$0.range], as: UTF8.self) }
        var theirs: [String] = []
        try queue.writeWithoutTransaction { db in
            let cursor = try db.allStatements(sql: script.sql)
            while let statement = try cursor.next() {
                theirs.append(Self.trimming(statement.sourceText))
                try statement.execute()
            }
        }
        #expect(ours == theirs, "\(script.fileName)")
    }

    /// The statement without surrounding semicolons, spaces and comments.
    private static func trimming(_ text: String) -> String {
        let bytes = Array(text.utf8)
        let tokens = SQLLexer(bytes).filter { $0.kind != .semicolon || $0.range.upperBound < bytes.count }
        guard let first = tokens.first(where: { $0.kind != .semicolon }), let last = tokens.last else {
            return ""
        }
        return String(decoding: bytes[first.range.lowerBound..<last.range.upperBound], as: UTF8.self)
    }

    @Test(
        "are SQLite's in handwritten files",
        arguments: [
            "CREATE TABLE a(x)", ";; ;CREATE TABLE a(x);;; SELECT 1;\n;",
            "-- a;\nSELECT 1 -- b;\n; SELECT 2 /* ; */;",
            "\u{FEFF}SELECT 1;\r\nSELECT ';', 1 AS \";\", 2 AS [;], 3 AS `;`;\r\n",
            "SELECT x'00', X'3b', 1e5, .5, 0x1f;SELECT 1",
            "SELECT 'it''s;' AS \"a\"\";\"; SELECT 2",
            "SELECT CASE 1 WHEN 1 THEN 2 END; SELECT 1 - -1; SELECT 1 / 2",
            "SELECT 1;\u{FEFF}SELECT \u{FEFF}2; SELECT\u{0c}3", "SELECT 1 AS é$a; SELECT 2",
            """
            CREATE TABLE a(x);
            CREATE TRIGGER t AFTER INSERT ON a BEGIN
                INSERT INTO a SELECT CASE WHEN new.x > 1 THEN 2 ELSE 3 END WHERE 0; -- END;
                DELETE FROM a WHERE x = '; END;';
            END;
            CREATE TEMP TRIGGER IF NOT EXISTS u AFTER DELETE ON a BEGIN SELECT 1; END;
            CREATE TRIGGER v INSTEAD OF UPDATE OF x ON w BEGIN SELECT RAISE(ABORT, 'no;'); END
            """,
            "CREATE TABLE a(begin_, end_); CREATE VIEW trigger_view AS SELECT 1; EXPLAIN SELECT 1;EXPLAIN QUERY PLAN SELECT 2",
            "CREATE TABLE \"end\"(x); CREATE TRIGGER \"end\" AFTER INSERT ON \"end\" BEGIN SELECT 1;END;SELECT 1",
        ])
    func handMade(sql: String) throws {
        let queue = try DatabaseQueue()
        // The last trigger of the script above needs this view.
        try queue.execute("CREATE VIEW w AS SELECT 1 AS x")
        try compare(SQLScript(Data(sql.utf8), fileName: sql), in: queue)
    }

    @Test("are SQLite's in the sample migrations")
    func sample() throws { try compareFiles(of: SampleMigrations.garden) }

    @Test(
        "are SQLite's in migrations of real applications",
        .needs(.realMigrations),
        arguments: [RealMigrations.atuin, RealMigrations.eventCache, RealMigrations.crypto])
    func real(set: MigrationSet) throws { try compareFiles(of: set) }

    private func compareFiles(of set: MigrationSet) throws {
        let queue = try DatabaseQueue()
        let files = try set.files
        #expect(files.count == set.count)
        for file in files {
            let script = try SQLScript(Data(contentsOf: file.url), fileName: file.url.lastPathComponent)
            try compare(script, in: queue)
        }
    }

    @Test("are SQLite's in random files")
    func random() throws {
        var generator = RandomNumbers(seed: 417)
        let pieces = [
            "SELECT 1", "SELECT ';'", "SELECT 'a''b;'", "SELECT 1 AS \"x;\"", "SELECT 1 AS [;]", "-- c;\n",
            "/* ; */", ";", ";;", "\n",
            "\r\n", " ", "\t", "SELECT CASE 1 WHEN 2 THEN 3 END", "SELECT x'3b'", "EXPLAIN SELECT 2", "/**/",
            "CREATE TEMP TRIGGER %d AFTER INSERT ON a BEGIN SELECT 1; SELECT CASE 1 WHEN 1 THEN 2 END; END",
            "CREATE TRIGGER %d AFTER DELETE ON a BEGIN DELETE FROM a; END",
        ]
        for round in 0..<500 {
            var sql = "-- random\n"
            for number in 0..<Int.random(in: 1...12, using: &generator) {
                let piece = pieces.randomElement(using: &generator) ?? ""
                sql += piece.replacingOccurrences(of: "%d", with: "t\(number)")
                // A piece ends with its own semicolon, or SQLite would read two pieces as one.
                if piece.last?.isLetter ?? false || "\"'])".contains(piece.last ?? " ")
                    || piece.hasSuffix("1")
                {
                    sql += ";"
                }
                if piece.hasPrefix("EXPLAIN") { sql += ";" }
            }
            let queue = try DatabaseQueue()
            try queue.execute("CREATE TABLE a(x)")
            try compare(SQLScript(Data(sql.utf8), fileName: "round \(round)"), in: queue)
        }
    }
}
