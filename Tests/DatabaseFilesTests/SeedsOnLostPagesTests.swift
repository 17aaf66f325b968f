import DatabaseFiles
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

/// Where a page is lost, nothing says what became of a row that a migration has inserted: it comes back as it was made, unless that
/// would make another row of it.
@Suite("Rows that migrations insert, on a lost page", .timed)
struct SeedsOnLostPagesTests {
    let folder: TemporaryFolder
    let path: String
    private var pages: DatabasePages { DatabasePages(path: path) }

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("app.sqlite")
    }

    /// Makes a database by migrations, with a table that has a row of the app.
    private func make(_ migrations: [String], _ changes: String) throws -> SchemaMigrator {
        let schema = try SchemaMigrator(
            migrations: migrations.enumerated().map { index, sql in
                SQLMigration(version: SchemaVersion(index + 1), name: "m\(index)", sql: sql)
            })
        try open { queue in
            try schema.migrate(queue, upTo: 1)
            try queue.execute("CREATE TABLE other(x); INSERT INTO other VALUES (1); \(changes)")
            try schema.migrate(queue)
        }
        return schema
    }

    private func open<Result>(_ body: (DatabaseQueue) throws -> Result) throws -> Result {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try body(queue)
    }

    private func salvage(_ schema: SchemaMigrator, _ table: String) throws -> SalvageReport.Table? {
        try DatabaseFile(path: path).salvage(into: schema).tables.first { $0.name == table }
    }

    @Test("do not count as saved")
    func counts() throws {
        let schema = try make(
            ["CREATE TABLE kind(name TEXT); INSERT INTO kind VALUES ('first'), ('first')"], "")
        try pages.erase(pages.root("kind"))
        let table = try salvage(schema, "kind")
        #expect(table?.saved == 0)
        #expect(table?.missingPages == 1)
        #expect(try open { try $0.strings("SELECT name FROM kind") } == ["first", "first"])
    }

    @Test("stay away if a later migration inserts them, as they have other ids in a new database")
    func later() throws {
        let schema = try make(
            [
                "CREATE TABLE kind(id INTEGER PRIMARY KEY, name TEXT); INSERT INTO kind(name) VALUES ('first')",
                "INSERT INTO kind(name) VALUES ('later')",
            ], "INSERT INTO kind(name) VALUES ('mine')")
        try pages.erase(pages.root("kind"))
        _ = try salvage(schema, "kind")
        #expect(try open { try $0.strings("SELECT name FROM kind") } == ["first"])
    }

    @Test("stay away if a later migration inserts them and gives the table another name")
    func renamed() throws {
        let schema = try make(
            [
                "CREATE TABLE kind(name TEXT); INSERT INTO kind(name) VALUES ('first')",
                "ALTER TABLE kind RENAME TO type; INSERT INTO type(name) VALUES ('later')",
            ], "INSERT INTO kind(name) VALUES ('mine')")
        try pages.erase(pages.root("type"))
        _ = try salvage(schema, "type")
        #expect(try open { try $0.strings("SELECT name FROM type") } == ["first"])
    }

    @Test("stay away without their parent, and do not count as orphans")
    func orphans() throws {
        let schema = try make(
            [
                """
                CREATE TABLE parent(id INTEGER PRIMARY KEY);
                CREATE TABLE child(id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parent(id));
                INSERT INTO parent VALUES (1), (2); INSERT INTO child VALUES (1, 1), (2, 2)
                """
            ], "DELETE FROM child WHERE id = 2; DELETE FROM parent WHERE id = 2")
        try pages.erase(pages.root("child"))
        let table = try salvage(schema, "child")
        #expect(table?.saved == 0)
        #expect(table?.orphaned == 0)
        #expect(try open { try $0.integers("SELECT id FROM child") } == [1])
    }

    @Test("come back for the rows that refer to them, if a part of them cannot be read")
    func unreadable() throws {
        let schema = try make(
            [
                """
                CREATE TABLE kind(id INTEGER PRIMARY KEY, text TEXT);
                CREATE TABLE mine(kind INTEGER REFERENCES kind(id));
                INSERT INTO kind VALUES (1, 'short'), (2, printf('%03000d', 0) || 'MIDDLE' || printf('%07000d', 0)), (3, 'gone')
                """
            ], "INSERT INTO mine VALUES (2); DELETE FROM kind WHERE id = 3")
        try pages.change { data in
            let place = try #require(data.range(of: Data("MIDDLE".utf8))).lowerBound
            data.replaceSubrange(pages.range(place / 4_096 + 1), with: Data(count: 4_096))
        }
        let table = try salvage(schema, "kind")
        #expect(table?.saved == 1)
        #expect(table?.unreadable == 1)
        #expect(try open { try $0.integers("SELECT id FROM kind") } == [1, 2])
        #expect(try open { try $0.integers("SELECT kind FROM mine") } == [2])
    }

    @Test("come back in full text")
    func fullText() throws {
        let schema = try make(
            ["CREATE VIRTUAL TABLE words USING fts5(text); INSERT INTO words VALUES ('first'), ('second')"],
            "")
        try pages.erase(pages.root("words_content"))
        #expect(try salvage(schema, "words")?.saved == 0)
        #expect(try open { try $0.integers("SELECT rowid FROM words WHERE words MATCH 'second'") } == [2])
    }

    @Test("stay away if they are elsewhere, because VACUUM has given them other ids")
    func vacuumed() throws {
        let schema = try make(
            [
                """
                CREATE TABLE kind(name TEXT);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
                INSERT INTO kind SELECT printf('%0100d', i) FROM n
                """
            ], "DELETE FROM kind WHERE rowid <= 100; VACUUM")
        try pages.erase(pages.child(3, of: pages.root("kind")))
        #expect(try salvage(schema, "kind")?.missingPages == 1)
        #expect(try open { try $0.integers("SELECT count(*) - count(DISTINCT name) FROM kind") } == [0])
    }
}
