import DatabaseFiles
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A damaged database with long rows", .timed)
struct LongRowTests {
    let folder: TemporaryFolder
    let path: String
    let schema: SchemaMigrator
    private var pages: DatabasePages { DatabasePages(path: path) }

    /// Makes a database of six megabytes: among 3,000 short notes, one in a hundred has an image on 50 pages.
    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("app.sqlite")
        schema = try SchemaMigrator(
            tables: "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT NOT NULL, image BLOB);")
        let queue = try DatabaseQueue(path: path)
        try schema.migrate(queue)
        try queue.write { db in
            for id in 1...3_000 {
                try db.execute(
                    sql: "INSERT INTO note VALUES (?, ?, ?)",
                    arguments: [id, "note \(id)", id % 100 == 0 ? Self.image(id) : nil])
            }
        }
        try queue.close()
    }

    private static func image(_ id: Int) -> Data { Data(repeating: UInt8(id / 100), count: 200_000 + id) }

    /// The ids of the notes, after checking that each one is as it was.
    private func ids() throws -> [Int] {
        let queue = try DatabaseQueue(path: path)
        #expect(try queue.strings("PRAGMA integrity_check") == ["ok"])
        let rows = try queue.read { try Row.fetchAll($0, sql: "SELECT * FROM note ORDER BY id") }
        try queue.close()
        for row in rows {
            let id: Int = row["id"]
            #expect(row["text"] as String == "note \(id)")
            #expect(row["image"] as Data? == (id % 100 == 0 ? Self.image(id) : nil))
        }
        return rows.map { $0["id"] }
    }

    @Test("are read however many migrations an app has")
    func manyMigrations() throws {
        let tables =
            ["CREATE TABLE photo(id INTEGER PRIMARY KEY, image BLOB)"]
            + (2...60).map { "CREATE TABLE t\($0)(x)" }
        let schema = try SchemaMigrator(
            migrations: tables.enumerated().map { index, sql in
                SQLMigration(version: SchemaVersion(index + 1), name: "m\(index)", sql: sql)
            })
        try FileManager.default.removeItem(atPath: path)
        let queue = try DatabaseQueue(path: path)
        try schema.migrate(queue)
        let ledger = try queue.integers(
            "SELECT rootpage FROM sqlite_schema WHERE tbl_name LIKE 'schema_migrations%'")
        try queue.write { db in
            for id in 1...40 {
                try db.execute(
                    sql: "INSERT INTO photo VALUES (?, ?)",
                    arguments: [id, Data(repeating: UInt8(id), count: 100_000)])
            }
        }
        try queue.close()
        let pages = DatabasePages(path: path)
        for page in ledger + [1] { try pages.erase(Int(page)) }
        #expect(try DatabaseFile(path: path).salvage(into: schema).saved == 40)
    }

    @Test("is saved with each of them")
    func savesAll() throws {
        try pages.change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        let report = try DatabaseFile(path: path).salvage(into: schema)
        #expect(report.saved == 3_000)
        #expect(report.tables.map(\.unreadable) == [0])
        #expect(try ids() == Array(1...3_000))
    }

    @Test("loses the one whose pages are damaged, and no other")
    func losesOne() throws {
        try pages.change { data in
            data.replaceSubrange(0..<16, with: Data(count: 16))
            // A page that is full of the image of note 1,700: the number of the next page comes first.
            let page = stride(from: 0, to: data.count, by: 4_096).filter { start in
                data[start + 4..<start + 4_096].allSatisfy { $0 == 17 }
            }[20]
            data.replaceSubrange(page..<page + 4, with: Data(count: 4))
        }
        let report = try DatabaseFile(path: path).salvage(into: schema)
        #expect(report.saved == 2_999)
        #expect(report.tables.map(\.unreadable) == [1])
        #expect(try ids() == Array(1...3_000).filter { $0 != 1_700 })
    }

    @Test("is saved with the zeros in its last page, in which SQLite finds no fault either")
    func zeroedEnd() throws {
        try pages.change { data in
            // The last page of the image of note 1,700: no other follows.
            let page = stride(from: 0, to: data.count, by: 4_096).first { start in
                data[start..<start + 5].elementsEqual([0, 0, 0, 0, 17])
            }
            let start = try #require(page)
            data.replaceSubrange(start..<start + 4_096, with: Data(count: 4_096))
        }
        let queue = try DatabaseQueue(path: path)
        #expect(try queue.strings("PRAGMA integrity_check") == ["ok"])
        try queue.close()
        try pages.change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        #expect(try DatabaseFile(path: path).salvage(into: schema).saved == 3_000)
        let saved = try DatabaseQueue(path: path)
        let image = try saved.read { try Data.fetchOne($0, sql: "SELECT image FROM note WHERE id = 1700") }
        #expect(image?.count == 201_700 && image?.last == 0 && image?.first == 17)
        try saved.close()
    }

    @Test("is saved with those of pages that have changed places")
    func swapped() throws {
        // Four on each page, which go on in one each.
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in
            try db.execute(sql: "DELETE FROM note")
            for id in 1...100 {
                try db.execute(
                    sql: "INSERT INTO note VALUES (?, ?, CAST(hex(zeroblob(2500)) AS BLOB))",
                    arguments: [id, "note \(id)"])
            }
        }
        try queue.close()
        let root = try pages.root("note")
        try pages.swap(pages.child(2, of: root), pages.child(7, of: root))
        #expect(try DatabaseFile(path: path).salvage(into: schema).saved == 100)
    }
}
