import DatabaseFiles
import Foundation
import GRDB
import GRDBMigrations
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

/// The damaged database says what became of rows that migrations insert: the new one must not have them as they were made.
@Suite("Rows that migrations insert, in a damaged database", .timed)
struct SeededRowTests {
    let folder: TemporaryFolder
    let path: String
    private var pages: DatabasePages { DatabasePages(path: path) }

    /// Tables of each shape with five rows, and one of many pages.
    private static let tables = """
        CREATE TABLE plain(id INTEGER PRIMARY KEY, text TEXT NOT NULL);
        CREATE TABLE nameless(text TEXT NOT NULL);
        CREATE TABLE keyed(name TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE large(id INTEGER PRIMARY KEY, size REAL NOT NULL, text TEXT NOT NULL);
        CREATE VIRTUAL TABLE words USING fts5(text);
        CREATE TABLE damaged(x);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) INSERT INTO plain SELECT i, 'seed' FROM n;
        INSERT INTO nameless SELECT 'seed' FROM plain; INSERT INTO keyed SELECT 'key ' || id, 'seed' FROM plain;
        INSERT INTO words(rowid, text) SELECT id, 'seed' FROM plain;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
        INSERT INTO large SELECT i, 0.5, 'seed ' || printf('%0100d', i) FROM n;
        """

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("app.sqlite")
    }

    private var schema: SchemaMigrator { get throws { try SchemaMigrator(tables: Self.tables) } }

    private var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("begin") { try $0.execute(sql: Self.tables) }
        return migrator
    }

    private func open<Result>(_ body: (DatabaseQueue) throws -> Result) throws -> Result {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try body(queue)
    }

    /// Changes each row but the first, and deletes the third.
    private func change() throws {
        try open { queue in
            for table in ["plain", "nameless", "words", "large"] {
                try queue.execute(
                    "UPDATE \(table) SET text = 'mine' WHERE rowid > 1; DELETE FROM \(table) WHERE rowid = 3")
            }
            try queue.execute(
                "UPDATE keyed SET text = 'mine' WHERE name > 'key 1'; DELETE FROM keyed WHERE name = 'key 3'")
        }
    }

    private func texts(_ table: String) throws -> [String] {
        try open { try $0.strings("SELECT text FROM \(table)") }
    }

    @Test("are as the app has left them, whose migrations they are", arguments: [false, true])
    func changed(byGRDB: Bool) throws {
        try open { queue in
            if byGRDB { try migrator.migrate(queue) } else { try schema.migrate(queue) }
        }
        try change()
        try pages.erase(pages.root("damaged"))
        let report =
            byGRDB
            ? try DatabaseFile(path: path).salvage(into: migrator)
            : try DatabaseFile(path: path).salvage(into: schema)
        #expect(report.tables.map(\.refused).reduce(0, +) == 0)
        for table in ["plain", "nameless", "keyed", "words"] {
            #expect(try texts(table) == ["seed", "mine", "mine", "mine"], "\(table)")
        }
        #expect(try texts("large").count { $0 == "mine" } == 498)
        #expect(
            try open { try $0.integers("SELECT rowid FROM words WHERE words MATCH 'mine'") } == [2, 4, 5])
    }

    @Test("count as saved, even if the app has changed none")
    func unchanged() throws {
        _ = try open { try schema.migrate($0) }
        try pages.erase(pages.root("damaged"))
        #expect(
            try DatabaseFile(path: path).salvage(into: schema).tables.first { $0.name == "plain" }?.saved == 5
        )
        #expect(try texts("plain") == Array(repeating: "seed", count: 5))
    }

    @Test("come back as they were made where their page is lost, and nowhere else")
    func lostPage() throws {
        _ = try open { try schema.migrate($0) }
        try change()
        let leaf = try pages.child(3, of: pages.root("large"))
        let before = try open { try $0.integers("SELECT id FROM large") }
        try pages.erase(leaf)
        let report = try DatabaseFile(path: path).salvage(into: schema)
        let lost = try #require(report.tables.first { $0.name == "large" }?.missingKeys.first)
        #expect(try open { try $0.integers("SELECT id FROM large") } == before)
        #expect(
            try open { try $0.integers("SELECT id FROM large WHERE text LIKE 'seed %'") }
                == [1] + before.filter(lost.contains))
        #expect(lost.count > 10)
    }

    @Test("are as the app has left them where the schema is lost")
    func lostSchema() throws {
        _ = try open { try schema.migrate($0) }
        try change()
        try pages.change { $0.replaceSubrange(100..<4_096, with: Data(count: 3_996)) }
        _ = try DatabaseFile(path: path).salvage(into: schema)
        #expect(try texts("large").count { $0 == "mine" } == 498)
        #expect(try open { try $0.integers("SELECT id FROM large WHERE text <> 'mine'") } == [1])
    }
}
