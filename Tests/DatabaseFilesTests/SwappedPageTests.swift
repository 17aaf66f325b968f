import DatabaseFiles
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A database whose pages have changed places", .timed)
struct SwappedPageTests {
    let folder: TemporaryFolder
    let path: String
    let schema: SchemaMigrator

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("app.sqlite")
        schema = try SchemaMigrator(migrations: [
            SQLMigration(
                version: 1, name: "begin",
                sql: """
                    CREATE TABLE draft(id INTEGER PRIMARY KEY, text TEXT NOT NULL);
                    CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT NOT NULL);
                    CREATE TABLE sketch(id INTEGER PRIMARY KEY, text TEXT NOT NULL, image BLOB);
                    """)
        ])
        let queue = try DatabaseQueue(path: path)
        try schema.migrate(queue)
        try queue.write { db in
            for id in 1...2_000 {
                // Longer rows, so that its pages do not begin with the same keys.
                let draft = "draft \(id) " + String(repeating: "-", count: 9)
                try db.execute(sql: "INSERT INTO draft VALUES (?, ?)", arguments: [id, draft])
                try db.execute(sql: "INSERT INTO note VALUES (?, ?)", arguments: [id, "note \(id)"])
                // A column for texts tolerates blobs, and an app may rely on that.
                try db.execute(
                    sql: "INSERT INTO sketch VALUES (?, ?, NULL)", arguments: [id, Data("sketch \(id)".utf8)])
            }
        }
        try queue.close()
    }

    /// The page that a table's tree begins with.
    private func root(_ table: String) throws -> Int {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        let pages = try queue.integers("SELECT rootpage FROM sqlite_schema WHERE name = '\(table)'")
        return try Int(#require(pages.first))
    }

    /// The place of a cell between two children of a page.
    private func cell(_ index: Int, of page: Int) throws -> Int {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        let start = (page - 1) * 4_096
        #expect(data[start] == 5, "the page has children")
        let pointer = start + 12 + 2 * index
        return start + Int(data[pointer]) << 8 + Int(data[pointer + 1])
    }

    private func child(_ index: Int, of page: Int) throws -> Int {
        let place = try cell(index, of: page)
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        return data[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
    }

    private func change(_ body: (inout Data) -> Void) throws {
        var data = try Data(contentsOf: URL(fileURLWithPath: path))
        body(&data)
        try data.write(to: URL(fileURLWithPath: path))
    }

    private func swap(_ first: Int, _ second: Int) throws {
        try change { data in
            let (first, second) = (
                (first - 1) * 4_096..<first * 4_096, (second - 1) * 4_096..<second * 4_096
            )
            let bytes = Data(data[first])
            data.replaceSubrange(first, with: Data(data[second]))
            data.replaceSubrange(second, with: bytes)
        }
    }

    /// Salvages the database, and expects every row to be in its own table.
    private func expectAllRows() throws {
        let report = try DatabaseFile(path: path).salvage(into: schema)
        // Rows that were found elsewhere than in their place are told as what may be a part of them.
        #expect(
            report.description.hasPrefix(
                "6,000 entries were saved (draft: 2,000, note: 2,000, sketch: 2,000)."))
        let queue = try DatabaseQueue(path: path)
        for table in ["draft", "note", "sketch"] {
            let others = "SELECT id FROM \(table) WHERE CAST(text AS TEXT) NOT LIKE '\(table) ' || id || '%'"
            #expect(try queue.integers(others) == [])
        }
        #expect(try queue.integers("SELECT count(*) FROM sketch WHERE typeof(text) = 'blob'") == [2_000])
        try queue.close()
    }

    @Test(
        "gets the rows of two tables with the same columns back into their own, by their keys",
        arguments: [(1, 1), (2, 2), (2, 3), (4, 3), (0, 5), (6, 6)])
    func leaves(first: Int, second: Int) throws {
        try swap(child(first, of: root("draft")), child(second, of: root("note")))
        try expectAllRows()
    }

    @Test("gets them back when the page that a table begins with is one of the two", arguments: 0..<4)
    func roots(index: Int) throws {
        try swap(root("draft"), child(index, of: root("note")))
        try expectAllRows()
    }

    @Test("keeps the rows of a page that lie beside a damaged key of its parent")
    func damagedKey() throws {
        let place = try cell(3, of: root("note")) + 4
        // The last seven bits of a key of two bytes.
        try change { data in
            #expect(data[place] >= 0x80 && data[place + 1] >= 8)
            data[place + 1] -= 8
            data[18] = 9
        }
        try expectAllRows()
    }
}
