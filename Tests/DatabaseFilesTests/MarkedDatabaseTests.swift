import AppMigrations
import DatabaseFiles
import Dispatch
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A database beside other files", .timed)
struct MarkedDatabaseTests {
    let folder: TemporaryFolder
    let old: String
    let new: String

    init() throws {
        folder = try TemporaryFolder()
        for name in ["old", "new"] {
            try FileManager.default.createDirectory(at: folder.file(name), withIntermediateDirectories: true)
        }
        (old, new) = (folder.path("old/app.sqlite"), folder.path("new/app.sqlite"))
    }

    private let log = EventLog()

    private func file(waitingFor limit: Duration = .seconds(10)) -> DatabaseFile {
        DatabaseFile(path: new, movedFrom: [old], waitingFor: limit, onEvent: log.note)
    }

    private func make(_ path: String, _ texts: String...) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.execute("CREATE TABLE IF NOT EXISTS note(text TEXT)")
        for text in texts { try queue.execute("INSERT INTO note VALUES ('\(text)')") }
        try queue.close()
    }

    private func notes(_ database: some DatabaseReader) throws -> [String] {
        try database.strings("SELECT text FROM note ORDER BY text")
    }

    private func open() throws -> [String] {
        let queue = try file().openQueue()
        defer { try? queue.close() }
        return try notes(queue)
    }

    // MARK: The mark

    @Test("that was moved stays the database when every row is deleted", arguments: [false, true])
    func emptied(isCopy: Bool) throws {
        try make(old, "a")
        var file = file()
        file.copiesAlways = isCopy
        try file.openQueue().close()
        // Somebody has gone back to an older build, and on again.
        try make(old, "older build")
        #expect(try open() == ["a"])
        let queue = try DatabaseQueue(path: new)
        try queue.execute("DELETE FROM note")
        try queue.close()
        #expect(try open() == [])
        #expect(log.events.last == .ignored(old))
        #expect(try notes(DatabaseQueue(path: old)) == ["older build"])
        // Not even tables have to be left.
        try DatabaseQueue(path: new).execute("DROP TABLE note")
        let empty = try self.file().openQueue()
        #expect(try empty.tables() == ["app_migrations_moved"])
    }

    @Test("that was moved there and back is the database, whatever older versions have made since")
    func thereAndBack() throws {
        try make(old, "a")
        try file().openQueue().close()
        let back = DatabaseFile(path: old, movedFrom: [new], onEvent: log.note)
        try back.openQueue().close()
        // Two downgrades: to the version that has it in the new folder, and to the one before.
        try file().openQueue().close()
        try make(old, "older build")
        #expect(try notes(back.openQueue()) == ["a"])
        guard
            case .setAside(_, let aside) = log.events.first(where: {
                if case .setAside = $0 { true } else { false }
            })
        else {
            Issue.record("nothing was set aside")
            return
        }
        #expect(try notes(DatabaseFile(path: aside).openQueue()) == ["older build"])
    }

    @Test("that was moved does not take the place of one that a later version has made elsewhere")
    func forgottenPath() throws {
        try make(old, "a")
        try file().openQueue().close()
        // The next version has forgotten where the database was, and the one after it knows again.
        let group = folder.path("group.sqlite")
        try make(group, "mine")
        let repaired = DatabaseFile(path: group, movedFrom: [new, old], onEvent: log.note)
        let error = try #require(throws: MigrationError.self) { try repaired.openQueue() }
        #expect(error.code == .twoPlaces)
        try repaired.keep(group)
        #expect(try notes(repaired.openQueue()) == ["mine"])
    }

    @Test("that was copied stays the database, emptied after a kill before the old file was removed")
    func emptiedCopy() throws {
        try make(old, "a")
        var file = file()
        file.copiesAlways = true
        file.willChange = { if $0 == .removeOld { throw CancellationError() } }
        #expect(throws: CancellationError.self) { try file.openQueue() }
        // The app of another process.
        let queue = try DatabaseQueue(path: new)
        try queue.execute("DELETE FROM note")
        try queue.close()
        #expect(try open() == [])
        #expect(!FileManager.default.fileExists(atPath: old))
    }

    @Test("that was copied leaves the old file while a log beside it may hold more")
    func logBesideLeftover() throws {
        try make(old, "a")
        var file = file()
        file.copiesAlways = true
        file.willChange = { if $0 == .removeOld { throw CancellationError() } }
        #expect(throws: CancellationError.self) { try file.openQueue() }
        try Data("committed rows".utf8).write(to: URL(fileURLWithPath: "\(old)-wal"))
        #expect(try open() == ["a"])
        #expect(log.events.last == .ignored(old))
        #expect(FileManager.default.fileExists(atPath: old))
    }

    @Test(
        "that was moved opens, whatever stands at the old path",
        arguments: [
            "garbage", "a folder", "a pipe", "a locked database", "a dead link", "a read-only folder",
        ])
    func anything(_ kind: String) throws {
        try make(old, "a")
        #expect(try open() == ["a"])
        let url = URL(fileURLWithPath: old)
        var blocker: DatabaseQueue?
        switch kind {
        case "garbage": try Data("this is no database, but a text".utf8).write(to: url)
        case "a folder": try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        case "a pipe": #expect(mkfifo(old, 0o600) == 0)
        case "a dead link":
            try FileManager.default.createSymbolicLink(
                atPath: old, withDestinationPath: folder.path("none/x"))
        case "a locked database":
            try make(old, "older build")
            blocker = try DatabaseQueue(path: old)
            try blocker?.inDatabase {
                try $0.execute(sql: "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT")
            }
        default:
            try make(old, "older build")
            chmod(folder.path("old"), 0o500)
        }
        defer { chmod(folder.path("old"), 0o700) }
        let queue = try file(waitingFor: .milliseconds(50)).openQueue()
        #expect(try notes(queue) == ["a"])
        #expect(log.events.last == .ignored(old))
        try blocker?.close()
    }

    @Test("that was moved opens in an app that may write neither folder's lock file")
    func withoutLock() throws {
        try make(old, "a")
        #expect(try open() == ["a"])
        try make(old, "older build")
        try FileManager.default.removeItem(atPath: "\(new).move.lock")
        try FileManager.default.createDirectory(
            atPath: "\(new).move.lock", withIntermediateDirectories: false)
        #expect(try open() == ["a"])
    }

    @Test("leaves a journal beside what cannot be read, wherever giving way is cut off")
    func journalOfUnreadable() throws {
        try make(new, "group")
        try make(old, "a")
        try DatabaseQueue(path: old).inDatabase { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
        // Its log cannot be opened, and holds what was committed last.
        try FileManager.default.createSymbolicLink(
            atPath: "\(old)-wal", withDestinationPath: folder.path("none/log"))
        func log(of path: String) throws -> String {
            try FileManager.default.destinationOfSymbolicLink(atPath: "\(path)-wal")
        }
        var file = file()
        file.willChange = { if $0 == .nameAside { throw CancellationError() } }
        #expect(throws: CancellationError.self) { try file.keep(new) }
        #expect(try log(of: old) == folder.path("none/log"))
        try self.file().keep(new)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("old")).sorted()
        let aside = try #require(names.first { $0.contains(".aside-") && names.contains($0 + "-wal") })
        #expect(try log(of: folder.path("old/\(aside)")) == folder.path("none/log"))
        #expect(!names.contains { $0.hasSuffix("sqlite-wal") })
    }

    @Test("names what cannot be read beside it, and the way out, where neither has a mark")
    func unreadable() throws {
        try make(old, "a", "b")
        // Half a copy that was made by hand.
        let bytes = try Data(contentsOf: URL(fileURLWithPath: old))
        try bytes.prefix(bytes.count / 2).write(to: URL(fileURLWithPath: new))
        let error = try #require(throws: MigrationError.self) { try file().openQueue() }
        #expect(error.code == .twoPlaces)
        #expect(
            error.message.hasPrefix(
                "\(new): database disk image is malformed (SQLite 11), and the database may"),
            "\(error.message)")
        #expect(
            error.remedy == """
                Nothing was changed. Decide which of them is the database, and call keep(_:) with its path: the others stay \
                where they are, under another name.
                """)
        try file().keep(old)
        #expect(try open() == ["a", "b"])
    }

    @Test(
        "is kept beside a folder, a pipe and a link that leads nowhere",
        arguments: ["folder", "pipe", "link"])
    func keepBesideOddities(_ kind: String) throws {
        try make(new, "a")
        switch kind {
        case "folder":
            try FileManager.default.createDirectory(atPath: old, withIntermediateDirectories: false)
        case "pipe": #expect(mkfifo(old, 0o600) == 0)
        default:
            try FileManager.default.createSymbolicLink(
                atPath: old, withDestinationPath: folder.path("none/x"))
        }
        let error = try #require(throws: MigrationError.self) { try file().openQueue() }
        #expect(error.code == .twoPlaces)
        #expect(try file().foundDatabases().map { $0.problem == nil } == [true, false])
        try file().keep(new)
        #expect(try open() == ["a"])
    }

    @Test("is kept beside a place that cannot even get another name")
    func keepBesideUnreachable() throws {
        try make(new, "a")
        // Nobody can look there.
        let loop = folder.path("loop")
        try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: loop)
        let file = DatabaseFile(path: new, movedFrom: [loop + "/app.sqlite"], onEvent: log.note)
        let error = try #require(throws: MigrationError.self) { try file.openQueue() }
        #expect(error.code == .twoPlaces)
        try file.keep(new)
        #expect(log.events == [.ignored(loop + "/app.sqlite")])
        #expect(try notes(file.openQueue()) == ["a"])
    }

    // MARK: Neither has rows

    @Test(
        "keeps its record where the other file is empty, so that nothing runs again",
        arguments: [false, true])
    func record(isMigrated: Bool) throws {
        func launch(_ version: AppVersion, _ open: () throws -> DatabaseQueue) throws -> MigrationReport {
            let queue = try open()
            defer { try? queue.close() }
            let manager = try MigrationManager(
                name: "Library", currentVersion: version, adopting: .newApp, store: .database(queue),
                options: MigrationOptions(ignoresStepsAboveCurrent: true))
            manager.whenMigratingToVersion("1.0", in: queue, onFreshInstall: .only) { db in
                try db.execute(sql: "CREATE TABLE IF NOT EXISTS note(text TEXT)")
            }
            manager.whenMigratingToVersion("2.0", in: queue) { _ in }
            return try manager.migrate()
        }
        #expect(try launch("1.0") { try DatabaseQueue(path: old) }.launch == .freshInstall)
        let extensions = try DatabaseQueue(path: new)
        if isMigrated {
            try extensions.execute("CREATE TABLE note(text TEXT)")
        } else {
            try extensions.execute("PRAGMA user_version = 1")
        }
        try extensions.close()
        if isMigrated {
            let error = try #require(throws: MigrationError.self) { try file().openQueue() }
            #expect(error.code == .twoPlaces)
            try file().keep(old)
        }
        let report = try launch("2.0") { try file().openQueue() }
        #expect(report.launch == .upgrade(from: "1.0"))
        #expect(report.completed.versions == ["2.0"])
    }

    // MARK: Between look and lock

    @Test("waits for the first transaction of an extension, and then decides anew")
    func firstTransaction() throws {
        try make(old, "a")
        let queue = try DatabaseQueue(path: new)
        let isWaiting = DispatchSemaphore(value: 0)
        var file = file()
        // The database at the new path is about to give way, as it is empty.
        file.willChange = { if $0 == .setAside { isWaiting.signal() } }
        let result = Locked<Result<Void, any Error>?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        try queue.inDatabase { db in
            try db.execute(
                sql: "BEGIN IMMEDIATE; CREATE TABLE note(text TEXT); INSERT INTO note VALUES ('new')")
            Thread.detachNewThread { [file] in
                let opened = Result { try file.openQueue().close() }
                result.withLock { $0 = opened }
                isDone.signal()
            }
            isWaiting.wait()
            // As any reader does, the other one keeps a commit waiting for a moment.
            try db.execute(sql: "PRAGMA busy_timeout = 600000; COMMIT")
        }
        isDone.wait()
        let error = try #require(throws: MigrationError.self) { try result.withLock { $0 }?.get() }
        #expect(error.code == .twoPlaces)
        #expect(try notes(queue) == ["new"])
        #expect(log.events == [])
    }

    @Test(
        "does not take the place of a file that an extension makes meanwhile",
        arguments: [DatabaseFile.MoveChange.mark, .rename, .copy, .nameCopy])
    func madeMeanwhile(before change: DatabaseFile.MoveChange) throws {
        try make(old, "a")
        let isMade = Locked(false)
        var file = file()
        file.copiesAlways = change == .copy || change == .nameCopy
        file.willChange = { [self] next in
            guard next == change, !isMade.withLock({ $0 }) else { return }
            isMade.withLock { $0 = true }
            try make(new, "new")
        }
        let error = try #require(throws: MigrationError.self) { try file.openQueue() }
        #expect(error.code == .twoPlaces)
        #expect(try notes(DatabaseQueue(path: new)) == ["new"])
        #expect(try notes(DatabaseQueue(path: old)) == ["a"])
    }

    @Test("keeps no writer from committing while it waits for that writer", arguments: [false, true])
    func waiting(sets aside: Bool) throws {
        try make(old, "a")
        if aside { try make(new, "new") }
        let writer = try DatabaseQueue(path: old)
        let isTrying = DispatchSemaphore(value: 0)
        var file = file()
        file.willChange = { if $0 == .setAside || $0 == .mark { isTrying.signal() } }
        let isDone = DispatchSemaphore(value: 0)
        try writer.inDatabase { db in
            try db.execute(sql: "BEGIN IMMEDIATE; INSERT INTO note VALUES ('b')")
            Thread.detachNewThread { [file, new] in
                if aside { try? file.keep(new) } else { try? file.openQueue().close() }
                isDone.signal()
            }
            isTrying.wait()
            // A moment in which the other one tries: without it, this test would only see less.
            Thread.sleep(forTimeInterval: 0.05)
            // SQLite waits itself for the readers to end: a lock that stays would never let it.
            try db.execute(sql: "PRAGMA busy_timeout = 600000; COMMIT")
        }
        isDone.wait()
        try writer.close()
        #expect(log.events.count == 1)
        let path = try #require(
            log.events.compactMap { event in
                switch event {
                case .moved(_, let to, _): to
                case .setAside(_, let name): name
                case .ignored, .salvaged: nil
                }
            }.first)
        #expect(try notes(DatabaseFile(path: path).openQueue()) == ["a", "b"])
    }

    @Test("that a connection in rollback mode still has open takes nothing from it after the move")
    func idleConnection() throws {
        try make(old, "a")
        let idle = try DatabaseQueue(path: old)
        #expect(try notes(idle) == ["a"])
        #expect(try open() == ["a"])
        let error = try #require(throws: DatabaseError.self) {
            try idle.execute("INSERT INTO note VALUES ('b')")
        }
        #expect(error.extendedResultCode == .SQLITE_READONLY_DBMOVED)
        try idle.close()
        #expect(try open() == ["a"])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path("old")).allSatisfy {
                $0.hasSuffix(".lock")
            })
    }

    @Test(
        "keeps its rows beside a connection that still has the file open which gave way",
        arguments: ["DELETE", "WAL"])
    func idleConnectionAside(mode: String) throws {
        try make(old, "a")
        try make(new, "b")
        let idle = try DatabaseQueue(path: new)
        #expect(try notes(idle) == ["b"])
        try file().keep(old)
        let queue = try file().openQueue()
        try queue.inDatabase { db in
            try db.execute(sql: "PRAGMA journal_mode = \(mode); PRAGMA cache_size = 2; BEGIN")
            try db.execute(sql: "UPDATE note SET text = 'new'; CREATE TABLE large(x)")
            // More than the cache holds: the journal is on the disk.
            try db.execute(sql: "INSERT INTO large VALUES (zeroblob(100000))")
            _ = try? notes(idle)
            let log = new + (mode == "WAL" ? "-wal" : "-journal")
            #expect(FileManager.default.fileExists(atPath: log))
            try db.execute(sql: "COMMIT")
        }
        #expect(throws: DatabaseError.self) { try idle.execute("UPDATE note SET text = 'old'") }
        try idle.close()
        #expect(try notes(queue) == ["new"])
        try queue.close()
        #expect(try open() == ["new"])
    }
}
