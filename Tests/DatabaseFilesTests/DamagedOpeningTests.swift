import AppMigrations
import DatabaseFiles
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("Opening a damaged database", .timed)
struct DamagedOpeningTests {
    let notes: NotesDatabase

    init() throws { notes = try NotesDatabase() }

    private func refusal(_ file: DatabaseFile) throws -> MigrationError {
        let before = try Data(contentsOf: notes.url)
        let error = try #require(throws: MigrationError.self) { try file.openQueue() }
        #expect(try Data(contentsOf: notes.url) == before)
        return error
    }

    @Test("advises to repair it, and changes nothing, unless the app has another rule")
    func refuse() throws {
        try notes.change { $0.replaceSubrange(0..<100, with: Data(count: 100)) }
        let error = try refusal(DatabaseFile(path: notes.path))
        #expect(error.code == .damagedDatabase)
        #expect(error.advice == .repair)
        #expect(
            error.description == """
                app.sqlite: file is not a database (SQLite 26). Nothing was changed. Close every connection to it, and \
                call salvage(into:), which saves each row that can be read, and keeps the damaged file.
                """)
        #expect(error.localizedDescription == "The data could not be opened because the database is damaged.")
        #expect(error.recoverySuggestion == "Repair the data: what can be read is saved.")
    }

    @Test(
        "is told from opening an intact one",
        arguments: [
            "header", "one byte of the header", "header of another length", "truncated", "first page",
        ])
    func kinds(_ kind: String) throws {
        try notes.change { data in
            switch kind {
            case "header": data.replaceSubrange(0..<100, with: Data(count: 100))
            case "one byte of the header": data[3] = 0
            case "header of another length": data.removeFirst(7)
            case "truncated": data.removeLast(data.count / 2)
            default: data.replaceSubrange(0..<4_096, with: Data(count: 4_096))
            }
        }
        let error = try refusal(DatabaseFile(path: notes.path))
        // Bytes that have all moved make no page.
        #expect(error.code == (kind == "header of another length" ? .databaseFailed : .damagedDatabase))
    }

    @Test("is told from opening an intact one beside a damaged one that the app attaches", .needs(.clearText))
    func attached() throws {
        let cache = notes.folder.path("cache.sqlite")
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "ATTACH '\(cache)' AS cache") }
        let file = DatabaseFile(path: notes.path, configuration: configuration)
        try file.openQueue().close()
        try Data("no database, but some text that fills a page".utf8).write(
            to: notes.folder.file("cache.sqlite"))
        for error in [
            try refusal(file), try #require(throws: MigrationError.self) { try file.check() },
        ] {
            #expect(error.code == .databaseFailed)
            #expect(
                error.description == """
                    app.sqlite: a database that the app attaches cannot be opened: file is not a database (SQLite 26). This \
                    file is intact. Restore or remove that one. Nothing was changed.
                    """)
            #expect(error.advice != .repair)
        }
        try notes.change { $0.replaceSubrange(0..<100, with: Data(count: 100)) }
        #expect(try refusal(file).code == .damagedDatabase)
    }

    @Test("is not advised for an encrypted one, or another file: no row can be read in it")
    func encrypted() throws {
        var random = SystemRandomNumberGenerator()
        try notes.change { data in
            for index in data.indices { data[index] = UInt8.random(in: 0...255, using: &random) }
        }
        let error = try refusal(DatabaseFile(path: notes.path, ifDamaged: .salvage(into: notes.schema)))
        #expect(error.code == .databaseFailed)
        #expect(error.advice == .restore)
        #expect(error.remedy.hasPrefix("If it is encrypted, pass its passphrase"))
        #expect(try notes.names() == ["app.sqlite"])
    }

    @Test("advises to update the app if the file's format is newer")
    func newerFormat() throws {
        try notes.change { $0.replaceSubrange(18..<20, with: [3, 3]) }
        let error = try refusal(DatabaseFile(path: notes.path, ifDamaged: .salvage(into: notes.schema)))
        #expect(error.code == .newerThanThisProcess)
        #expect(error.advice == .updateApp)
        #expect(try notes.names() == ["app.sqlite"])
    }

    @Test(
        "salvages it if its header says that SQLite cannot write it, or not read its schema",
        arguments: [18, 47], [false, true])
    func impossibleFormat(place: Int, asPool: Bool) throws {
        try notes.change { $0[place] ^= 8 }
        let error = try refusal(DatabaseFile(path: notes.path))
        #expect(error.code == .damagedDatabase)
        #expect(error.advice == .repair)
        #expect(
            try #require(throws: MigrationError.self) { try DatabaseFile(path: notes.path).check() }.advice
                == .repair)
        let file = DatabaseFile(path: notes.path, ifDamaged: .salvage(into: notes.schema))
        let database: any DatabaseWriter = asPool ? try file.openPool() : try file.openQueue()
        try database.write { try $0.execute(sql: "UPDATE note SET title = 'new' WHERE id = 1") }
        #expect(try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM note") } == 40)
        try database.close()
    }

    @Test("does not take a folder in its place for a damaged one")
    func folder() throws {
        try FileManager.default.removeItem(atPath: notes.path)
        try FileManager.default.createDirectory(atPath: notes.path, withIntermediateDirectories: false)
        let error = try #require(throws: MigrationError.self) {
            try DatabaseFile(path: notes.path, ifDamaged: .salvage(into: notes.schema)).openQueue()
        }
        #expect(error.code == .databaseFailed)
        #expect(try notes.names() == ["app.sqlite"])
    }

    @Test("salvages it by the app's rule, says so, and opens the new one", arguments: [false, true])
    func salvage(asPool: Bool) throws {
        try notes.change { $0.replaceSubrange(0..<100, with: Data(count: 100)) }
        let log = EventLog()
        let file = DatabaseFile(path: notes.path, ifDamaged: .salvage(into: notes.schema), onEvent: log.note)
        let database: any DatabaseWriter = asPool ? try file.openPool() : try file.openQueue()
        // The launch runs the migrations that are pending.
        #expect(try notes.schema.migrate(database).applied == [2])
        #expect(try database.integers("SELECT count(*) FROM note WHERE stars = 3") == [40])
        try database.close()
        let reports = log.events.compactMap { event in
            if case .salvaged(let report) = event { report } else { nil }
        }
        #expect(reports.map(\.description) == ["44 entries were saved (note: 40, folder: 4)."])
        #expect(try file.openQueue().integers("SELECT count(*) FROM folder") == [4])
        #expect(log.events.count == 2)
    }

    @Test("is told of an empty file beside a write-ahead log, which SQLite would remove")
    func emptied() throws {
        let pool = try DatabasePool(path: notes.path)
        try pool.execute("PRAGMA wal_autocheckpoint = 0; UPDATE note SET title = 'new' WHERE id = 7")
        try pool.execute("VACUUM")
        let log = try Data(contentsOf: URL(fileURLWithPath: notes.path + "-wal"))
        try pool.close()
        try Data().write(to: notes.url)
        try log.write(to: URL(fileURLWithPath: notes.path + "-wal"))
        let error = try refusal(DatabaseFile(path: notes.path))
        #expect(error.code == .damagedDatabase)
        #expect(error.message == "app.sqlite: is empty, and its write-ahead log is not.")
        // To look for databases, and to move one, leaves the log alone as well.
        #expect(try DatabaseFile(path: notes.path).foundDatabases().map { $0.problem == nil } == [false])
        let moved = DatabaseFile(path: notes.folder.path("moved.sqlite"), movedFrom: [notes.path])
        #expect(throws: MigrationError.self) { try moved.openQueue() }
        let report = try DatabaseFile(path: notes.path).salvage(into: notes.schema)
        #expect(report.saved == 44)
        let queue = try DatabaseQueue(path: notes.path)
        #expect(try queue.integers("SELECT id FROM note WHERE title = 'new'") == [7])
        try queue.close()
    }

    @Test("is salvaged beside a log whose header was not written in full")
    func cutLog() throws {
        let bytes = try Data(contentsOf: notes.url)
        try (Data(count: 16) + bytes.dropFirst(16)).write(to: notes.url)
        let header: [UInt8] = [0x37, 0x7f, 0x06, 0x82, 0, 0x2d, 0xe2, 0x18, 0, 0, 0x10, 0, 0, 0, 0, 0]
        try Data(header).write(to: URL(fileURLWithPath: notes.path + "-wal"))
        #expect(try DatabaseFile(path: notes.path).salvage(into: notes.schema).saved == 44)
    }

    @Test("takes no file for an empty one that was written while it waited")
    func writtenMeanwhile() throws {
        let path = notes.folder.path("new.sqlite")
        let queue = try DatabaseQueue(path: path)
        let schema = notes.schema
        let result = Locked<Result<SalvageReport, any Error>?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        try queue.inDatabase { db in
            try db.execute(sql: "BEGIN IMMEDIATE")
            Thread.detachNewThread {
                let salvaged = Result { try DatabaseFile(path: path).salvage(into: schema) }
                result.withLock { $0 = salvaged }
                isDone.signal()
            }
            // A moment in which the other one finds the empty file: without it, this test would only see less.
            Thread.sleep(forTimeInterval: 0.05)
            try db.execute(
                sql: """
                    CREATE TABLE a(x, y); INSERT INTO a VALUES (1, 'one'), (2, 'two'), (3, 'three');
                    PRAGMA busy_timeout = 600000; COMMIT
                    """)
        }
        isDone.wait()
        let error = try #require(throws: MigrationError.self) { try result.withLock { $0 }?.get() }
        // It waits for half a second at most, and a busy machine may need longer.
        if error.code != .locked { #expect(error.message == "new.sqlite: is not damaged.") }
    }

    @Test("gives it back the log that an interrupted salvage has taken away", arguments: [false, true])
    func log(isInterruptedTwice: Bool) throws {
        let pool = try DatabasePool(path: notes.path)
        try pool.execute("PRAGMA wal_autocheckpoint = 0; UPDATE note SET title = 'new' WHERE id = 7")
        let aside = notes.path + ".damaged-20260101T000000Z-0000"
        let database = try Data(contentsOf: notes.url)
        try FileManager.default.copyItem(atPath: notes.path + "-wal", toPath: aside + "-wal")
        try pool.close()
        // The state between the removal of the log and the renaming of the new database.
        try database.write(to: notes.url)
        try notes.change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        try FileManager.default.linkItem(atPath: notes.path, toPath: aside)
        if isInterruptedTwice {
            try FileManager.default.linkItem(atPath: aside + "-wal", toPath: notes.path + "-wal")
        }
        let file = DatabaseFile(path: notes.path, ifDamaged: .salvage(into: notes.schema))
        let queue = try file.openQueue()
        #expect(try queue.integers("SELECT id FROM note WHERE title = 'new'") == [7])
        #expect(try queue.integers("SELECT count(*) FROM note") == [40])
        try queue.close()
        #expect(!FileManager.default.fileExists(atPath: aside))
        #expect(!FileManager.default.fileExists(atPath: aside + "-wal"))
    }

    @Test("keeps the journal that was taken away beside one that another connection has made since")
    func twoJournals() throws {
        let aside = notes.path + ".damaged-20260101T000000Z-0000"
        try notes.change { $0.replaceSubrange(0..<16, with: Data(count: 16)) }
        try FileManager.default.linkItem(atPath: notes.path, toPath: aside)
        try Data("journal".utf8).write(to: URL(fileURLWithPath: aside + "-journal"))
        try Data("newer".utf8).write(to: URL(fileURLWithPath: notes.path + "-journal"))
        #expect(try refusal(DatabaseFile(path: notes.path)).code == .damagedDatabase)
        #expect(try String(contentsOfFile: aside + "-journal", encoding: .utf8) == "journal")
    }

    @Test("leaves a file alone that has a second name for another reason")
    func secondName() throws {
        try FileManager.default.linkItem(atPath: notes.path, toPath: notes.folder.path("mine"))
        #expect(try DatabaseFile(path: notes.path).openQueue().integers("SELECT count(*) FROM note") == [40])
        #expect(try notes.names() == ["app.sqlite", "mine"])
    }

    @Test("is found by a check that the app asks for, while the app uses it")
    func check() throws {
        let file = DatabaseFile(path: notes.path)
        try file.check()
        try notes.change { $0.replaceSubrange(($0.count - 4_096)..., with: Data(count: 4_096)) }
        let queue = try file.openQueue()
        let error = try #require(throws: MigrationError.self) { try file.check() }
        #expect(error.code == .damagedDatabase)
        #expect(error.message.contains("btreeInitPage() returns error code 11"))
        #expect(try queue.integers("SELECT count(*) FROM folder") == [4])
        try queue.close()
        #expect(try file.salvage(into: notes.schema).saved > 0)
        try file.check()
    }

    @Test("does not make a missing file when it is checked")
    func missing() throws {
        try DatabaseFile(path: notes.folder.path("none.sqlite")).check()
        #expect(try notes.names() == ["app.sqlite"])
    }

    @Test("advises to repair it when a manager's migration meets the damage")
    func manager() throws {
        let root = try DatabaseQueue(path: notes.path).integers(
            "SELECT rootpage FROM sqlite_master WHERE name = 'note'")
        let start = (Int(try #require(root.first)) - 1) * 4_096
        try notes.change { $0.replaceSubrange(start..<start + 4_096, with: Data(count: 4_096)) }
        let queue = try DatabaseFile(path: notes.path).openQueue()
        let manager = try MigrationManager(
            name: "Notes", currentVersion: "2.0", adopting: .databaseHasTables(queue, means: "1.0"),
            store: .inMemory())
        manager.whenMigratingToVersion("2.0", in: queue) { db in
            try db.execute(sql: "UPDATE note SET title = 'x'")
        }
        let error = try #require(throws: MigrationError.self) { try manager.migrate() }
        #expect(error.code == .stepFailed)
        #expect(error.advice == .repair)
        #expect(error.facts.causes.map(\.number).contains(11))
        try queue.close()
    }

    @Test("makes no copy of the new database, whatever the migrator's options say")
    func backups() throws {
        let folder = try TemporaryFolder()
        let notes = try NotesDatabase(options: SchemaOptions(backupFolder: folder.url))
        try notes.change { $0.replaceSubrange(0..<100, with: Data(count: 100)) }
        #expect(try DatabaseFile(path: notes.path).salvage(into: notes.schema).saved == 44)
        #expect(try folder.fileNames == [])
    }

    @Test("saves the file where an older version had it, and moves the new one")
    func moved() throws {
        try notes.change { $0.replaceSubrange(0..<100, with: Data(count: 100)) }
        let new = notes.folder.path("new.sqlite")
        let log = EventLog()
        let file = DatabaseFile(
            path: new, movedFrom: [notes.path], ifDamaged: .salvage(into: notes.schema), onEvent: log.note)
        #expect(try file.openQueue().integers("SELECT count(*) FROM note") == [40])
        #expect(log.events.last == .moved(from: notes.path, to: new, isCopy: false))
    }
}
