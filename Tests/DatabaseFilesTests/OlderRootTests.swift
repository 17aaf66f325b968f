import DatabaseFiles
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A table whose first page is an older one", .timed)
struct OlderRootTests {
    let folder: TemporaryFolder
    let path: String
    private var pages: DatabasePages { DatabasePages(path: path) }

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("app.sqlite")
    }

    private func add(_ ids: ClosedRange<Int>, _ db: Database) throws {
        for id in ids {
            try db.execute(
                sql: "INSERT INTO note VALUES (?, ?)",
                arguments: [id, "note \(id) " + String(repeating: "-", count: 400)])
        }
    }

    /// Makes a database of 900 notes.
    ///
    /// - Parameters:
    ///   - tables: more tables.
    ///   - settings: what comes before them.
    ///   - then: what comes after the notes.
    /// - Returns: the migrations, and the file when it had as many notes.
    private func make(
        _ tables: String = "", _ settings: String = "", older count: Int = 300,
        then: String = "", _ body: (Database) throws -> Void = { _ in }
    ) throws -> (SchemaMigrator, older: Data) {
        let schema = try SchemaMigrator(
            tables: "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT NOT NULL); \(tables)")
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        try queue.writeWithoutTransaction { try $0.execute(sql: settings) }
        try schema.migrate(queue)
        try queue.write { db in
            try body(db)
            try add(1...count, db)
        }
        try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        let older = try pages.read()
        try queue.write { try add(count + 1...900, $0) }
        try queue.writeWithoutTransaction { try $0.execute(sql: then) }
        return (schema, older)
    }

    /// Puts the first page of the notes back.
    private func putBack(_ older: Data) throws {
        let range = try pages.range(pages.root("note"))
        try pages.change { $0.replaceSubrange(range, with: older[range]) }
    }

    private func ids() throws -> [Int64] {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try queue.integers("SELECT id FROM note WHERE text LIKE 'note ' || id || ' %' ORDER BY id")
    }

    @Test("gets the rows back of the pages that it does not name", arguments: [12, 300])
    func olderRoot(count: Int) throws {
        let (schema, older) = try make(older: count)
        try putBack(older)
        let report = try DatabaseFile(path: path).salvage(into: schema)
        #expect(try ids() == Array(1...900), "\(report.debugDescription)")
        #expect(report.isComplete)
    }

    @Test("gets the rows back of all pages if the schema names one of them as the first", arguments: [0, 40])
    func otherRoot(child: Int) throws {
        let (schema, _) = try make()
        let root = try pages.root("note")
        let leaf = try pages.child(child, of: root)
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in
            try db.execute(
                sql: """
                    PRAGMA writable_schema = ON;
                    UPDATE sqlite_schema SET rootpage = \(leaf) WHERE name = 'note'
                    """)
        }
        try queue.close()
        let report = try DatabaseFile(path: path).salvage(into: schema)
        #expect(try ids() == Array(1...900), "\(report.debugDescription)")
        #expect(report.isComplete)
    }

    @Test("is not reported as complete if another table can have had the rows, too")
    func twin() throws {
        let (schema, older) = try make("CREATE TABLE twin(id INTEGER PRIMARY KEY, text TEXT)") { db in
            try db.execute(sql: "INSERT INTO twin VALUES (9000, 'twin')")
        }
        try putBack(older)
        let report = try DatabaseFile(path: path).salvage(into: schema)
        #expect(!report.isComplete)
        #expect(try report.unassigned + ids().count == 900, "\(report.debugDescription)")
        let saved = try DatabaseQueue(path: path)
        #expect(try saved.integers("SELECT id FROM twin") == [9000])
    }

    @Test("is not reported as complete if it has no row ids")
    func withoutRowid() throws {
        let table = "CREATE TABLE tag(word TEXT PRIMARY KEY, size INTEGER NOT NULL) WITHOUT ROWID"
        let (schema, _) = try make(table)
        func add(_ sizes: ClosedRange<Int>) throws {
            let queue = try DatabaseQueue(path: path)
            defer { try? queue.close() }
            try queue.write { db in
                for size in sizes {
                    try db.execute(
                        sql: "INSERT INTO tag VALUES (printf('%05d', ?1) || hex(zeroblob(100)), ?1)",
                        arguments: [size])
                }
            }
        }
        try add(1...200)
        let older = try pages.read()
        try add(201...600)
        let range = try pages.range(pages.root("tag"))
        try pages.change { $0.replaceSubrange(range, with: older[range]) }
        let report = try DatabaseFile(path: path).salvage(into: schema)
        #expect(!report.isComplete && report.unassigned > 0, "\(report.debugDescription)")
    }

    @Test("gets no deleted row back if the list of free pages is an older one, too")
    func olderHeader() throws {
        let (schema, _) = try make()
        let queue = try DatabaseQueue(path: path)
        let full = try pages.read()
        try queue.execute("PRAGMA secure_delete = OFF; DELETE FROM note WHERE id > 500")
        try queue.close()
        #expect(try pages.number(at: 36) > 10)
        // The header as it was before the rows were deleted, and the table as it is since.
        try pages.change { $0.replaceSubrange(0..<4_096, with: full[0..<4_096]) }
        _ = try DatabaseFile(path: path).salvage(into: schema)
        #expect(try ids() == Array(1...500))
    }

    @Test(
        "lacks nothing that is reported if only the header of the file is damaged",
        arguments: [
            "", "PRAGMA page_size = 512", "PRAGMA page_size = 65536", "PRAGMA auto_vacuum = FULL",
            "PRAGMA page_size = 1024; PRAGMA auto_vacuum = INCREMENTAL", "PRAGMA journal_mode = WAL",
            "PRAGMA secure_delete = ON",
        ])
    func header(settings: String) throws {
        let (schema, _) = try make(
            """
            CREATE TABLE tag(word TEXT PRIMARY KEY, size INTEGER NOT NULL) WITHOUT ROWID;
            CREATE TABLE image(id INTEGER PRIMARY KEY, bytes BLOB);
            CREATE INDEX note_text ON note(text);
            CREATE VIRTUAL TABLE words USING fts5(text);
            """, settings,
            then: """
                INSERT INTO tag SELECT text, id FROM note; INSERT INTO words SELECT text FROM note;
                INSERT INTO image SELECT id, randomblob(9000) FROM note WHERE id % 30 = 0;
                CREATE TABLE other AS SELECT * FROM note; DROP TABLE other;
                DELETE FROM note WHERE id BETWEEN 200 AND 500; DELETE FROM tag WHERE size % 7 < 5;
                DELETE FROM image WHERE id % 60 = 0; DELETE FROM words WHERE rowid < 300;
                """)
        try pages.change { $0[3] = 0 }
        let report = try DatabaseFile(path: path).salvage(into: schema)
        #expect(report.isComplete, "\(report.debugDescription)")
        #expect(report.unassigned == 0)
        #expect(try ids().count == 599)
    }
}
