import DatabaseFiles
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A damaged database with deep tables", .timed)
struct DeepTableTests {
    let folder: TemporaryFolder
    let path: String
    let schema: SchemaMigrator
    private var pages: DatabasePages { DatabasePages(path: path, size: 512) }

    /// Makes a database with two tables of the same columns, whose pages lie three deep, and with negative ids.
    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("app.sqlite")
        schema = try SchemaMigrator(
            tables: """
                CREATE TABLE draft(id INTEGER PRIMARY KEY, text TEXT NOT NULL);
                CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT NOT NULL);
                """)
        let queue = try DatabaseQueue(path: path)
        try queue.execute("PRAGMA page_size = 512; VACUUM")
        try schema.migrate(queue)
        try queue.write { db in
            // The newest first, so that the pages lie in another order than their keys.
            for id in (-1_500...1_500).reversed() {
                for table in ["draft", "note"] {
                    try db.execute(
                        sql: "INSERT INTO \(table) VALUES (?, ?)",
                        arguments: [id, "\(table) \(id) " + String(repeating: "-", count: 60)])
                }
            }
        }
        try queue.close()
    }

    private func expectAllRows() throws {
        let report = try DatabaseFile(path: path).salvage(into: schema)
        #expect(report.saved == 6_002)
        let queue = try DatabaseQueue(path: path)
        for table in ["draft", "note"] {
            #expect(
                try queue.integers("SELECT id FROM \(table) WHERE text NOT LIKE '\(table) ' || id || ' %'")
                    == [])
            #expect(try queue.integers("SELECT count(*) FROM \(table)") == [3_001])
        }
        try queue.close()
    }

    /// A page whose children have children.
    private func parent() throws -> Int {
        let parent = try pages.child(0, of: pages.root("note"))
        let count = try pages.childCount(of: parent)
        try #require(count > 5)
        let data = try pages.read()
        for index in 0..<count {
            #expect(try data[pages.range(pages.child(index, of: parent)).lowerBound] == 5)
        }
        return parent
    }

    @Test("gets all rows back if a page counts fewer children than it has")
    func childCount() throws {
        let parent = try parent()
        let count = try pages.childCount(of: parent)
        try pages.change { $0[pages.range(parent).lowerBound + 4] = UInt8(count / 2) }
        try expectAllRows()
    }

    private func damage(_ bit: UInt8, ofKey place: Int) throws {
        try pages.change { data in
            data[place] ^= 1 << bit
            data[18] = 9
        }
        try expectAllRows()
    }

    @Test("keeps all rows when a key between pages with children is damaged", arguments: [UInt8](0...5))
    func damagedKey(bit: UInt8) throws {
        try damage(bit, ofKey: pages.cell(4, of: parent()) + 4)
    }

    @Test("keeps all rows when the only key of a table's first page is damaged", arguments: [UInt8](0...5))
    func damagedRoot(bit: UInt8) throws {
        let root = try pages.root("note")
        #expect(try pages.childCount(of: root) == 1)
        try damage(bit, ofKey: pages.cell(0, of: root) + 4)
    }

    @Test("keeps all rows when pages with children have changed places within a table")
    func swapped() throws {
        let parent = try parent()
        try pages.swap(pages.child(1, of: parent), pages.child(3, of: parent))
        try expectAllRows()
    }
}
