import AppMigrations
import DatabaseFiles
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A damaged database whose header is changed", .timed)
struct PageFormatTests {
    let folder: TemporaryFolder
    let path: String
    private var file: DatabaseFile { DatabaseFile(path: path) }

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("app.sqlite")
    }

    /// Makes a database of 50 rows.
    private func make(
        _ settings: String = "", pageSize: Int = 4_096, reserved: UInt8 = 0, rows: Int = 50,
        _ schema: SchemaMigrator
    ) throws {
        if reserved > 0 {
            let empty = try DatabaseQueue(path: path)
            try empty.writeWithoutTransaction {
                try $0.execute(sql: "PRAGMA page_size = \(pageSize); VACUUM")
            }
            try empty.close()
            // In a database without a table, only the header says where the reserved bytes begin.
            try DatabasePages(path: path).change { data in
                data[20] = reserved
                let end = pageSize - Int(reserved)
                (data[105], data[106]) = (UInt8(end >> 8), UInt8(end & 0xff))
            }
        }
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA page_size = \(pageSize); \(settings)")
        }
        try schema.migrate(queue)
        try queue.write { db in
            for id in 1...rows {
                try db.execute(
                    sql: "INSERT INTO note VALUES (?, ?, ?)", arguments: [id, "note \(id)", text(id)])
            }
        }
        try queue.close()
    }

    private func text(_ id: Int) -> String { String(repeating: "wörter \(id) ", count: id % 60) }

    private func notes() throws -> SchemaMigrator {
        try SchemaMigrator(tables: "CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT, text TEXT)")
    }

    private func change(_ body: (inout Data) -> Void) throws { try DatabasePages(path: path).change(body) }

    /// Salvages the database, and expects every row to be as it was.
    private func expectAllRows(_ count: Int = 50, _ schema: SchemaMigrator) throws -> DatabaseQueue {
        let report = try file.salvage(into: schema)
        #expect(report.saved == count, "\(report.debugDescription)")
        let queue = try DatabaseQueue(path: path)
        #expect(try queue.strings("PRAGMA integrity_check") == ["ok"])
        let rows = try queue.read { try Row.fetchAll($0, sql: "SELECT * FROM note ORDER BY id") }
        for (index, row) in rows.enumerated() {
            #expect(row["title"] as String == "note \(index + 1)")
            #expect(row["text"] as String == text(index + 1))
        }
        return queue
    }

    @Test("is read where nearly all of its pages hold parts of long rows")
    func longRows() throws {
        let schema = try SchemaMigrator(tables: "CREATE TABLE photo(id INTEGER PRIMARY KEY, image BLOB)")
        let queue = try DatabaseQueue(path: path)
        try schema.migrate(queue)
        for id in 1...7 {
            // Few bytes of a row are in the page of its table.
            try queue.write { db in
                try db.execute(
                    sql: "INSERT INTO photo VALUES (?, ?)",
                    arguments: [id, Data(repeating: 0x5A, count: 1_997_390)])
            }
        }
        try queue.close()
        try change { $0.replaceSubrange(0..<4_096, with: Data(count: 4_096)) }
        #expect(try file.salvage(into: schema).saved == 7)
    }

    @Test(
        "gets its rows back in each encoding, in the same one, whether the field is there or not",
        arguments: ["UTF-8", "UTF-16le", "UTF-16be"], [0..<16, 0..<100, 56..<60])
    func encodings(encoding: String, lost: Range<Int>) throws {
        let schema = try notes()
        try make("PRAGMA encoding = '\(encoding)'", rows: 400, schema)
        try change { $0.replaceSubrange(lost, with: Data(count: lost.count)) }
        // SQLite takes a missing field for UTF-8.
        if lost == 56..<60, encoding == "UTF-8" { try change { $0[0] = 0 } }
        let queue = try expectAllRows(400, schema)
        #expect(try queue.strings("PRAGMA encoding") == [encoding])
    }

    @Test(
        "gets texts back that are valid in other encodings, too, whether header and schema are there or not",
        arguments: ["UTF-8", "UTF-16le", "UTF-16be"], [0..<0, 0..<100, 100..<4_096, 0..<4_096])
    func ambiguousTexts(encoding: String, lost: Range<Int>) throws {
        let schema = try notes()
        try make("PRAGMA encoding = '\(encoding)'", rows: 1, schema)
        let words = ["Москва", "كتاب", "あ", "木", "一", "二级", "가", "나다"]
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in
            for id in 2...600 {
                try db.execute(
                    sql: "INSERT INTO note(id, title) VALUES (?, ?)",
                    arguments: [id, words[id % words.count]])
            }
        }
        try queue.close()
        let pages = DatabasePages(path: path)
        try pages.erase(pages.child(0, of: pages.root("note")))
        try change { $0.replaceSubrange(lost, with: Data(count: lost.count)) }
        #expect(try file.salvage(into: schema).saved > 200)
        let salvaged = try DatabaseQueue(path: path)
        #expect(try salvaged.strings("PRAGMA encoding") == [encoding])
        let rows = try salvaged.read { try Row.fetchAll($0, sql: "SELECT id, title FROM note WHERE id > 1") }
        #expect(rows.allSatisfy { $0["title"] as String == words[$0["id"] as Int % words.count] })
    }

    @Test("gets its texts back in their encoding if the header gives another one", arguments: [2, 3])
    func otherEncoding(wrong: UInt8) throws {
        let schema = try notes()
        try make(rows: 300, schema)
        try change { $0[59] = wrong }
        _ = try expectAllRows(300, schema)
    }

    @Test("gets its rows back when the size of its pages is another one", arguments: [512, 8_192, 32_768])
    func pageSize(wrong: Int) throws {
        let schema = try notes()
        try make(rows: 300, schema)
        try change { ($0[16], $0[17]) = (UInt8(wrong >> 8), 0) }
        _ = try expectAllRows(300, schema)
    }

    @Test(
        "gets its rows back when bytes are reserved on each page",
        arguments: [(512, 8), (4_096, 32), (16_384, 8), (65_536, 4)], [false, true])
    func reserved(format: (Int, UInt8), isLost: Bool) throws {
        let schema = try notes()
        try make(pageSize: format.0, reserved: format.1, rows: 300, schema)
        try change { $0[isLost ? 20 : 0] = 0 }
        _ = try expectAllRows(300, schema)
    }

    @Test("gets its rows back when bytes seem to be reserved, and short rows are of a table that was renamed")
    func renamed() throws {
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(version: 1, name: "a", sql: "CREATE TABLE s(x, y)"),
            SQLMigration(
                version: 2, name: "b", sql: "ALTER TABLE s ADD COLUMN z; ALTER TABLE s RENAME TO s3"),
        ])
        let queue = try DatabaseQueue(path: path)
        try schema.migrate(queue, upTo: 1)
        try queue.write { db in
            for id in 1...50 {
                try db.execute(sql: "INSERT INTO s VALUES (?, ?)", arguments: [id, "row \(id)"])
            }
        }
        try schema.migrate(queue)
        try queue.close()
        try change { $0[20] = 200 }
        #expect(try file.salvage(into: schema).saved == 50)
        let count = try DatabaseQueue(path: path).integers("SELECT count(*) FROM s3 WHERE y = 'row ' || x")
        #expect(count == [50])
    }

    @Test(
        "gets its rows back when a long row seems to fill a larger page, whether the header says so or not",
        arguments: [false, true])
    func longRow(isStated: Bool) throws {
        let names = ["a", "b", "c", "d"]
        // One of them has a page with which four pages begin.
        let schema = try SchemaMigrator(
            tables: names.map { "CREATE TABLE \($0)(id INTEGER PRIMARY KEY, text TEXT);" }.joined())
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA page_size = 2048") }
        try schema.migrate(queue)
        try queue.write { db in
            for (name, id) in names.flatMap({ name in (1...7).map { (name, $0) } }) {
                let text = String(repeating: "-", count: id == 1 ? 6_144 : 40)
                try db.execute(sql: "INSERT INTO \(name) VALUES (?, ?)", arguments: [id, text])
            }
        }
        try queue.close()
        try change { data in
            if isStated {
                data[16] = 0x20
            } else {
                data.replaceSubrange(0..<100, with: Data(count: 100))
            }
        }
        #expect(try file.salvage(into: schema).saved == 28)
    }

    @Test("keeps texts that are none, where nothing is wrong with their pages")
    func strangeTexts() throws {
        let schema = try notes()
        try make(rows: 1, schema)
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in
            try db.execute(
                sql: """
                    INSERT INTO note VALUES (2, CAST(x'ff00fe' AS TEXT), CAST(x'61000000000062' AS TEXT));
                    INSERT INTO note VALUES (3, 'long', CAST(x'ff' || zeroblob(9) || randomblob(9000) AS TEXT));
                    """)
        }
        let values = "SELECT group_concat(hex(title) || hex(text)) FROM note"
        let before = try queue.strings(values)
        try queue.close()
        try change { $0[0] = 0 }
        _ = try file.salvage(into: schema)
        #expect(try DatabaseQueue(path: path).strings(values) == before)
    }

    @Test("keeps texts that are none in what is left of the last page")
    func strangeTextsOfCutPage() throws {
        let schema = try notes()
        try make(rows: 1, schema)
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in
            for id in 2...200 {
                try db.execute(
                    sql: "INSERT INTO note VALUES (?, CAST(x'ff00fe' AS TEXT), hex(zeroblob(40)))",
                    arguments: [id])
            }
        }
        try queue.close()
        try change { $0.removeLast(300) }
        _ = try file.salvage(into: schema)
        let last = try DatabaseQueue(path: path).strings("SELECT hex(title) FROM note WHERE id = 200")
        #expect(last == ["FF00FE"])
    }

    @Test("is left as it is if nothing can be read")
    func nothing() throws {
        let schema = try notes()
        try make(rows: 50, schema)
        let root = try DatabasePages(path: path).root("note")
        try change {
            $0.replaceSubrange(
                (root - 1) * 4_096..<$0.count, with: Data(count: $0.count - (root - 1) * 4_096))
        }
        let before = try DatabasePages(path: path).read()
        let error = try #require(throws: MigrationError.self) { try file.salvage(into: schema) }
        #expect(
            error.description == """
                app.sqlite: holds no row that can be read: it is encrypted, or was overwritten. If it is encrypted, pass its \
                passphrase; if not, restore a backup. Nothing was changed.
                """)
        #expect(try DatabasePages(path: path).read() == before)
        #expect(try folder.fileNames.sorted() == ["app.sqlite", "app.sqlite.move.lock"])
    }
}
