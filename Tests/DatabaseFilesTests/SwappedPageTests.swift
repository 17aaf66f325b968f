import AppMigrations
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
    private var pages: DatabasePages { DatabasePages(path: path) }

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("app.sqlite")
        schema = try SchemaMigrator(
            tables: """
                CREATE TABLE draft(id INTEGER PRIMARY KEY, text TEXT NOT NULL);
                CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT NOT NULL);
                CREATE TABLE sketch(id INTEGER PRIMARY KEY, text TEXT NOT NULL, image BLOB);
                """)
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

    /// Salvages the database, and expects every row to be in its own table.
    private func expectAllRows(images: Int64 = 2_000) throws {
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
        #expect(try queue.integers("SELECT count(*) FROM sketch WHERE typeof(text) = 'blob'") == [images])
        try queue.close()
    }

    @Test(
        "gets the rows of two tables with the same columns back into their own, by their keys",
        arguments: [(1, 1), (2, 2), (2, 3), (4, 3), (0, 5), (6, 6)])
    func leaves(first: Int, second: Int) throws {
        let (draft, note) = try (pages.root("draft"), pages.root("note"))
        try pages.swap(pages.child(first, of: draft), pages.child(second, of: note))
        try expectAllRows()
    }

    @Test("gets them back when the page that a table begins with is one of the two", arguments: 0..<4)
    func roots(index: Int) throws {
        let (draft, note) = try (pages.root("draft"), pages.root("note"))
        try pages.swap(draft, pages.child(index, of: note))
        try expectAllRows()
    }

    @Test(
        "gets them back when both tables begin with the other's only page, and one may hold what the other has"
    )
    func onlyPages() throws {
        let schema = try SchemaMigrator(
            tables: """
                CREATE TABLE child(name TEXT NOT NULL, image BLOB, number INTEGER NOT NULL);
                CREATE TABLE typed(x INTEGER, y TEXT, z REAL);
                """)
        let path = folder.path("two.sqlite")
        let queue = try DatabaseQueue(path: path)
        try schema.migrate(queue)
        try queue.write { db in
            for id in 1...30 {
                let image = Data(repeating: UInt8(id), count: 3)
                try db.execute(
                    sql: "INSERT INTO child VALUES (?, ?, ?)", arguments: ["child \(id)", image, id])
                // SQLite lets a column for numbers have texts, and some apps write them.
                let x: any DatabaseValueConvertible = id % 5 == 0 ? "x" : id
                try db.execute(
                    sql: "INSERT INTO typed VALUES (?, ?, ?)",
                    arguments: [x, "typed \(id)", Double(id) + 0.25])
            }
        }
        try queue.close()
        let pages = DatabasePages(path: path)
        try pages.swap(pages.root("child"), pages.root("typed"))
        let report = try DatabaseFile(path: path).salvage(into: schema)
        #expect(report.description.hasPrefix("60 entries were saved (child: 30, typed: 30)."), "\(report)")
        let salvaged = try DatabaseQueue(path: path)
        #expect(try salvaged.integers("SELECT count(*) FROM child WHERE name = 'child ' || rowid") == [30])
        #expect(try salvaged.integers("SELECT count(*) FROM typed WHERE y = 'typed ' || rowid") == [30])
        try salvaged.close()
    }

    @Test("gets them back when the page with children is not where other pages with children are")
    func depth() throws {
        let queue = try DatabaseQueue(path: path)
        try queue.execute("DELETE FROM draft WHERE id > 250; VACUUM")
        try queue.close()
        let (draft, note) = try (pages.root("draft"), pages.root("note"))
        #expect(try pages.childCount(of: draft) == 1)
        // The only key between the drafts is one that the first notes can have.
        try pages.swap(draft, pages.child(0, of: note))
        _ = try DatabaseFile(path: path).salvage(into: schema)
        let salvaged = try DatabaseQueue(path: path)
        for (table, count) in [("draft", 250), ("note", 2_000)] {
            #expect(try salvaged.integers("SELECT count(*) FROM \(table)") == [Int64(count)])
            #expect(try salvaged.strings("SELECT text FROM \(table) WHERE text NOT LIKE '\(table) %'") == [])
        }
        try salvaged.close()
    }

    @Test("gets the rows of two tables with other columns back into their own", arguments: [(1, 1), (5, 4)])
    func shapes(first: Int, second: Int) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.execute("UPDATE sketch SET text = CAST(text AS TEXT)")
        try queue.close()
        let (sketch, note) = try (pages.root("sketch"), pages.root("note"))
        try pages.swap(pages.child(first, of: sketch), pages.child(second, of: note))
        try expectAllRows(images: 0)
    }

    @Test("keeps the rows of a page beside a damaged key of its parent", arguments: [0x80, 0xc0, 0xff])
    func damagedKey(byte: UInt8) throws {
        let place = try pages.cell(3, of: pages.root("note")) + 4
        // The first seven bits of a key of two bytes: it is far less than it was, or more.
        try pages.change { data in
            #expect(data[place] > 0x80 && data[place + 1] < 0x80 && data[place] != byte)
            data[place] = byte
            data[18] = 9
        }
        try expectAllRows()
    }

    @Test("gets the rows of a page back to which a damaged cell of its parent leads")
    func damagedCell() throws {
        let root = try pages.root("note")
        try pages.change { data in
            let pointer = pages.range(root).lowerBound + 12 + 2 * 3
            data.replaceSubrange(pointer..<pointer + 2, with: [0, 1])
        }
        try expectAllRows()
    }

    @Test("gives no rows to a table whose page leads to those of another one")
    func damagedChild() throws {
        let (draft, note) = try (pages.root("draft"), pages.root("note"))
        try pages.write(pages.child(0, of: draft), at: pages.cell(0, of: note))
        let report = try DatabaseFile(path: path).salvage(into: schema)
        let queue = try DatabaseQueue(path: path)
        for table in ["draft", "note"] {
            #expect(try queue.strings("SELECT text FROM \(table) WHERE text NOT LIKE '\(table) %'") == [])
        }
        // The page to which both lead can be of both.
        #expect(report.unassigned > 100 && report.saved + report.unassigned == 6_000)
        try queue.close()
    }

    @Test("keeps the rows of a table where another one has an older page, of rows that were deleted since")
    func olderPage() throws {
        let queue = try DatabaseQueue(path: path)
        try queue.execute("DELETE FROM draft WHERE id NOT BETWEEN 1001 AND 1050; VACUUM")
        try queue.close()
        let old = try Data(pages.read()[pages.range(pages.root("draft"))])
        let later = try DatabaseQueue(path: path)
        try later.execute("DELETE FROM draft; INSERT INTO draft SELECT id, 'draft ' || id FROM note LIMIT 50")
        try later.close()
        let place = try pages.range(pages.child(0, of: pages.root("note")))
        try pages.change { $0.replaceSubrange(place, with: old) }
        let report = try DatabaseFile(path: path).salvage(into: schema)
        let salvaged = try DatabaseQueue(path: path)
        #expect(try salvaged.integers("SELECT count(*) FROM draft WHERE id <= 50") == [50])
        #expect(try salvaged.strings("SELECT text FROM note WHERE text NOT LIKE 'note %'") == [])
        #expect(report.unassigned == 50)
        try salvaged.close()
    }

    @Test("gives no row to a table that is likelier, if another one can have it")
    func rivals() throws {
        let path = folder.path("rivals.sqlite")
        let schema = try SchemaMigrator(
            tables: "CREATE TABLE typed(x INTEGER, y TEXT, z REAL); CREATE TABLE loose_(a, b TEXT, c);")
        let queue = try DatabaseQueue(path: path)
        try schema.migrate(queue)
        try queue.write { db in
            for id in 1...40 {
                let x: any DatabaseValueConvertible = id % 5 == 0 ? "x\(id)" : id
                try db.execute(sql: "INSERT INTO typed VALUES (?, 'typed', 0.5)", arguments: [x])
                try db.execute(sql: "INSERT INTO loose_ VALUES (?, 'loose', x'00')", arguments: ["a\(id)"])
            }
        }
        try queue.close()
        try DatabasePages(path: path).change { $0.replaceSubrange(100..<4_096, with: Data(count: 3_996)) }
        let error = try failure { try DatabaseFile(path: path).salvage(into: schema) }
        #expect(error.message.contains("holds rows that can be read (80)"), "\(error)")
    }

    @Test("gives no entries of an index to a table of the same columns that is ordered by its keys")
    func index() throws {
        let path = folder.path("index.sqlite")
        let schema = try SchemaMigrator(
            tables: """
                CREATE TABLE pair(number INTEGER, name TEXT, value, PRIMARY KEY(number, name)) WITHOUT ROWID;
                CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT, number INTEGER);
                CREATE INDEX note_number ON note(number, text);
                """)
        let queue = try DatabaseQueue(path: path)
        try schema.migrate(queue)
        try queue.write { db in
            for id in 1...200 {
                let name = "pair \(id) " + String(repeating: "-", count: 20)
                try db.execute(sql: "INSERT INTO pair VALUES (?, ?, 'pair')", arguments: [id, name])
                let text = "note \(id) " + String(repeating: "-", count: 20)
                try db.execute(sql: "INSERT INTO note VALUES (?, ?, ?)", arguments: [id, text, id])
            }
        }
        try queue.close()
        let pages = DatabasePages(path: path)
        let (pair, index) = try (pages.root("pair"), pages.root("note_number"))
        #expect(try pages.childCount(of: pair) == 1 && pages.childCount(of: index) == 1)
        // The last child stands in the header.
        try pages.swap(index, pages.number(at: pages.range(pair).lowerBound + 8))
        _ = try DatabaseFile(path: path).salvage(into: schema)
        let salvaged = try DatabaseQueue(path: path)
        #expect(try salvaged.strings("SELECT name FROM pair WHERE name NOT LIKE 'pair %'") == [])
        #expect(try salvaged.integers("SELECT count(*) > 80 FROM pair") == [1])
        #expect(try salvaged.integers("SELECT count(*) FROM note") == [200])
        try salvaged.close()
    }
}
