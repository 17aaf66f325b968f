import AppMigrations
import DatabaseFiles
import Foundation
import GRDB
import TestSupport
import TestTraits
import Testing

@Suite("A damaged database of GRDB's migrator", .timed)
struct GRDBSalvageTests {
    private let migrator = LibraryDatabase.migrator()

    @Test("gets all rows back when its header is lost", arguments: 1...10)
    func header(count: Int) throws {
        let library = try LibraryDatabase(count)
        let expected = try library.expected()
        try library.pages.change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        let report = try DatabaseFile(path: library.path).salvage(into: migrator)
        #expect(report.schemaVersion == LibraryDatabase.identifiers[count - 1])
        #expect(report.isComplete)
        #expect(try library.salvaged() == expected)
    }

    @Test(
        "gets all rows back when its first page is lost: its ledger is found on its own page",
        arguments: 1...10)
    func firstPage(count: Int) throws {
        let library = try LibraryDatabase(count)
        let expected = try library.expected()
        try library.pages.erase(1)
        let report = try DatabaseFile(path: library.path).salvage(into: migrator)
        #expect(report.schemaVersion == LibraryDatabase.identifiers[count - 1])
        #expect(report.unassigned == 0)
        #expect(try library.salvaged() == expected)
    }

    @Test(
        "gets the rows of its second page back when its first one is overwritten",
        arguments: [0, 0x5a, 0xff] as [UInt8], [0, 24])
    func secondPage(byte: UInt8, start: Int) throws {
        let folder = try TemporaryFolder()
        let pages = DatabasePages(path: folder.path("library.sqlite"))
        let author = "CREATE TABLE IF NOT EXISTS author(id INTEGER PRIMARY KEY, name TEXT NOT NULL)"
        var migrator = DatabaseMigrator()
        migrator.registerMigration("createBook") { db in
            try db.execute(
                sql: """
                    \(author); CREATE TABLE book(id INTEGER PRIMARY KEY, author INTEGER NOT NULL REFERENCES author(id),
                        title TEXT NOT NULL)
                    """)
        }
        let queue = try DatabaseQueue(path: pages.path)
        // The table of the migrator has the second page otherwise.
        try queue.write { try $0.execute(sql: author) }
        try migrator.migrate(queue)
        try queue.write { db in
            for id in 1...3 { try db.execute(sql: "INSERT INTO author VALUES (?, 'name')", arguments: [id]) }
            for id in 1...300 {
                try db.execute(
                    sql: "INSERT INTO book VALUES (?, ?, hex(zeroblob(40)))", arguments: [id, id % 3 + 1])
            }
        }
        try queue.close()
        #expect(try pages.root("author") == 2)
        try pages.change { data in
            data.replaceSubrange(start..<4_096, with: Data(repeating: byte, count: 4_096 - start))
        }
        let report = try DatabaseFile(path: pages.path).salvage(into: migrator)
        #expect(report.description.hasPrefix("303 entries were saved (book: 300, author: 3)."))
    }

    @Test(
        "is at the version that the index of the ledger names when the ledger itself is lost",
        arguments: 1...10)
    func ledger(count: Int) throws {
        let library = try LibraryDatabase(count)
        let expected = try library.expected()
        try library.pages.erase(library.pages.root("grdb_migrations"))
        let report = try DatabaseFile(path: library.path).salvage(into: migrator)
        #expect(report.schemaVersion == LibraryDatabase.identifiers[count - 1])
        #expect(try library.salvaged() == expected)
    }

    @Test("is at the latest version that makes its tables when the ledger and its index are lost")
    func bothLedgers() throws {
        for (count, version) in [
            (1, 1), (2, 2), (3, 4), (4, 4), (5, 5), (6, 6), (7, 7), (8, 8), (9, 10), (10, 10),
        ] {
            let library = try LibraryDatabase(count)
            let expected = try library.expected()
            try library.pages.erase(library.pages.root("sqlite_autoindex_grdb_migrations_1"))
            try library.pages.erase(library.pages.root("grdb_migrations"))
            let report = try DatabaseFile(path: library.path).salvage(into: migrator)
            #expect(report.schemaVersion == LibraryDatabase.identifiers[version - 1])
            let rows = try library.salvaged()
            // A migration that changes rows alone shows nowhere: it does not run a second time.
            if count == version { #expect(rows == expected) }
            #expect(rows.mapValues(\.count) == expected.mapValues(\.count))
        }
    }

    @Test("loses the rows of a lost page, and those that refer to them")
    func leaf() throws {
        let library = try LibraryDatabase()
        let expected = try library.expected()
        let pages = library.pages
        try pages.erase(pages.child(2, of: pages.root("author")))
        let report = try DatabaseFile(path: library.path).salvage(into: migrator)
        let rows = try library.salvaged()
        #expect(rows.allSatisfy { table, rows in rows.isSubset(of: expected[table] ?? []) })
        let lost = try #require(report.tables.first { $0.name == "author" }).missingKeys.reduce(0) {
            $0 + $1.count
        }
        #expect(lost > 10)
        #expect(rows["author"]?.count == 400 - lost)
        #expect(report.tables.first { $0.name == "book" }?.orphaned == rows["book"].map { 360 - $0.count })
        #expect(rows["grdb_migrations"] == expected["grdb_migrations"])
    }

    @Test("is salvaged when it is opened, if the app asks for that")
    func opening() throws {
        let library = try LibraryDatabase(4)
        let expected = try library.expected()
        try library.pages.change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        let events = Locked<[DatabaseFile.Event]>([])
        let file = DatabaseFile(path: library.path, ifDamaged: .salvage(into: migrator)) { event in
            events.withLock { $0.append(event) }
        }
        let queue = try file.openQueue()
        try migrator.migrate(queue)
        #expect(try LibraryDatabase.rows(queue) == expected)
        guard case .salvaged(let report) = events.withLock(\.last) else { return #expect(Bool(false)) }
        #expect(report.schemaVersion == "markTitles")
        try queue.close()
    }

    @Test("is never erased for its schema")
    func erasing() throws {
        let library = try LibraryDatabase(5)
        let queue = try DatabaseQueue(path: library.path)
        try queue.execute("CREATE TABLE added(text TEXT); INSERT INTO added VALUES ('by the app')")
        try queue.close()
        let expected = try library.expected()
        try library.pages.change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        var erasing = migrator
        erasing.eraseDatabaseOnSchemaChange = true
        _ = try DatabaseFile(path: library.path).salvage(into: erasing)
        #expect(try library.salvaged() == expected)
    }

    @Test("keeps what a migration does by its foreign keys")
    func cascades() throws {
        let library = try LibraryDatabase(4)
        var migrator = LibraryDatabase.migrator(Array(LibraryDatabase.identifiers.prefix(4)))
        migrator.registerMigration("forget", foreignKeyChecks: .immediate) {
            try $0.execute(sql: "DELETE FROM author WHERE id % 2 = 0")
        }
        let expected = try library.expected(migrator)
        try library.pages.change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        _ = try DatabaseFile(path: library.path).salvage(into: migrator)
        #expect(try library.salvaged(migrator) == expected)
        #expect(expected["book"]?.count == 60)
    }

    @Test("names the migration that fails, and stays as it is, unless it says by itself what was made there")
    func failing() throws {
        let library = try LibraryDatabase(4)
        let ledger = try ["grdb_migrations", "sqlite_autoindex_grdb_migrations_1"].map(library.pages.root)
        try library.pages.change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        let whole = try library.pages.read()
        for page in ledger { try library.pages.erase(page) }
        let before = try library.pages.read()
        var migrator = LibraryDatabase.migrator(Array(LibraryDatabase.identifiers.prefix(3)))
        migrator.registerMigration("markTitles") { try $0.execute(sql: "DELETE FROM gone") }
        let error = try #require(throws: MigrationError.self) {
            try DatabaseFile(path: library.path).salvage(into: migrator)
        }
        #expect(error.code == .stepFailed)
        #expect(
            error.description == """
                migration markTitles failed: no such table: gone (SQLite 1). Fix the migration. Nothing was changed.
                """)
        #expect(try library.pages.read() == before)
        try library.pages.change { $0 = whole }
        #expect(try DatabaseFile(path: library.path).salvage(into: migrator).saved == 400)
    }

    @Test("adds rows of a file that was set aside to the database in use")
    func merging() throws {
        let library = try LibraryDatabase(8)
        let expected = try library.expected()
        try library.pages.change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        let file = DatabaseFile(path: library.path)
        let setAside = try #require(try file.salvage(into: migrator).setAside)
        let queue = try file.openQueue()
        try migrator.migrate(queue)
        try queue.execute("DELETE FROM author WHERE id > 300")
        let report = try file.salvage(from: setAside, into: migrator, of: queue)
        #expect(report.tables.first { $0.name == "book" }?.saved == 20)
        #expect(try LibraryDatabase.rows(queue) == expected)
        try queue.execute("DELETE FROM grdb_migrations WHERE identifier = 'countStars'")
        let error = try #require(throws: MigrationError.self) {
            try file.salvage(from: setAside, into: migrator, of: queue)
        }
        #expect(error.code == .misuse)
        try queue.close()
    }
}
