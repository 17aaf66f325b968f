import Foundation
import TestSupport
import Testing

@testable import AppMigrations

#if canImport(Glibc)
    import Glibc
#endif

@Suite("A record's file", .timed)
struct RecordFileTests {
    let folder: TemporaryFolder
    let url: URL
    let log = Log()

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("migrations.json")
    }

    private func permissions(_ name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(name).path)
        return try #require(attributes[.posixPermissions] as? NSNumber).intValue
    }

    private func refusal() throws -> MigrationError {
        let store = try MigrationStore.jsonFile(at: url)
        let error = try #require(throws: MigrationError.self) {
            try launch("2.0", steps: ["2.0"], store: store, log: log)
        }
        #expect(log.lines == [])
        return error
    }

    @Test(
        "keeps its permissions, and gives them to the files beside it", arguments: [0o600, 0o664, 0o666])
    func keepsPermissions(expected: Int) throws {
        try launch("1.0", store: .jsonFile(at: url))
        for name in try folder.fileNames where name != "migrations.json" {
            try FileManager.default.removeItem(at: folder.file(name))
        }
        try FileManager.default.setAttributes([.posixPermissions: expected], ofItemAtPath: url.path)
        try launch("2.0", steps: ["2.0"], store: .jsonFile(at: url))
        #expect(
            try folder.fileNames.sorted() == [
                "migrations.json", "migrations.json.Library.lock", "migrations.json.history",
                "migrations.json.lock",
            ])
        for name in try folder.fileNames { #expect(try permissions(name) == expected, "\(name)") }
    }

    @Test(
        "that its owner may not write gets files beside it that the owner may write", arguments: [0, 0o444])
    func readOnlyFile(permissions: mode_t) throws {
        try launch("1.0", store: .jsonFile(at: url))
        for name in try folder.fileNames where name != "migrations.json" {
            try FileManager.default.removeItem(at: folder.file(name))
        }
        chmod(url.path, permissions)
        let store = try MigrationStore.jsonFile(at: url)
        // What nobody may read stays unread.
        _ = try? launch("2.0", steps: ["2.0"], store: store)
        for name in try folder.fileNames where name != "migrations.json" {
            #expect(try self.permissions(name) & 0o600 == 0o600, "\(name)")
        }
    }

    @Test("is never written through a link in the place of its temporary file")
    func temporaryLink() throws {
        let victim = folder.file("victim")
        try Data("precious".utf8).write(to: victim)
        let temporary = folder.file(".migrations.json.new")
        try FileManager.default.createSymbolicLink(at: temporary, withDestinationURL: victim)
        try launch("1.0", store: .jsonFile(at: url))
        #expect(try String(contentsOf: victim, encoding: .utf8) == "precious")
        #expect(try JSONStore(at: url).managerNames() == ["Library"])
    }

    @Test("is refused, and not awaited, if it is a pipe")
    func pipe() throws {
        #expect(mkfifo(url.path, 0o600) == 0)
        let error = try refusal()
        #expect(error.code == .unreadableStore)
        #expect(error.message == "migrations.json: cannot be read: Invalid argument (\(url.path)).")
    }

    @Test("is refused if it is larger than any record")
    func huge() throws {
        #expect(FileManager.default.createFile(atPath: url.path, contents: nil))
        #expect(truncate(url.path, 1 << 40) == 0)
        let error = try refusal()
        #expect(error.code == .unreadableStore)
        #expect(error.message == "migrations.json: cannot be read: File too large (\(url.path)).")
    }

    @Test("has no history of a step whose record could not be written")
    func failedWrite() throws {
        let store = try MigrationStore.jsonFile(at: url)
        try launch("1.0", store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        let temporary = folder.file(".migrations.json.new")
        manager.whenMigratingToVersion("2.0") {
            try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
        }
        let error = try #require(throws: MigrationError.self) { try manager.migrate() }
        #expect(error.code == .unwritable)
        try FileManager.default.removeItem(at: temporary)
        #expect(try store.history("Library") == [])
        #expect(try launch("2.0", steps: ["2.0"], store: store).completed.versions == ["2.0"])
        #expect(try store.history("Library").map(\.version) == ["2.0"])
    }

    @Test("a record and its history are kept if only the folder's sync fails")
    func failedSync() throws {
        try folder.withoutRoot {
            let store = try MigrationStore(JSONStore(at: url, durability: .recordOnly))
            try launch("1.0", store: store)
            // Files of such a folder can be replaced, but the folder cannot be opened.
            #expect(chmod(folder.url.path, 0o300) == 0)
            defer { chmod(folder.url.path, 0o700) }
            let error = try #require(throws: MigrationError.self) {
                try store.update("Library") { state in
                    try state.changeRecord(of: "Library") { $0?.settle(WorkID("1.1")) }
                    state.newHistory.append(
                        SettledStep(
                            MigrationWork(WorkID("1.1"), of: "Library", in: .store, database: nil),
                            outcome: .ran, date: Date(), appVersion: "1.1"))
                }
            }
            #expect(error.code == .unwritable)
            #expect(
                error.message == "migrations.json: cannot be written: Permission denied (\(url.path)).")
            #expect(try store.record(of: "Library")?.settled == ["1.1"])
            #expect(try store.history("Library").map(\.version) == ["1.1"])
        }
    }

    // Linux refuses a second name to a file that belongs to somebody else, as some file systems do to every file.
    @Test("is there all the time while it is set aside, also where a file can have one name only")
    func singleName() throws {
        let damaged = folder.file("data/migrations.json")
        try FileManager.default.createDirectory(
            at: folder.file("data"), withIntermediateDirectories: false)
        try Data("damaged".utf8).write(to: damaged)
        chmod(damaged.path, 0o644)
        try folder.withoutRoot {
            try DurableFile(at: damaged).keepAside()
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("data").path)
            #expect(names.count == 2)
            for name in names {
                #expect(try Data(contentsOf: folder.file("data/\(name)")) == Data("damaged".utf8))
            }
        }
    }

    @Test("is missing only if a file beside it can be written and read, and the cause is named otherwise")
    func protectedData() throws {
        try folder.withoutRoot {
            let file = DurableFile(at: url)
            try file.probeFolder()
            #expect(try folder.fileNames == [])
            #expect(chmod(folder.url.path, 0o500) == 0)
            defer { chmod(folder.url.path, 0o700) }
            let error = try #require(throws: POSIXError.self) { try file.probeFolder() }
            #expect(error.code == .EACCES)
        }
    }

    @Test(
        "says that its holder has come to its end by cutting off who that was, for which a full disk has room"
    )
    func endOfHolder() throws {
        let url = folder.file("lock")
        func take() throws -> (wasReleased: Bool, contents: String, release: LockRelease) {
            guard case .acquired(let wasReleased, let release) = try FileLock(at: url).take() else {
                throw POSIXError(.EWOULDBLOCK)
            }
            return (wasReleased, try String(contentsOf: url, encoding: .utf8), release)
        }
        let first = try take()
        #expect(!first.wasReleased)
        first.release()
        #expect(first.contents.hasPrefix(try String(contentsOf: url, encoding: .utf8)))
        let second = try take()
        #expect(second.wasReleased)
        second.release.abandon()
        #expect(try !take().wasReleased)
    }

    #if os(Linux)
        @Test("is unlocked even if a child process was forked while it was locked")
        func forkedChild() throws {
            // Swift hides fork(2), since little may be called in the child: here, nothing but pause(2).
            typealias Fork = @convention(c) () -> pid_t
            let fork = unsafeBitCast(try #require(dlsym(nil, "fork")), to: Fork.self)
            let lock = FileLock(at: folder.file("lock"))
            guard case .acquired(_, let release) = try lock.take() else {
                Issue.record("The lock is free.")
                return
            }
            let child = fork()
            if child == 0 {
                while true { pause() }
            }
            defer {
                kill(child, SIGKILL)
                waitpid(child, nil, 0)
            }
            release()
            guard case .acquired = try lock.take() else {
                Issue.record("The child keeps the lock.")
                return
            }
        }
    #endif

    @Test(
        "is readable whatever the clock says", arguments: [-80_000_000_000, 0, 400_000_000_000] as [Double])
    func clocks(seconds: Double) throws {
        let date = Date(timeIntervalSince1970: seconds)
        var state = StoreState()
        var record = MigrationRecord(start: "1.0")
        record.changeOpen(WorkID("1.1")) { $0.running = OpenWork.Start(build: "1.1", since: date) }
        try state.setRecord(record, of: "Library")
        state.see("1.0", in: "app", at: date)
        let copy = try StoreState(json: state.json())
        #expect(try copy.record(of: "Library")?.running == [WorkID("1.1")])
        #expect(copy.seen["app"]?.map(\.version) == ["1.0"])
        let step = SettledStep(
            MigrationWork(WorkID("1.1"), of: "Library", in: .store, database: nil), outcome: .ran, date: date,
            appVersion: "1.1")
        #expect(try SettledStep(json: step.json())?.version == "1.1")
    }
}
