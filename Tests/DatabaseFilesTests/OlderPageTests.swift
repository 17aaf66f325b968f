import DatabaseFiles
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A database with older pages", .timed)
struct OlderPageTests {
    /// Puts what the first two leaves of a table were earlier in their places.
    private func putBack(_ older: Data, inFirstLeavesOf table: String, at path: String) throws {
        let pages = DatabasePages(path: path)
        let root = try pages.root(table)
        for index in [0, 1] {
            let page = try pages.child(index, of: root)
            try pages.change { $0.replaceSubrange(pages.range(page), with: older[pages.range(page)]) }
        }
    }

    @Test("gets the rows back that are left of two leaves beside each other")
    func neighbours() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("app.sqlite")
        let schema = try SchemaMigrator(tables: "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT)")
        let queue = try DatabaseQueue(path: path)
        try schema.migrate(queue)
        func add(_ ids: some Sequence<Int>) throws {
            try queue.write { db in
                for id in ids {
                    let text = "note \(id) " + String(repeating: "-", count: 400)
                    try db.execute(sql: "INSERT INTO note VALUES (?, ?)", arguments: [id, text])
                }
            }
        }
        try add((1...20).map { $0 * 2 })
        let older = try DatabasePages(path: path).read()
        try add((1...20).map { $0 * 2 - 1 })
        try queue.close()
        try putBack(older, inFirstLeavesOf: "note", at: path)
        let report = try DatabaseFile(path: path).salvage(into: schema)
        // Of the rows in lost pages, those that were there before.
        #expect(report.saved == 31, "\(report.debugDescription)")
        let saved = try DatabaseQueue(path: path)
        #expect(try saved.integers("SELECT count(*) FROM note WHERE text LIKE 'note ' || id || ' %'") == [31])
        #expect(try saved.integers("SELECT count(*) FROM note WHERE id <= 17 AND id % 2 = 0") == [8])
    }
    @Test(
        "gets the rows back of two leaves beside each other whose rows have moved on, and were changed",
        arguments: [false, true])
    func changedNeighbours(hasTwin: Bool) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("app.sqlite")
        // The other table has SQLite note the last keys, in a table of two columns without a type.
        let schema = try SchemaMigrator(
            tables:
                "CREATE TABLE note(a, b); CREATE TABLE twin(a, b); CREATE TABLE other(id INTEGER PRIMARY KEY AUTOINCREMENT)"
        )
        let queue = try DatabaseQueue(path: path)
        try schema.migrate(queue)
        try queue.write { db in
            // Of the same columns, but it lacks nothing, and has none of the rows.
            for id in 1...400 where hasTwin {
                try db.execute(sql: "INSERT INTO twin VALUES (?, hex(zeroblob(20)))", arguments: [id])
            }
            for id in 1...200 {
                try db.execute(
                    sql: "INSERT INTO note VALUES (?, ?)",
                    arguments: [id, String(repeating: "-", count: 40)])
            }
        }
        let older = try DatabasePages(path: path).read()
        // They need more room, so that rows of the first leaves go to later ones.
        try queue.write { try $0.execute(sql: "UPDATE note SET b = b || '++++++++++'") }
        try queue.close()
        try putBack(older, inFirstLeavesOf: "note", at: path)
        let report = try DatabaseFile(path: path).salvage(into: schema)
        let saved = try DatabaseQueue(path: path)
        #expect(
            try saved.integers("SELECT count(*) FROM note WHERE a = rowid") == [200],
            "\(report.debugDescription)")
    }

    @Test("gets the rows back of two leaves beside each other whose values are not of their columns' types")
    func otherTypes() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("app.sqlite")
        let schema = try SchemaMigrator(
            tables: "CREATE TABLE typed(x INTEGER, y TEXT, z REAL); CREATE TABLE loose_(a, b TEXT, c)")
        let queue = try DatabaseQueue(path: path)
        try schema.migrate(queue)
        try queue.write { db in
            // It can have had each of these rows, but has others, and lacks none.
            try db.execute(sql: "INSERT INTO loose_(rowid, b) VALUES (1000, 'loose')")
            for id in 1...400 {
                let x: any DatabaseValueConvertible = id % 5 == 0 ? "x\(id)" : id
                let y = "typed \(id) " + String(repeating: "-", count: 30)
                try db.execute(sql: "INSERT INTO typed VALUES (?, ?, 0.5)", arguments: [x, y])
            }
        }
        let older = try DatabasePages(path: path).read()
        // They need more room, so that rows of the first leaves go to later ones.
        try queue.write { try $0.execute(sql: "UPDATE typed SET y = y || '++++++++++'") }
        try queue.close()
        try putBack(older, inFirstLeavesOf: "typed", at: path)
        let report = try DatabaseFile(path: path).salvage(into: schema)
        let saved = try DatabaseQueue(path: path)
        #expect(
            try saved.integers("SELECT count(*) FROM typed WHERE y LIKE 'typed ' || rowid || ' %'") == [400],
            "\(report.debugDescription)")
        #expect(try saved.integers("SELECT count(*) FROM loose_") == [1])
    }
}
