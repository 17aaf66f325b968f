import AppMigrations
import DatabaseFiles
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A damaged database with journals", .timed)
struct SalvagedJournalTests {
    let folder: TemporaryFolder
    let path: String
    let schema: SchemaMigrator
    private var pages: DatabasePages { DatabasePages(path: path) }
    private var file: DatabaseFile { DatabaseFile(path: path) }
    private var files: [String] { ["", "-wal", "-journal"].map { path + $0 } }

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("app.sqlite")
        schema = try SchemaMigrator(
            tables: """
                CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT NOT NULL);
                CREATE TABLE folder(id INTEGER PRIMARY KEY, name TEXT NOT NULL, color TEXT NOT NULL);
                CREATE INDEX folder_name ON folder(name);
                """)
    }

    /// Makes a database, and leaves its files as a process does that is killed at the end of the body.
    ///
    /// - Returns: the first page of the index.
    @discardableResult
    private func make(_ settings: String, _ body: (Database) throws -> Void) throws -> Int {
        let original = folder.path("original.sqlite")
        let queue = try DatabaseQueue(path: original)
        defer { try? queue.close() }
        try queue.writeWithoutTransaction { try $0.execute(sql: settings) }
        try schema.migrate(queue)
        return try queue.writeWithoutTransaction { db in
            let root = try Int.fetchOne(
                db, sql: "SELECT rootpage FROM sqlite_schema WHERE name = 'folder_name'")
            try body(db)
            for end in ["", "-wal", "-journal"] where FileManager.default.fileExists(atPath: original + end) {
                try FileManager.default.copyItem(atPath: original + end, toPath: path + end)
            }
            if db.isInsideTransaction { try db.rollback() }
            return try #require(root)
        }
    }

    /// Makes a database that is damaged in a transaction which overwrites its notes.
    ///
    /// - Parameters:
    ///   - size: the number of pages that stay in memory.
    ///   - isWritten: whether the file has any of the transaction; its journal has what is overwritten in any case.
    ///   - change: changes the bytes of the journal, whose records begin after a sector (fileformat2.html, 3).
    private func makeOverwritten(
        inCacheOf size: Int, isWritten: Bool, changing change: (_ journal: inout Data, _ sector: Int) -> Void,
        then body: (Database) throws -> Void = { _ in }
    ) throws {
        var before: Data?
        let root = try make("PRAGMA secure_delete = OFF; PRAGMA cache_size = \(size)") { db in
            try addNotes(1...400, db)
            before = FileManager.default.contents(atPath: folder.path("original.sqlite"))
            try db.beginTransaction()
            try db.execute(sql: "UPDATE note SET text = 'never'")
            try body(db)
        }
        if !isWritten { try #require(before).write(to: URL(fileURLWithPath: path)) }
        try pages.erase(root)
        try DatabasePages(path: path + "-journal").change { journal in
            change(&journal, journal[20..<24].reduce(0) { $0 << 8 | Int($1) })
        }
    }

    private func addNotes(_ ids: ClosedRange<Int>, _ db: Database) throws {
        for id in ids {
            try db.execute(
                sql: "INSERT INTO note VALUES (?, ?)",
                arguments: [id, "note \(id) " + String(repeating: "-", count: 80)])
        }
    }

    private func ids() throws -> [Int64] {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        #expect(try queue.strings("PRAGMA integrity_check") == ["ok"])
        return try queue.integers("SELECT id FROM note WHERE text LIKE 'note ' || id || ' %' ORDER BY id")
    }

    private func contents() -> [Data?] { files.map { FileManager.default.contents(atPath: $0) } }

    @Test("gets every row back that is in its log, whatever is left of its file")
    func log() throws {
        try make("PRAGMA journal_mode = WAL") { db in
            try addNotes(1...400, db)
            try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            try addNotes(401...800, db)
        }
        try pages.change { $0.replaceSubrange(4_096..., with: Data(count: $0.count - 4_096)) }
        _ = try file.salvage(into: schema)
        let saved = try ids()
        #expect(Set(401...800).isSubset(of: saved))
        // The last page of the first ones is in the log, too.
        #expect(saved.count >= 422)
    }

    @Test("is left alone if SQLite reads it with its log", arguments: [false, true])
    func intactWithLog(isFirstPageOnly: Bool) throws {
        try make("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0") { db in
            if !isFirstPageOnly { try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
            try addNotes(1...400, db)
            try db.execute(sql: "CREATE TABLE other(x)")
        }
        try pages.change { $0.replaceSubrange(0..<4_096, with: Data(count: 4_096)) }
        let before = contents()
        let error = try #require(throws: MigrationError.self) { try file.salvage(into: schema) }
        #expect(error.code == .misuse && error.message.contains("is not damaged"), "\(error)")
        #expect(contents() == before)
        #expect(try ids().count == 400)
    }

    @Test("is left alone if the page with an impossible format is another one in its log")
    func intactHeaderInLog() throws {
        try make("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0") { db in
            try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            try addNotes(1...400, db)
            try db.execute(sql: "CREATE TABLE other(x)")
        }
        try pages.change { $0[18] = 9 }
        try file.check()
        let error = try #require(throws: MigrationError.self) { try file.salvage(into: schema) }
        #expect(error.code == .misuse && error.message.contains("is not damaged"), "\(error)")
    }

    @Test("gets everything back from its log if its file is empty")
    func logAlone() throws {
        try make("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0") { db in
            try addNotes(1...400, db)
            try db.execute(sql: "UPDATE note SET text = text || hex(zeroblob(9000)) WHERE id = 7")
        }
        try Data().write(to: URL(fileURLWithPath: path))
        let report = try file.salvage(into: schema)
        #expect(report.isComplete)
        #expect(try ids() == Array(1...400))
    }

    @Test("says that a log was left out without which it is intact")
    func damageInLog() throws {
        try make("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0") { db in
            try addNotes(1...100, db)
            try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            try addNotes(101...600, db)
            let index = "FROM sqlite_schema WHERE name = 'folder_name'"
            try db.execute(
                sql: """
                    CREATE TEMP TABLE saved AS SELECT * \(index);
                    PRAGMA writable_schema = ON; DELETE \(index); PRAGMA writable_schema = RESET;
                    INSERT INTO folder VALUES (1, 'one', 'red');
                    PRAGMA writable_schema = ON; INSERT INTO sqlite_schema SELECT * FROM saved;
                    PRAGMA writable_schema = RESET
                    """)
        }
        let report = try file.salvage(into: schema)
        #expect(!report.isComplete)
        #expect(report.description == "100 entries were saved. The last changes may be missing.")
        #expect(try ids() == Array(1...100))
    }

    @Test(
        "says that changes may be missing if its log is damaged before the last transaction",
        arguments: ["header", "salt", "page", "last page"])
    func damagedLog(place: String) throws {
        let root = try make("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0") { db in
            try addNotes(1...100, db)
            try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            for id in 101...110 { try addNotes(id...id, db) }
        }
        try pages.erase(root)
        try DatabasePages(path: path + "-wal").change { log in
            // The third of its frames, which have 4,120 bytes.
            let frame = 32 + 2 * 4_120
            let offsets = [
                "header": 20, "salt": frame + 9, "page": frame + 2_000, "last page": log.count - 2_000,
            ]
            log[try #require(offsets[place])] ^= 1
        }
        let report = try file.salvage(into: schema)
        #expect(report.hasUnusedJournal && !report.isComplete)
        #expect(report.description.contains("The last changes may be missing."))
        #expect(report.debugDescription.contains("a journal or its end left out"))
    }

    @Test(
        "lacks nothing if a transaction in its log was not completed, whose checksums SQLite writes at its end"
    )
    func openTransaction() throws {
        let root = try make(
            "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = 2"
        ) { db in
            try addNotes(1...100, db)
            try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            try addNotes(101...110, db)
            try db.beginTransaction()
            for id in 1...2_000 {
                try db.execute(
                    sql: "INSERT INTO folder VALUES (?, hex(randomblob(20)), 'red')", arguments: [id])
            }
        }
        try pages.erase(root)
        let report = try file.salvage(into: schema)
        #expect(!report.hasUnusedJournal && report.isComplete)
        #expect(try ids() == Array(1...110))
    }

    @Test("gets no row back from pages that its log has cut off")
    func shrunk() throws {
        let root = try make(
            "PRAGMA auto_vacuum = FULL; VACUUM; PRAGMA journal_mode = WAL; PRAGMA secure_delete = OFF"
        ) { db in
            for id in 1...400 {
                try db.execute(sql: "INSERT INTO folder VALUES (?, 'folder', 'red')", arguments: [id])
            }
            try addNotes(1...400, db)
            try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE); DELETE FROM note WHERE id > 21")
        }
        try pages.erase(root)
        let report = try file.salvage(into: schema)
        #expect(try ids() == Array(1...21))
        #expect(report.description == "421 entries were saved (folder: 400, note: 21).")
    }

    @Test("is rolled back first if a transaction was not completed", arguments: [false, true])
    func hotJournal(isCut: Bool) throws {
        let root = try make("PRAGMA secure_delete = OFF; PRAGMA cache_size = 2") { db in
            try addNotes(1...100, db)
            for id in 1...400 {
                try db.execute(sql: "INSERT INTO folder VALUES (?, 'folder', 'red')", arguments: [id])
            }
            try db.beginTransaction()
            try db.execute(sql: "UPDATE note SET text = 'never' WHERE id <= 100")
            try addNotes(101...3_000, db)
        }
        #expect(FileManager.default.fileExists(atPath: path + "-journal"))
        try pages.erase(root)
        // A later part of the journal that was not written in full counts for nothing.
        if isCut {
            try DatabasePages(path: path + "-journal").change { $0 += Data(repeating: 7, count: 900) }
        }
        let report = try file.salvage(into: schema)
        #expect(try ids() == Array(1...100))
        #expect(report.description == "500 entries were saved (folder: 400, note: 100).")
    }

    @Test(
        "says that changes may be missing if its journal is damaged before its end, unless it was never synced",
        arguments: [false, true])
    func damagedJournal(isSynced: Bool) throws {
        try makeOverwritten(inCacheOf: 2, isWritten: isSynced) { journal, sector in
            // Each record ends with its checksum.
            #expect(journal[11] > 0 && journal[11] < 255)
            // After them, SQLite syncs, begins the next part, and writes to the file.
            if !isSynced { journal = journal.prefix(sector + Int(journal[11]) * 4_104) }
            journal[sector + 4_103] ^= 1
        } then: {
            try addNotes(401...3_000, $0)
        }
        let report = try file.salvage(into: schema)
        #expect(report.hasUnusedJournal == isSynced, "\(report.debugDescription)")
        #expect(report.isComplete != isSynced)
        if !isSynced { #expect(try ids() == Array(1...400)) }
    }

    @Test(
        "says that changes may be missing if its journal was cut, unless nothing was written since",
        arguments: [false, true])
    func cutJournal(isWritten: Bool) throws {
        try makeOverwritten(inCacheOf: 8, isWritten: isWritten) { journal, sector in
            journal = journal.prefix(sector + (Int(journal[11]) - 1) * 4_104 + 100)
        }
        let report = try file.salvage(into: schema)
        #expect(report.hasUnusedJournal == isWritten, "\(report.debugDescription)")
        #expect(report.isComplete != isWritten)
    }

    /// Makes a database to whose 100 notes a transaction adds others.
    ///
    /// - Parameter body: ends the transaction.
    /// - Returns: the first page of the notes, and the journal that the transaction had.
    private func makeWithJournal(
        _ body: (Database) throws -> Void
    ) throws -> (root: Int, journal: Data) {
        var journal: Data?
        let root = try make("PRAGMA secure_delete = OFF; PRAGMA cache_size = 2") { db in
            try addNotes(1...100, db)
            try db.beginTransaction()
            try addNotes(101...3_000, db)
            journal = FileManager.default.contents(atPath: folder.path("original.sqlite-journal"))
            try body(db)
        }
        return (root, try #require(journal))
    }

    @Test(
        "is rolled back as SQLite does if the journal of several databases, which its own names, is still there",
        arguments: [false, true])
    func commonJournal(isThere: Bool) throws {
        var (root, journal) = try makeWithJournal { if !isThere { try $0.commit() } }
        let common = Data(folder.path("app.sqlite-mj1234").utf8)
        func number(_ value: Int) -> Data { Data((0..<4).map { UInt8(value >> (24 - 8 * $0) & 0xff) }) }
        // fileformat2.html, 3: its name ends the journals of the databases.
        journal += common + number(common.count) + number(common.reduce(0) { $0 + Int($1) })
        journal += Data([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7])
        try journal.write(to: URL(fileURLWithPath: path + "-journal"))
        // It has the names of theirs.
        if isThere { try Data("\(path)-journal\0".utf8).write(to: folder.file("app.sqlite-mj1234")) }
        let expected = try idsBySQLite()
        #expect(expected.count == (isThere ? 100 : 3_000))
        try pages.erase(root)
        let report = try file.salvage(into: schema)
        #expect(try ids() == expected)
        #expect(report.isComplete)
    }

    @Test(
        "is saved without an old journal with which its pages contradict each other, and without which they agree",
        arguments: [false, true])
    func olderJournal(isPageLost: Bool) throws {
        let (root, journal) = try makeWithJournal { db in
            try db.commit()
            try db.execute(sql: "INSERT INTO folder SELECT id, 'folder', 'red' FROM note")
        }
        try journal.write(to: URL(fileURLWithPath: path + "-journal"))
        if isPageLost { try pages.erase(root) }
        _ = try file.salvage(into: schema)
        #expect(try ids().count == 3_000)
    }

    @Test("is saved without an old journal that brings rows back whose pages are those of others since")
    func olderChains() throws {
        var old: Data?
        let root = try make("PRAGMA secure_delete = OFF; PRAGMA cache_size = 2") { db in
            for id in 1...60 {
                try db.execute(sql: "INSERT INTO note VALUES (?, hex(zeroblob(5000)))", arguments: [id])
            }
            try db.beginTransaction()
            try db.execute(sql: "UPDATE note SET text = 'short'")
            old = FileManager.default.contents(atPath: folder.path("original.sqlite-journal"))
            try db.commit()
            for id in 1...300 {
                try db.execute(
                    sql: "INSERT INTO folder VALUES (?, 'folder', hex(zeroblob(200)))", arguments: [id])
            }
        }
        try #require(old).write(to: URL(fileURLWithPath: path + "-journal"))
        try pages.erase(root)
        let report = try file.salvage(into: schema)
        #expect(
            report.description
                == "360 entries were saved (folder: 300, note: 60). The last changes may be missing.")
        let saved = try DatabaseQueue(path: path)
        #expect(try saved.integers("SELECT count(*) FROM note WHERE text = 'short'") == [60])
    }

    @Test(
        "is saved without an old log with which its pages contradict each other, and without which they agree"
    )
    func olderLog() throws {
        var old: Data?
        let root = try make("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0") { db in
            try addNotes(1...300, db)
            try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            try db.execute(sql: "UPDATE note SET text = upper(text) WHERE id = 1")
            old = FileManager.default.contents(atPath: folder.path("original.sqlite-wal"))
            try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            try addNotes(301...3_000, db)
            try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        }
        try #require(old).write(to: URL(fileURLWithPath: path + "-wal"))
        try pages.erase(root)
        _ = try file.salvage(into: schema)
        #expect(try ids().count == 3_000)
    }

    @Test("gets exactly the rows back that SQLite reads, whatever is left of its log", arguments: 1..<13)
    func leftOfLog(part: Int) throws {
        let root = try make("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0") { db in
            for id in 1...300 {
                try db.execute(sql: "INSERT INTO folder VALUES (?, 'folder', 'red')", arguments: [id])
            }
            try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            for first in stride(from: 1, to: 200, by: 10) {
                try db.inTransaction {
                    try addNotes(first...first + 9, db)
                    try db.execute(sql: "DELETE FROM note WHERE id % 7 = ?", arguments: [first % 7])
                    return .commit
                }
            }
        }
        try pages.erase(root)
        let log = DatabasePages(path: path + "-wal")
        let size = try log.read().count
        try log.change { data in
            let place = size * part / 13
            if part % 2 == 0 { data = data.prefix(place) } else { data[place] ^= 1 }
        }
        let expected = try idsBySQLite()
        _ = try file.salvage(into: schema)
        #expect(try ids() == expected)
    }

    /// The keys of the notes in a copy with all journals.
    private func idsBySQLite() throws -> [Int64] {
        let copy = folder.path("copy.sqlite")
        for end in ["", "-wal", "-journal"] where FileManager.default.fileExists(atPath: path + end) {
            try FileManager.default.copyItem(atPath: path + end, toPath: copy + end)
        }
        let queue = try DatabaseQueue(path: copy)
        defer { try? queue.close() }
        return try queue.integers("SELECT id FROM note ORDER BY id")
    }
}
