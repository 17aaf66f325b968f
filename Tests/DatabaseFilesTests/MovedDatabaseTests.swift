import AppMigrations
import CMigrationSQLite
import DatabaseFiles
import Dispatch
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A database that moves", .timed)
struct MovedDatabaseTests {
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

    private func file(
        from oldPaths: [String]? = nil, ifMissing rule: DatabaseFile.MissingFileRule = .create,
        configuration: Configuration? = nil, waitingFor limit: Duration = .seconds(10)
    ) -> DatabaseFile {
        DatabaseFile(
            path: new, movedFrom: oldPaths ?? [old], ifMissing: rule, configuration: configuration,
            waitingFor: limit, onEvent: log.note)
    }

    private func makeOld(
        rows: Int = 3, at path: String? = nil, _ configuration: Configuration = Configuration()
    )
        throws
    {
        let queue = try DatabaseQueue(path: path ?? old, configuration: configuration)
        try queue.execute("CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT)")
        for row in 0..<rows { try queue.execute("INSERT INTO note(text) VALUES ('note \(row)')") }
        try queue.close()
    }

    private func notes(_ database: some DatabaseReader) throws -> Int? {
        try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM note") }
    }

    private func names(_ name: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path(name)).sorted()
            .filter { !$0.hasSuffix(".lock") }
    }

    private func refusal(_ file: DatabaseFile) throws -> MigrationError {
        try #require(throws: MigrationError.self) { try file.openQueue() }
    }

    // MARK: Moving

    @Test("comes along once, and then there is nothing at the old path")
    func once() throws {
        try makeOld()
        let queue = try file().openQueue()
        #expect(try notes(queue) == 3)
        #expect(log.events == [.moved(from: old, to: new, isCopy: false)])
        #expect(try names("old") == [])
        try queue.close()
        #expect(try notes(file().openQueue()) == 3)
        #expect(log.events.count == 1)
    }

    @Test("comes along from and to a URL, and not from a path that is written as in a URL")
    func pathsOfURLs() throws {
        try FileManager.default.createDirectory(
            at: folder.file("old files"), withIntermediateDirectories: true)
        let url = folder.file("old files/app.sqlite")
        try makeOld(at: url.path)
        let to = folder.file("new/app.sqlite")
        let path = url.path(percentEncoded: true)
        let error = try #require(throws: MigrationError.self) {
            try DatabaseFile(path: to.path, movedFrom: [path]).openQueue()
        }
        #expect(
            error.description == """
                \(path): is not the path of the old database, which is \(url.path). Pass `url.path(percentEncoded: false)`. \
                Nothing was changed.
                """)
        #expect(!FileManager.default.fileExists(atPath: to.path))
        let file = DatabaseFile(path: to.absoluteString, movedFrom: [url.absoluteString], onEvent: log.note)
        #expect(try notes(file.openQueue()) == 3)
        #expect(log.events == [.moved(from: url.path, to: to.path, isCopy: false)])
        #expect(try names("old files") == [])
    }

    @Test("comes along with what is only in its write-ahead log, after a crash")
    func writeAheadLog() throws {
        let pool = try DatabasePool(path: old)
        try pool.write { try $0.execute(sql: "CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT)") }
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_autocheckpoint = 0") }
        try pool.write { try $0.execute(sql: "INSERT INTO note(text) VALUES ('only in the log')") }
        // A copy of the files is what a crash leaves.
        let crashed = folder.path("new/crashed.sqlite")
        for end in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: old + end, toPath: crashed + end)
        }
        try pool.close()
        let moved = try file(from: [crashed]).openPool()
        #expect(try notes(moved) == 1)
        #expect(try moved.strings("PRAGMA journal_mode") == ["wal"])
        #expect(try names("new").filter { $0.hasPrefix("crashed") } == [])
    }

    @Test("comes along without what a transaction had written that a crash has interrupted")
    func hotJournal() throws {
        try makeOld()
        let queue = try DatabaseQueue(path: old)
        let crashed = folder.path("old/crashed.sqlite")
        try queue.inDatabase { db in
            try db.execute(sql: "PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN")
            try db.execute(
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000)
                    INSERT INTO note(text) SELECT hex(zeroblob(200)) FROM n
                    """)
            for end in ["", "-journal"] {
                try FileManager.default.copyItem(atPath: old + end, toPath: crashed + end)
            }
            try db.execute(sql: "ROLLBACK")
        }
        try queue.close()
        #expect(try notes(file(from: [crashed]).openQueue()) == 3)
        #expect(try names("old") == ["app.sqlite"])
    }

    @Test("stays in WAL mode where the app's queue has set that")
    func mode() throws {
        try makeOld()
        let queue = try DatabaseQueue(path: old)
        try queue.inDatabase { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
        try queue.close()
        #expect(try file().openQueue().strings("PRAGMA journal_mode") == ["wal"])
    }

    // As GRDB's guide on sharing a database advises, so that an extension can read it.
    @Test(
        "leaves no log behind, and is the database from then on, where the app keeps logs",
        arguments: [false, true])
    func persistentLog(isCopy: Bool) throws {
        var configuration = Configuration()
        configuration.prepareDatabase { app_migrations_keep_log($0.sqliteConnection, 1) }
        func runOldVersion() throws {
            let pool = try DatabasePool(path: old, configuration: configuration)
            try pool.write {
                try $0.execute(sql: "CREATE TABLE note(text TEXT); INSERT INTO note VALUES ('a')")
            }
            try pool.close()
        }
        try runOldVersion()
        #expect(try names("old") == ["app.sqlite", "app.sqlite-shm", "app.sqlite-wal"])
        var file = file(configuration: configuration)
        file.copiesAlways = isCopy
        let pool = try file.openPool()
        #expect(try names("old") == [])
        #expect(try notes(pool) == 1)
        try pool.close()
        try runOldVersion()
        #expect(try notes(file.openPool()) == 1)
        #expect(log.events == [.moved(from: old, to: new, isCopy: isCopy), .ignored(old)])
    }

    @Test("keeps its permissions")
    func permissions() throws {
        try makeOld()
        chmod(old, 0o600)
        _ = try file().openQueue()
        let attributes = try FileManager.default.attributesOfItem(atPath: new)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }

    @Test("keeps its ledger and its record, so that nothing runs twice")
    func record() throws {
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(version: 1, name: "note", sql: "CREATE TABLE note(text TEXT)")
        ])
        try schema.migrate(path: old)
        let queue = try file().openQueue()
        #expect(try schema.migrate(queue).applied == [])
        #expect(try queue.integers("SELECT version FROM schema_migrations") == [1])
        #expect(try schema.migrate(queue).applied == [])
    }

    @Test("moves from the newest of its old places")
    func chain() throws {
        let oldest = folder.path("oldest.sqlite")
        try makeOld(rows: 1, at: oldest)
        let first = DatabaseFile(path: old, movedFrom: [oldest])
        #expect(try notes(first.openQueue()) == 1)
        try makeOld(rows: 5, at: oldest)
        #expect(try notes(file(from: [old, oldest]).openQueue()) == 1)
        #expect(log.events == [.moved(from: old, to: new, isCopy: false), .ignored(oldest)])
    }

    // MARK: Another volume

    @Test(
        "is copied from another volume, with its journal mode, and then removed there", .needs(.otherVolume),
        arguments: [false, true])
    func copy(isWAL: Bool) throws {
        let other = try TemporaryFolder(in: RequirementFolders.otherVolume)
        let old = other.path("app.sqlite")
        try makeOld(rows: 100, at: old)
        if isWAL { try DatabasePool(path: old).close() }
        chmod(old, 0o600)
        let queue = try file(from: [old]).openQueue()
        #expect(try notes(queue) == 100)
        #expect(try queue.strings("PRAGMA journal_mode") == [isWAL ? "wal" : "delete"])
        #expect(log.events == [.moved(from: old, to: new, isCopy: true)])
        #expect(try other.fileNames == [])
        #expect(try names("new").filter { $0.hasPrefix(".") } == [])
        let attributes = try FileManager.default.attributesOfItem(atPath: new)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }

    @Test("is removed on the other volume by the next launch if a crash has kept that", .needs(.otherVolume))
    func leftover() throws {
        let other = try TemporaryFolder(in: RequirementFolders.otherVolume)
        let old = other.path("app.sqlite")
        try makeOld(at: old)
        // A second name keeps the file, as it is after the copy.
        try FileManager.default.linkItem(atPath: old, toPath: other.path("kept"))
        try file(from: [old]).openQueue().close()
        try FileManager.default.moveItem(atPath: other.path("kept"), toPath: old)
        #expect(try notes(file(from: [old]).openQueue()) == 3)
        #expect(try other.fileNames == [])
        #expect(log.events == [.moved(from: old, to: new, isCopy: true)])
    }

    @Test("stays on the other volume if an older version has written to it meanwhile", .needs(.otherVolume))
    func changedLeftover() throws {
        let other = try TemporaryFolder(in: RequirementFolders.otherVolume)
        let old = other.path("app.sqlite")
        try makeOld(at: old)
        try FileManager.default.linkItem(atPath: old, toPath: other.path("kept"))
        try file(from: [old]).openQueue().close()
        try FileManager.default.moveItem(atPath: other.path("kept"), toPath: old)
        try DatabaseQueue(path: old).execute("INSERT INTO note(text) VALUES ('written later')")
        #expect(try notes(file(from: [old]).openQueue()) == 3)
        #expect(try notes(DatabaseQueue(path: old)) == 4)
        #expect(log.events.last == .ignored(old))
    }

    // MARK: Two files

    @Test("gets its place from an empty one, which is kept under another name")
    func emptyFile() throws {
        try makeOld()
        // An extension was launched first.
        let empty = try DatabaseQueue(path: new)
        try empty.execute("PRAGMA user_version = 3")
        try empty.close()
        #expect(try notes(file().openQueue()) == 3)
        #expect(log.events.count == 2)
        guard case .setAside(new, let aside) = log.events.first else {
            Issue.record("\(log.events)")
            return
        }
        #expect(FileManager.default.fileExists(atPath: aside))
        #expect(aside.hasPrefix("\(new).aside-2"))
    }

    @Test("gets its place only by the app's choice from one that has tables, though no rows")
    func tablesWithoutRows() throws {
        try makeOld()
        let migrated = try DatabaseQueue(path: new)
        try migrated.execute("CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT)")
        try migrated.execute("CREATE VIRTUAL TABLE search USING fts5(text)")
        try migrated.close()
        let error = try refusal(file())
        #expect(error.code == .twoPlaces)
        #expect(error.message.contains("no rows)"), "\(error.message)")
        let withRows = try file().foundDatabases().filter { !$0.isEmpty }
        #expect(withRows.map(\.path) == [old])
        try file().keep(withRows[0].path)
        #expect(try notes(file().openQueue()) == 3)
    }

    @Test("is an error where both hold data, which names both; the app chooses", arguments: [false, true])
    func twoDatabases(keepsOld: Bool) throws {
        try SchemaMigrator(migrations: [
            SQLMigration(version: 20_240_601, name: "note", sql: "CREATE TABLE note(text TEXT)")
        ]).migrate(path: old)
        try DatabaseQueue(path: old).execute("INSERT INTO note VALUES ('old')")
        try makeOld(rows: 5, at: new)
        let before = try Data(contentsOf: URL(fileURLWithPath: old))
        let error = try refusal(file())
        #expect(error.code == .twoPlaces)
        #expect(
            error.message.hasPrefix(
                "The app's database is in two places, and both hold data: \(new) ("), "\(error.message)")
        #expect(error.message.contains(" and \(old) (schema 20240601, "), "\(error.message)")
        #expect(error.remedy.hasPrefix("Nothing was changed."))
        // The places are two folders as a rule.
        #expect(error.remedy.hasSuffix("the other one stays where it is, under another name."))
        #expect(try Data(contentsOf: URL(fileURLWithPath: old)) == before)
        #expect(try file().foundDatabases().map(\.schemaVersion) == [nil, "20240601"])
        #expect(try file().foundDatabases().map(\.isEmpty) == [false, false])

        try file().keep(keepsOld ? old : new)
        #expect(try notes(file().openQueue()) == (keepsOld ? 1 : 5))
        #expect(try names(keepsOld ? "new" : "old").contains { $0.hasPrefix("app.sqlite.aside-2") })
    }

    @Test("is not mixed up with a file that an older version creates after the move")
    func downgrade() throws {
        try makeOld()
        try file().openQueue().close()
        try makeOld(rows: 7)
        let queue = try file().openQueue()
        #expect(try notes(queue) == 3)
        #expect(log.events.last == .ignored(old))
        #expect(try notes(DatabaseQueue(path: old)) == 7)
    }

    @Test("stays where it is as long as another connection has it open in WAL mode")
    func openElsewhere() throws {
        let pool = try DatabasePool(path: old)
        try pool.execute("CREATE TABLE note(text TEXT); INSERT INTO note VALUES ('a')")
        let error = try refusal(file(waitingFor: .milliseconds(50)))
        #expect(error.code == .locked)
        #expect(error.message == "\(old): another connection has the database open.")
        try pool.execute("INSERT INTO note VALUES ('b')")
        try pool.close()
        #expect(try notes(file().openQueue()) == 2)
    }

    @Test("waits for the end of a transaction in rollback mode")
    func openTransaction() throws {
        try makeOld()
        let queue = try DatabaseQueue(path: old)
        try queue.inDatabase { db in
            try db.execute(sql: "BEGIN IMMEDIATE; INSERT INTO note(text) VALUES ('uncommitted')")
            #expect(try refusal(file(waitingFor: .milliseconds(50))).code == .locked)
            try db.execute(sql: "COMMIT")
        }
        #expect(try notes(file().openQueue()) == 4)
    }

    @Test("loses no row of a writer beside it, in either journal mode", arguments: [false, true])
    func writer(isWAL: Bool) throws {
        try makeOld(rows: 0)
        if isWAL { try DatabasePool(path: old).close() }
        let isDone = Locked(false)
        let isOver = DispatchSemaphore(value: 0)
        let committed = Locked(0)
        let old = old
        // A writer that went on after a failure would slow down all other tests.
        defer { isDone.withLock { $0 = true } }
        Thread.detachNewThread {
            defer { isOver.signal() }
            var configuration = Configuration()
            configuration.busyMode = .timeout(5)
            let queue = isWAL ? nil : try? DatabaseQueue(path: old, configuration: configuration)
            while !isDone.withLock({ $0 }) {
                // In WAL mode, only a connection that is closed lets the move begin.
                guard let queue = try? queue ?? DatabaseQueue(path: old, configuration: configuration),
                    (try? queue.execute("INSERT INTO note(text) VALUES ('beside')")) != nil
                else { continue }
                committed.withLock { $0 += 1 }
            }
        }
        while committed.withLock({ $0 }) < 20 { Thread.sleep(forTimeInterval: 0.001) }
        let moved = try file(waitingFor: .seconds(60)).openQueue()
        Thread.sleep(forTimeInterval: 0.05)
        isDone.withLock { $0 = true }
        isOver.wait()
        #expect(try notes(moved) == committed.withLock { $0 })
        #expect(try moved.strings("PRAGMA integrity_check") == ["ok"])
    }

    @Test("stays encrypted while it is moved and copied", .needs(.encryption), arguments: [false, true])
    func encryption(isCopy: Bool) throws {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA key = 'secret'") }
        try makeOld(configuration)
        var file = file(configuration: configuration)
        file.copiesAlways = isCopy
        #expect(try notes(file.openPool()) == 3)
        #expect(log.events == [.moved(from: old, to: new, isCopy: isCopy)])
        #expect(try folder.filesInClearText(holding: "note 1") == [])
    }

    @Test("is not mixed up with the log of a database that was at the new path before")
    func staleLog() throws {
        try makeOld()
        let other = folder.path("other.sqlite")
        let pool = try DatabasePool(path: other)
        try pool.write { try $0.execute(sql: "CREATE TABLE gone(x)") }
        for end in ["-wal", "-shm"] {
            try FileManager.default.copyItem(atPath: other + end, toPath: new + end)
        }
        try pool.close()
        let queue = try file().openQueue()
        #expect(try notes(queue) == 3)
        #expect(try queue.strings("PRAGMA integrity_check") == ["ok"])
        #expect(try names("new").count { $0.hasSuffix("-wal") && $0.contains(".aside-") } == 1)
    }

    @Test("is chosen although the other file is damaged, or open elsewhere, which is an error")
    func keepingBesideDamage() throws {
        try makeOld()
        try Data("this is no database, but some text that fills a page".utf8).write(
            to: URL(fileURLWithPath: new))
        let error = try refusal(file())
        #expect(error.code == .twoPlaces)
        #expect(
            error.message.hasPrefix(
                "\(new): file is not a database (SQLite 26), and the database may also be at \(old) ("),
            "\(error.message)")
        #expect(error.remedy.contains("call keep(_:) with its path"))
        let found = try file().foundDatabases()
        #expect(found.map(\.problem) == ["file is not a database (SQLite 26)", nil])
        #expect(found.map(\.isEmpty) == [false, false])
        try file().keep(old)
        #expect(try notes(file().openQueue()) == 3)

        try makeOld(rows: 1)
        let pool = try DatabasePool(path: old)
        let locked = try #require(throws: MigrationError.self) {
            try file(waitingFor: .milliseconds(50)).keep(new)
        }
        #expect(locked.code == .locked)
        try pool.close()
        let missing = try #require(throws: MigrationError.self) { try file().keep(folder.path("none")) }
        #expect(
            missing.message
                == "\(folder.path("none")) is not one of the places where this database has a file.")
    }

    // MARK: Odd paths

    @Test(
        "is one file if both paths lead to it", arguments: ["link to the file", "link to the folder", "same"])
    func samePlace(_ kind: String) throws {
        try makeOld(at: new)
        let other: String
        switch kind {
        case "link to the file":
            try FileManager.default.createSymbolicLink(atPath: old, withDestinationPath: new)
            other = old
        case "link to the folder":
            let link = folder.path("link")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.path("new"))
            other = "\(link)/app.sqlite"
        default: other = folder.path("old/../new/app.sqlite")
        }
        #expect(try notes(file(from: [other]).openQueue()) == 3)
        #expect(log.events == [])
    }

    @Test("moves from behind a link, which goes with it")
    func link() throws {
        let target = folder.path("target.sqlite")
        try makeOld(at: target)
        try FileManager.default.createSymbolicLink(atPath: old, withDestinationPath: target)
        #expect(try notes(file().openQueue()) == 3)
        #expect(try names("old") == [])
        #expect(!FileManager.default.fileExists(atPath: target))
        #expect(try notes(file().openQueue()) == 3)
    }

    @Test("has one name again after a power cut that has left two")
    func twoNames() throws {
        try makeOld(at: new)
        try FileManager.default.linkItem(atPath: new, toPath: old)
        #expect(try notes(file().openQueue()) == 3)
        #expect(try names("old") == [])
    }

    @Test("gets a longer name in its folder, without waiting for its own lock")
    func longerName() throws {
        let short = folder.path("new/app")
        try makeOld(at: short)
        #expect(try notes(file(from: [short], waitingFor: .milliseconds(50)).openQueue()) == 3)
    }

    @Test("moves within a folder, out of a folder in it, and to a name that differs in case")
    func nearby() throws {
        try FileManager.default.createDirectory(
            at: folder.file("new/inside"), withIntermediateDirectories: true)
        let inside = folder.path("new/inside/app.sqlite")
        try makeOld(rows: 2, at: inside)
        let queue = try file(from: [inside]).openQueue()
        #expect(try notes(queue) == 2)
        try queue.close()
        let cased = DatabaseFile(path: folder.path("new/App.sqlite"), movedFrom: [new])
        #expect(try notes(cased.openQueue()) == 2)
    }

    @Test("opens between two calls of one manager, after a step of it has moved the file")
    func openedLater() throws {
        func manager(_ version: String) throws -> MigrationManager {
            try MigrationManager(
                name: "Library", currentVersion: version, adopting: .newApp,
                store: .jsonFile(at: folder.file("migrations.json")))
        }
        let first = try manager("1.0")
        let queue = try DatabaseQueue(path: old)
        first.whenMigratingToVersion("1.0", in: queue, onFreshInstall: .run) { db in
            try db.execute(sql: "CREATE TABLE note(text TEXT)")
        }
        try first.migrate()
        try queue.close()
        for expected in [["2.0", "2.0"], []] as [[AppVersion]] {
            let second = try manager("2.0")
            second.whenMigratingToVersion("2.0") { [old, new] in
                try FileManager.default.moveItem(atPath: old, toPath: new)
            }
            try second.migrate(through: "2.0")
            let moved = try DatabaseQueue(path: new)
            second.whenMigratingToVersion("2.0", in: moved) { db in
                try db.execute(sql: "INSERT INTO note VALUES ('2.0')")
            }
            let report = try second.migrate()
            #expect(report.completed.versions == expected)
            #expect(report.launch == (expected.isEmpty ? .relaunch : .upgrade(from: "1.0")))
            #expect(try notes(moved) == 1)
        }
    }

    // MARK: Errors

    @Test("stays where it is if the new folder does not exist")
    func missingFolder() throws {
        try makeOld()
        let file = DatabaseFile(path: folder.path("none/app.sqlite"), movedFrom: [old])
        let error = try refusal(file)
        #expect(
            error.message == "app.sqlite: the folder \(folder.path("none")) does not exist.")
        #expect(error.remedy == "Create the folder before opening the database. Nothing was changed.")
        #expect(try notes(DatabaseQueue(path: old)) == 3)
    }

    @Test("stays where it is if it is a store of Core Data's", arguments: [false, true])
    func coreData(copies: Bool) throws {
        try makeOld()
        try DatabaseQueue(path: old).write { try $0.execute(sql: "CREATE TABLE Z_METADATA(Z_UUID TEXT)") }
        var file = file()
        file.copiesAlways = copies
        let before = try Data(contentsOf: URL(fileURLWithPath: old))
        let error = try refusal(file)
        #expect(error.code == .misuse)
        #expect(
            error.description == """
                app.sqlite: is a store of Core Data or SwiftData, which DatabaseFile does not move. Move it with \
                NSPersistentStoreCoordinator. Nothing was changed.
                """)
        #expect(try Data(contentsOf: URL(fileURLWithPath: old)) == before)
        #expect(try names("new") == [])
    }

    @Test("stays where it is if it cannot be read, and the error names it")
    func damaged() throws {
        try Data("this is no database, but some text that fills a page".utf8)
            .write(to: URL(fileURLWithPath: old))
        let error = try refusal(file())
        #expect(error.code == .databaseFailed)
        #expect(error.message == "\(old): file is not a database (SQLite 26).")
        #expect(error.remedy.hasSuffix("Nothing was lost: the database is where it was."))
        #expect(try names("new") == [])
    }

    @Test("stays where it is if a link leads nowhere: its disk may not be there yet")
    func deadLink() throws {
        try FileManager.default.createSymbolicLink(
            atPath: old, withDestinationPath: folder.path("none/app.sqlite"))
        #expect(try refusal(file()).message == "\(old): No such file or directory.")
        #expect(try names("new") == [])
    }

    #if os(Linux)
        @Test("stays where it is, without a partial copy, if the new disk is full", .needs(.smallDisk))
        func fullDisk() throws {
            let disk = try SmallDisk(at: folder.path("disk"), size: "1m")
            defer { disk.remove() }
            let queue = try DatabaseQueue(path: old)
            try queue.execute("CREATE TABLE note(text); INSERT INTO note VALUES (zeroblob(2000000))")
            try queue.close()
            let file = DatabaseFile(path: folder.path("disk/app.sqlite"), movedFrom: [old])
            func move() throws {
                let error = try refusal(file)
                #expect(error.code == .diskFull)
                #expect(
                    error.message
                        == "\(folder.path("disk/app.sqlite")): database or disk is full (SQLite 13).")
                #expect(
                    try FileManager.default.contentsOfDirectory(atPath: folder.path("disk"))
                        == ["app.sqlite.move.lock"])
                #expect(try notes(DatabaseQueue(path: old)) == 1)
            }
            try move()
            try disk.mount(size: "16m")
            // For the copy, and not for its journal.
            try disk.leaveFiles(1)
            try move()
            try disk.leaveFiles(10)
            #expect(try notes(file.openQueue()) == 1)
        }

        @Test(
            "stays where it is if the new disk or the old one is read-only", .needs(.smallDisk),
            arguments: [false, true])
        func readOnlyDisk(isNew: Bool) throws {
            let disk = try SmallDisk(at: folder.path("disk"), size: "16m")
            defer { disk.remove() }
            let (from, to) =
                isNew ? (old, folder.path("disk/app.sqlite")) : (folder.path("disk/app.sqlite"), new)
            try makeOld(at: from)
            try disk.mount(size: "16m", readOnly: true)
            let file = DatabaseFile(path: to, movedFrom: [from])
            let error = try refusal(file)
            #expect(
                error.message
                    == (isNew
                        ? "\(to): Read-only file system."
                        : "\(from): attempt to write a readonly database (SQLite 8)."))
            #expect(error.remedy.hasPrefix("Make the file and its folder writable, then retry."))
            try disk.mount(size: "16m")
            #expect(try notes(file.openQueue()) == 3)
        }
    #endif

    // MARK: Extensions

    @Test("is an error for an extension as long as it is missing or without tables, and nothing is created")
    func refusing() throws {
        try makeOld()
        for _ in 0..<2 {
            let error = try refusal(file(ifMissing: .refuse))
            #expect(error.code == .notYetMigrated)
            #expect(
                error.message
                    == "app.sqlite: the app has not created the database yet, or has not moved it here.")
            #expect(error.remedy == "Leave the data alone until the app has been launched.")
            // The second time, there is an empty file.
            try Data().write(to: URL(fileURLWithPath: new))
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: new)).isEmpty)
        // A version that moves a database which has no table yet, and ends.
        let empty = DatabaseFile(path: new, movedFrom: [folder.path("empty.sqlite")])
        try DatabaseQueue(path: folder.path("empty.sqlite")).close()
        try empty.openQueue().close()
        #expect(try refusal(file(ifMissing: .refuse)).code == .notYetMigrated)
        try FileManager.default.removeItem(atPath: new)
        _ = try file().openQueue()
        #expect(try notes(file(ifMissing: .refuse).openPool()) == 3)
    }
}
