import AppMigrations
import DatabaseFiles
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A database with damaged cells", .timed)
struct DamagedCellTests {
    let folder: TemporaryFolder
    let path: String
    let schema: SchemaMigrator
    private var pages: DatabasePages { DatabasePages(path: path) }

    /// Makes a database of twenty notes, whose page is the first one of the table.
    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("app.sqlite")
        schema = try SchemaMigrator(tables: "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT)")
        let queue = try DatabaseQueue(path: path)
        try schema.migrate(queue)
        try queue.write { db in
            for id in 1...20 {
                try db.execute(sql: "INSERT INTO note VALUES (?, ?)", arguments: [id, "note \(id)"])
            }
        }
        try queue.close()
    }

    /// Salvages the database, and returns the ids of the notes that are as they were.
    private func salvagedIDs() throws -> [Int64] {
        _ = try DatabaseFile(path: path).salvage(into: schema)
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try queue.integers("SELECT id FROM note WHERE text = 'note ' || id ORDER BY id")
    }

    @Test("keeps the row whose id another one seems to have", arguments: [7, 8, 18])
    func sameID(_ id: UInt8) throws {
        let root = try pages.root("note")
        // A cell begins with its size, and its id follows (fileformat2.html, 1.6).
        let place = try pages.cell(Int(id) - 1, of: root) + 1
        try pages.change { data in
            #expect(data[place] == id)
            data[place] = id - 1
        }
        #expect(try salvagedIDs() == (1...20).filter { $0 != Int64(id) })
    }

    @Test("keeps the row whose id a later one seems to have")
    func sameIDAsBefore() throws {
        let place = try pages.cell(7, of: pages.root("note")) + 1
        try pages.change { $0[place] = 9 }
        #expect(try salvagedIDs() == (1...20).filter { $0 != 8 })
    }

    @Test("keeps the rows behind those of which nothing can be read, whatever ids these seem to have")
    func unreadableCells() throws {
        let root = try pages.root("note")
        let places = try (10..<16).map { try pages.cell($0, of: root) }
        try pages.change { data in
            for (index, place) in places.enumerated() {
                // More of them ascend than of those behind them.
                data[place + 1] = UInt8(100 + index)
                // No header of a record is as long.
                data[place + 2] = 120
            }
        }
        #expect(try salvagedIDs() == Array(1...10) + Array(17...20))
    }

    @Test("is not reported as complete if a page counts fewer rows than it has")
    func count() throws {
        let place = try pages.range(pages.root("note")).lowerBound + 4
        try pages.change { data in
            #expect(data[place] == 20)
            data[place] = 12
        }
        let report = try DatabaseFile(path: path).salvage(into: schema)
        #expect(!report.isComplete)
        let table = try #require(report.tables.first { $0.name == "note" })
        #expect(table.saved == 12)
        #expect(table.unreadable == 1)
    }

    @Test(
        "keeps all rows, and says of no wrong key that it is missing, where children are lost",
        arguments: [6, 7])
    func children(sector: Int) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.execute(
            """
            WITH RECURSIVE new(id) AS (SELECT 21 UNION ALL SELECT id + 1 FROM new WHERE id < 300)
            INSERT INTO note SELECT id, 'note ' || id || hex(zeroblob(700)) FROM new
            """)
        try queue.close()
        let root = try pages.root("note")
        #expect(try pages.childCount(of: root) > 100)
        try pages.change { data in
            let start = pages.range(root).lowerBound + sector * 512
            data.replaceSubrange(start..<start + 512, with: Data(count: 512))
        }
        let report = try DatabaseFile(path: path).salvage(into: schema)
        let table = try #require(report.tables.first { $0.name == "note" })
        #expect(table.saved == 300)
        #expect(!report.isComplete && report.unassigned == 0)
        #expect(table.missingKeys == [])
    }

    @Test("keeps a row whose size is damaged", arguments: [2, 9, 20], [4, 20] as [UInt8])
    func size(id: Int, size: UInt8) throws {
        let place = try pages.cell(id - 1, of: pages.root("note"))
        try pages.change { data in
            data[place] = size
            // So that it is taken for damaged.
            data[18] = 9
        }
        #expect(try salvagedIDs() == Array(1...20))
    }

    private static let computing = [
        "data TEXT, mood TEXT AS (json_extract(data, '$.mood')) STORED);",
        "data TEXT, mood TEXT AS (json_extract(data, '$.mood')) VIRTUAL);",
        "data TEXT); CREATE UNIQUE INDEX moods ON entry(json_extract(data, '$.mood'));",
        "data TEXT CHECK (json_extract(data, '$.mood') <> ''));",
    ]

    @Test("loses the row alone of whose value nothing can be computed", arguments: computing)
    func uncomputable(columns: String) throws {
        try FileManager.default.removeItem(atPath: path)
        let schema = try SchemaMigrator(tables: "CREATE TABLE entry(id INTEGER PRIMARY KEY, \(columns)")
        let queue = try DatabaseQueue(path: path)
        try schema.migrate(queue)
        try queue.execute(
            """
            INSERT INTO entry(id, data) VALUES (1, '{"mood": "blue"}'), (2, '{"mood": "bad"}'), (3, '{"mood": "red"}')
            """)
        let objects = try queue.strings("SELECT sql FROM sqlite_schema WHERE tbl_name = 'entry'")
        try queue.close()
        try pages.change { data in
            let value = try #require(data.range(of: Data(#"{"mood": "bad"}"#.utf8)))
            data[value.lowerBound] = 1
            data[18] = 9
        }
        let report = try DatabaseFile(path: path).salvage(into: schema)
        let table = try #require(report.tables.first { $0.name == "entry" })
        #expect(table.saved == 2 && table.refused == 1 && report.tables.count == 1)
        let salvaged = try DatabaseQueue(path: path)
        #expect(try salvaged.integers("SELECT id FROM entry ORDER BY id") == [1, 3])
        #expect(
            try salvaged.strings("SELECT sql FROM sqlite_schema WHERE tbl_name = 'entry'") == objects)
        try salvaged.close()
    }

    @Test("stays as it is while a function of the app's fails for every row")
    func failingFunction() throws {
        let isReady = Locked(true)
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            let words = DatabaseFunction("words", argumentCount: 1, pure: true) { values in
                guard isReady.withLock({ $0 }) else { throw Mishap() }
                return values[0]
            }
            db.add(function: words)
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.execute("CREATE TABLE text(id INTEGER PRIMARY KEY, all_words TEXT AS (words(id)) STORED)")
        try queue.execute("INSERT INTO text(id) VALUES (1), (2), (3)")
        try queue.close()
        try pages.change { $0[18] = 9 }
        let damaged = try pages.read()
        let file = DatabaseFile(path: path, configuration: configuration)
        isReady.withLock { $0 = false }
        let error = try #require(throws: MigrationError.self) { try file.salvage(into: schema) }
        #expect(error.message.contains("a mishap"), "\(error)")
        #expect(try pages.read() == damaged)
        isReady.withLock { $0 = true }
        #expect(try file.salvage(into: schema).saved == 23)
    }
}
