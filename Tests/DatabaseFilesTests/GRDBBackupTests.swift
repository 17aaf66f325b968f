import AppMigrations
import DatabaseFiles
import Foundation
import GRDB
import GRDBMigrations
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("The copies that a schema step by GRDB's migrator makes", .timed)
struct GRDBBackupTests {
    let library: LibraryDatabase
    let backups: TemporaryFolder
    var file: DatabaseFile { DatabaseFile(path: library.path) }

    init() throws {
        library = try LibraryDatabase(4)
        backups = try TemporaryFolder()
    }

    /// Launches a version of the app with the first migrations.
    private func launch(
        _ version: String, _ count: Int, keeping kept: Int = 2, failing: Bool = false
    ) throws {
        let queue = try file.openQueue()
        defer { try? queue.close() }
        var migrator = LibraryDatabase.migrator(Array(LibraryDatabase.identifiers.prefix(count)))
        if failing { migrator.registerMigration("fail") { try $0.execute(sql: "DELETE FROM gone") } }
        let manager = try MigrationManager(
            name: "Library", currentVersion: AppVersion(parsing: version),
            adopting: .databaseHasTables(queue, means: "1.0"),
            store: .jsonFile(at: backups.file("migrations.json")))
        manager.whenMigratingToVersion(
            "1.0", migrate: migrator, backupFolder: backups.url, keptBackups: kept, in: queue)
        try manager.migrate()
    }

    private func copies() throws -> [FoundDatabase] { try file.foundBackups(in: backups.url) }

    @Test("are found with their identifiers and counts, and made only if something is pending")
    func found() throws {
        try launch("2.0", 6)
        try launch("2.0", 6)
        let copies = try copies()
        #expect(copies.map(\.schemaVersion) == ["markTitles"])
        #expect(copies.first?.rowCounts == ["author": 160, "book": 120, "remark": 120])
        #expect(try backups.fileNames.count { $0.hasSuffix(".backup") } == 1)
    }

    @Test("can take the place of the database when it is damaged, and are migrated again")
    func restored() throws {
        let expected = try library.expected()
        try launch("2.0", 10)
        try library.pages.change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        let damaged = try library.pages.read()
        let aside = try file.restore(fromBackup: #require(try copies().first).path)
        #expect(try Data(contentsOf: aside) == damaged)
        let queue = try file.openQueue()
        #expect(try queue.strings("SELECT identifier FROM grdb_migrations").last == "markTitles")
        let migrator = LibraryDatabase.migrator()
        try migrator.migrate(queue)
        #expect(try LibraryDatabase.rows(queue) == expected)
        try queue.execute("DELETE FROM book WHERE id = 50")
        #expect(try file.salvage(from: aside, into: migrator, of: queue).saved == 1)
        #expect(try LibraryDatabase.rows(queue) == expected)
        try queue.close()
    }

    @Test("are as many as the app keeps, with the one from before a failed update")
    func kept() throws {
        for count in 5...8 { try launch("2.\(count)", count) }
        #expect(try copies().map(\.schemaVersion) == ["indexTitle", "renameNote"])
        for _ in 0..<3 { #expect(throws: MigrationError.self) { try launch("3.0", 10, failing: true) } }
        // The first failing launch has applied those before the one that fails.
        #expect(try copies().map(\.schemaVersion) == ["countStars", "addPages"])
        try launch("3.1", 10)
        #expect(try copies().count == 2)
    }

    @Test("need a folder that can be made, before anything is changed")
    func unwritable() throws {
        try Data().write(to: backups.file("taken"))
        let queue = try file.openQueue()
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .databaseHasTables(queue, means: "1.0"),
            store: .jsonFile(at: backups.file("migrations.json")))
        manager.whenMigratingToVersion(
            "1.0", migrate: LibraryDatabase.migrator(), backupFolder: backups.file("taken/copies"), in: queue)
        let error = try #require(throws: MigrationError.self) { try manager.migrate() }
        #expect(error.description.contains("library.sqlite cannot be copied to"))
        #expect(try queue.strings("SELECT identifier FROM grdb_migrations").last == "markTitles")
        try queue.close()
    }
}
