import DatabaseFiles
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A damaged database with deleted rows", .timed)
struct FreePageTests {
    let folder: TemporaryFolder
    let path: String
    let schema: SchemaMigrator
    private var pages: DatabasePages { DatabasePages(path: path) }

    /// Makes a database of notes, of which the first half is deleted: their pages are free, and still have them.
    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("app.sqlite")
        schema = try SchemaMigrator(
            tables: "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT NOT NULL);")
        let queue = try DatabaseQueue(path: path)
        try schema.migrate(queue)
        for range in [1...4_000, 4_001...8_000] {
            try queue.write { db in
                for id in range {
                    try db.execute(sql: "INSERT INTO note VALUES (?, ?)", arguments: [id, "note \(id)"])
                }
            }
        }
        try queue.execute("PRAGMA secure_delete = OFF; DELETE FROM note WHERE id BETWEEN 1 AND 4000")
        try queue.close()
    }

    private func expectNoDeletedRow(atLeast count: Int) throws {
        let report = try DatabaseFile(path: path).salvage(into: schema)
        let queue = try DatabaseQueue(path: path)
        #expect(try queue.integers("SELECT id FROM note WHERE id <= 4000") == [])
        #expect(report.saved >= count)
        try queue.close()
    }

    @Test("gets none of them back when the list of free pages is lost, and the first page of the table")
    func list() throws {
        let trunk = try pages.number(at: 32)
        let free = try pages.number(at: pages.range(trunk).lowerBound + 8)
        #expect(try pages.read()[pages.range(free)].range(of: Data("note".utf8)) != nil)
        try pages.erase(pages.child(0, of: pages.root("note")))
        try pages.erase(trunk)
        try expectNoDeletedRow(atLeast: 3_000)
    }

    @Test("gets none of them back when its end is cut off, with some of the free pages")
    func truncated() throws {
        let first = try pages.child(0, of: pages.root("note"))
        try pages.erase(first)
        let trunk = try pages.number(at: 32)
        #expect(try pages.read().count / 4_096 > trunk)
        try pages.change { $0 = Data($0.prefix(max(trunk * 4_096, $0.count * 2 / 3))) }
        try expectNoDeletedRow(atLeast: 100)
    }
}
