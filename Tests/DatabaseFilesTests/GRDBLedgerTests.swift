import AppMigrations
import DatabaseFiles
import Foundation
import GRDB
import TestSupport
import TestTraits
import Testing

@Suite("The identifiers of a damaged database", .timed)
struct GRDBLedgerTests {
    /// What a damaged database has lost.
    enum Loss: String, CaseIterable {
        case header, ledger, index, bothLedgers, firstPage

        func damage(_ library: LibraryDatabase) throws {
            let pages = library.pages
            switch self {
            case .header: try pages.change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
            case .ledger: try pages.erase(pages.root("grdb_migrations"))
            case .index: try pages.erase(pages.root("sqlite_autoindex_grdb_migrations_1"))
            case .bothLedgers:
                try Loss.index.damage(library)
                try Loss.ledger.damage(library)
            case .firstPage: try pages.erase(1)
            }
        }
    }

    /// The parts of a migration that two others were merged into, as in GRDB's documentation.
    private static let parts = [
        "v1": "CREATE TABLE author(id INTEGER PRIMARY KEY, name TEXT NOT NULL)",
        "v2": "ALTER TABLE author ADD COLUMN rank INTEGER; UPDATE author SET name = name || '!'",
        "v3": "CREATE TABLE rival(id INTEGER PRIMARY KEY, rank REAL NOT NULL); UPDATE author SET rank = id",
        "v4": "UPDATE author SET rank = rank + 1",
    ]

    private func old(_ identifiers: [String]) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for identifier in identifiers {
            migrator.registerMigration(identifier) { try $0.execute(sql: Self.parts[identifier] ?? "") }
        }
        return migrator
    }

    private var merging: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v3", merging: ["v1", "v2"]) { db, applied in
            for identifier in ["v1", "v2", "v3"] where !applied.contains(identifier) {
                try db.execute(sql: Self.parts[identifier] ?? "")
            }
        }
        migrator.registerMigration("v4") { try $0.execute(sql: Self.parts["v4"] ?? "") }
        return migrator
    }

    @Test(
        "that were merged since mean what they mean to GRDB", arguments: [1, 2, 3, 4],
        [Loss.header, .ledger, .index])
    func merged(count: Int, loss: Loss) throws {
        let library = try LibraryDatabase(count, old(["v1", "v2", "v3", "v4"]))
        let expected = try library.expected(merging)
        try loss.damage(library)
        let report = try DatabaseFile(path: library.path).salvage(into: merging)
        #expect(report.schemaVersion == "v\(count)")
        #expect(try library.salvaged(merging) == expected)
        #expect(expected["grdb_migrations"]?.count == 2)
    }

    @Test(
        "that the migrator no longer has stay, in their order",
        arguments: [Loss.header, .ledger, .index, .firstPage])
    func removed(loss: Loss) throws {
        let all = LibraryDatabase.identifiers
        let before = LibraryDatabase.migrator(Array(all[..<2]) + ["draft"] + Array(all[2..<5]))
        let library = try LibraryDatabase(6, before)
        let expected = try library.expected()
        try loss.damage(library)
        let report = try DatabaseFile(path: library.path).salvage(into: LibraryDatabase.migrator())
        #expect(report.schemaVersion == "createTag")
        #expect(try library.salvaged() == expected)
        let queue = try DatabaseQueue(path: library.path)
        // What comes after a migration that the app has would be of a newer version.
        #expect(try queue.strings("SELECT identifier FROM grdb_migrations ORDER BY rowid") == ["draft"] + all)
        try queue.close()
    }

    @Test("that were the last of a release, and removed since, are named by the app")
    func ignored() throws {
        let library = try LibraryDatabase(
            5, LibraryDatabase.migrator(["createAuthor", "createBook", "draft"]))
        let migrator = LibraryDatabase.migrator(["createAuthor", "createBook", "addStars"])
        let expected = try library.expected(migrator)
        try Loss.header.damage(library)
        let file = DatabaseFile(path: library.path)
        let error = try #require(throws: MigrationError.self) { try file.salvage(into: migrator) }
        #expect(
            error.description == """
                a newer version of the app has migrated the database to draft. Update the app, and salvage the database \
                then. If this version left migrations out, name them: salvage(into: migrator.ignoring([…])). Nothing was \
                changed.
                """)
        #expect(try file.salvage(into: migrator.ignoring(["draft"])).isComplete)
        #expect(try library.salvaged(migrator) == expected)
    }

    @Test(
        "of a newer app keep an older one from salvaging",
        arguments: [Loss.header, .ledger, .index, .firstPage])
    func newer(loss: Loss) throws {
        let library = try LibraryDatabase(8)
        try loss.damage(library)
        let before = try library.pages.read()
        let error = try #require(throws: MigrationError.self) {
            try DatabaseFile(path: library.path).salvage(
                into: LibraryDatabase.migrator(Array(LibraryDatabase.identifiers.prefix(7))))
        }
        #expect(error.code == .newerThanThisProcess)
        #expect(error.message.contains("a newer version of the app has migrated the database to addPages"))
        #expect(try library.pages.read() == before)
        #expect(try library.folder.fileNames.filter { !$0.hasSuffix(".lock") } == ["library.sqlite"])
    }

    @Test("are not needed to tell a newer app's columns")
    func newerColumns() throws {
        let library = try LibraryDatabase(8)
        try Loss.bothLedgers.damage(library)
        let error = try #require(throws: MigrationError.self) {
            try DatabaseFile(path: library.path).salvage(
                into: LibraryDatabase.migrator(Array(LibraryDatabase.identifiers.prefix(7))))
        }
        #expect(error.code == .newerThanThisProcess)
        #expect(
            error.message.contains(
                "a newer version of the app has migrated the database with a column pages of book"))
    }

    @Test("that are out of order are run as GRDB does", arguments: [Loss.header, .index])
    func outOfOrder(loss: Loss) throws {
        var identifiers = LibraryDatabase.identifiers
        let late = identifiers.remove(at: 3)
        let library = try LibraryDatabase(6, LibraryDatabase.migrator(identifiers))
        #expect(late == "markTitles")
        let expected = try library.expected()
        try loss.damage(library)
        let report = try DatabaseFile(path: library.path).salvage(into: LibraryDatabase.migrator())
        #expect(report.schemaVersion == "indexTitle")
        #expect(try library.salvaged() == expected)
    }

    @Test("that can no longer be read are not taken for migrations that have not run")
    func lostRow() throws {
        let library = try LibraryDatabase(6)
        let expected = try library.expected()
        // The length of the record of a row in the middle, in the table and in its index.
        try library.pages.change { data in
            for name in ["sqlite_autoindex_grdb_migrations_1", "grdb_migrations"] {
                let page = library.pages.range(try library.pages.root(name))
                let place = try #require(data.range(of: Data("markTitles".utf8), in: page)).lowerBound
                data[place - 2] ^= 0x40
            }
        }
        _ = try DatabaseFile(path: library.path).salvage(into: LibraryDatabase.migrator())
        #expect(try library.salvaged() == expected)
    }

    @Test("on a page that is out of date do not count beside the ledger")
    func outOfDate() throws {
        let newer = try LibraryDatabase(10)
        let page = try newer.pages.read()[newer.pages.range(newer.pages.root("grdb_migrations"))]
        let library = try LibraryDatabase(8)
        let expected = try library.expected()
        try library.pages.change { data in
            data.append(page)
            // The header has the number of pages.
            data[31] += 1
            data.replaceSubrange(0..<16, with: Data(count: 16))
        }
        let report = try DatabaseFile(path: library.path).salvage(into: LibraryDatabase.migrator())
        #expect(report.schemaVersion == "addPages")
        #expect(try library.salvaged() == expected)
    }

    @Test("on a page of their own say more than rows that fit a later table")
    func fittingRows() throws {
        let library = try LibraryDatabase(2)
        let queue = try DatabaseQueue(path: library.path)
        try queue.execute(
            "CREATE TABLE mark(word TEXT PRIMARY KEY, weight REAL NOT NULL, image BLOB) WITHOUT ROWID")
        try queue.execute("INSERT INTO mark VALUES ('one', 1.5, x'00'), ('two', 2.5, x'00')")
        try queue.close()
        try Loss.firstPage.damage(library)
        let report = try DatabaseFile(path: library.path).salvage(into: LibraryDatabase.migrator())
        #expect(report.schemaVersion == "createBook")
    }
}
