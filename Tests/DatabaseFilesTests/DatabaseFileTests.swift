import AppMigrations
import DatabaseFiles
import Dispatch
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A database file", .timed)
struct DatabaseFileTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("with a query can be opened, and refuses what needs its file")
    func query() throws {
        let path = "file://\(folder.path("app.sqlite"))?cache=private"
        try DatabaseFile(path: path).openQueue().close()
        let calls: [() throws -> Void] = [
            { _ = try DatabaseFile(path: path, movedFrom: ["old.sqlite"]).openQueue() },
            { _ = try DatabaseFile(path: path, ifMissing: .refuse).openPool() },
            { _ = try DatabaseFile(path: path, ifDamaged: .salvage(into: DatabaseMigrator())).openQueue() },
            { try DatabaseFile(path: path).check() },
            { _ = try DatabaseFile(path: path).salvage(into: DatabaseMigrator()) },
            { _ = try DatabaseFile(path: path).foundDatabases() },
        ]
        for call in calls {
            let error = try #require(throws: MigrationError.self, performing: call)
            #expect(error.code == .misuse)
            #expect(
                error.description == """
                    The path \(path) has a query, with which a database can only be opened. Pass the path of the file, and \
                    say the rest in the configuration. Nothing was changed.
                    """)
        }
    }

    @Test("has a path: SQLite would take none for a temporary database", arguments: ["", "file:", "file://"])
    func emptyPath(path: String) throws {
        for oldPaths in [[], [folder.path("app.sqlite")]] {
            try Data().write(to: folder.file("app.sqlite"))
            let error = try #require(throws: MigrationError.self) {
                try DatabaseFile(path: path, movedFrom: oldPaths).openQueue()
            }
            #expect(error.code == .misuse)
            #expect(try folder.fileNames == ["app.sqlite"])
        }
    }

    @Test("waits for a locked database to open, and times out")
    func opening() throws {
        let queue = try DatabaseFile(path: folder.path("app.sqlite")).openQueue()
        #expect(try queue.integers("PRAGMA busy_timeout") == [5_000])
        let pool = try DatabaseFile(path: folder.path("pool.sqlite")).openPool()
        #expect(try pool.strings("PRAGMA journal_mode") == ["wal"])

        try queue.execute("CREATE TABLE a(x)")
        let blocker = try DatabaseQueue(path: folder.path("app.sqlite"))
        try blocker.inDatabase { db in
            try db.execute(sql: "BEGIN EXCLUSIVE")
            let error = try #require(throws: MigrationError.self) {
                try DatabaseFile(
                    path: folder.path("app.sqlite"), configuration: Configuration(),
                    waitingFor: .milliseconds(30)
                ).openPool()
            }
            #expect(error.code == .locked)
            #expect(error.message == "app.sqlite: database is locked (SQLite 5).")
            try db.execute(sql: "COMMIT")
        }
        let isLocked = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            try? blocker.inDatabase { db in
                try db.execute(sql: "BEGIN EXCLUSIVE")
                isLocked.signal()
                Thread.sleep(forTimeInterval: 0.1)
                try db.execute(sql: "COMMIT")
            }
        }
        isLocked.wait()
        let opened = try DatabaseFile(
            path: folder.path("app.sqlite"), configuration: Configuration(), waitingFor: .seconds(600)
        ).openPool()
        #expect(try opened.tables() == ["a"])
    }
}
