import Foundation
import TestSupport
import Testing

@testable import AppMigrations

@Suite("Edge cases of the manager", .timed)
struct EdgeCaseTests {
    let folder: TemporaryFolder
    let url: URL
    let log = Log()

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("migrations.json")
    }

    @Test("if a damaged record cannot be replaced, it stays damaged and is not mistaken for a fresh install")
    func replacementFails() throws {
        try Data("damaged".utf8).write(to: url)
        // A folder in place of the temporary file makes writing fail.
        let blocker = folder.file(".migrations.json.new")
        try FileManager.default.createDirectory(at: blocker, withIntermediateDirectories: false)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: .jsonFile(at: url))
        manager.register(["1.5"], log: log)
        #expect(throws: MigrationError.self) { try manager.replaceRecord(assuming: "1.0") }
        let error = try #require(throws: MigrationError.self) { try manager.migrate() }
        #expect(error.code == .damagedStore)
        #expect(log.lines == [])

        try FileManager.default.removeItem(at: blocker)
        try manager.replaceRecord(assuming: "1.0")
        #expect(try manager.migrate().completed.versions == ["1.5"])
    }

    /// A manager whose step notes its attempts, and the record while it runs.
    private func manager(noting attempts: Locked<[Int]>, _ running: Locked<Data>) throws -> MigrationManager {
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: Adoption { "1.0" },
            store: .jsonFile(at: url), options: MigrationOptions(lockTimeout: .milliseconds(50)))
        manager.whenMigratingToVersion("2.0") { [url] context in
            attempts.withLock { $0.append(context.attempt) }
            let record = try Data(contentsOf: url)
            running.withLock { $0 = record }
        }
        return manager
    }

    @Test("a call that finds deferred steps running does not forget a death that it has found")
    func deathBeforeTheLock() throws {
        let attempts = Locked<[Int]>([])
        let running = Locked(Data())
        func manager() throws -> MigrationManager { try self.manager(noting: attempts, running) }
        let work = try #require(try manager().migrate().completed.first)
        // As after a death in the step: its start is written, and its lock was not released.
        try running.withLock(\.self).write(to: url)
        try Data("1\n".utf8).write(to: folder.file("migrations.json.Library.lock"))
        guard case .acquired(_, let release) = try MigrationStore.jsonFile(at: url).lock("Library\0deferred")
        else {
            Issue.record("the lock was taken")
            return
        }
        let error = try #require(throws: MigrationError.self) { try manager().skip(work) }
        #expect(error.code == .locked)
        release()
        try manager().migrate()
        #expect(attempts.withLock(\.self) == [1, 2])
    }

    @Test("a death that cannot be written down is found by the next launch")
    func deathNotWritten() throws {
        let attempts = Locked<[Int]>([])
        let running = Locked(Data())
        func migrate() throws { try manager(noting: attempts, running).migrate() }
        try migrate()
        // As after a death in the step: its start is written, and its lock was not released.
        try running.withLock(\.self).write(to: url)
        try Data("1\n".utf8).write(to: folder.file("migrations.json.Library.lock"))
        try FileLock(at: folder.file("migrations.json.lock")).withLock(waitingFor: .zero) {
            _ = #expect(throws: MigrationError.self) { try migrate() }
        }
        try migrate()
        #expect(attempts.withLock(\.self) == [1, 2])
    }

    @Test("a store opened through a symbolic link shares its locks with the file")
    func link() throws {
        let link = folder.file("link.json")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: url)
        try Data(#"{"format": "1.0", "seen": {}, "managers": {}}"#.utf8).write(to: url)
        guard case .acquired(_, let release) = try MigrationStore.jsonFile(at: url).lock("Library") else {
            Issue.record("the lock was taken")
            return
        }
        defer { release() }
        guard case .held = try MigrationStore.jsonFile(at: link).lock("Library") else {
            Issue.record("two hold one lock")
            return
        }
    }

    @Test("a step that crashed keeps its attempts when a step out of order runs before it")
    func lateStepKeepsAttempts() throws {
        let store = MigrationStore.inMemory()
        try launch("1.0", store: store)
        try store.changeRecord(of: "Library") { record in
            record?.highest = "2.0"
            record?.noteDeaths(2, in: "2.0", build: "2.0")
        }
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        var attempts: [AppVersion: Int] = [:]
        manager.whenMigratingToVersion("1.5") { attempts["1.5"] = $0.attempt }
        manager.whenMigratingToVersion("2.0") { attempts["2.0"] = $0.attempt }
        try manager.migrate()
        #expect(attempts == ["1.5": 1, "2.0": 3])
        #expect(try store.record(of: "Library")?.attempts == [:])
    }

    @Test(
        "a step out of order that throws after a checkpoint does not change another step's attempts")
    func checkpointOfLateStep() throws {
        let store = MigrationStore.inMemory()
        try launch("1.0", store: store)
        try store.changeRecord(of: "Library") { record in
            record?.highest = "2.0"
            record?.noteDeaths(2, in: "2.0", build: "2.0")
        }
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.whenMigratingToVersion("1.5") { context in
            try context.checkpoint()
            throw StepError(description: "no")
        }
        manager.register(["2.0"], log: log)
        #expect(throws: MigrationError.self) { try manager.migrate() }
        #expect(try store.record(of: "Library")?.attempts == [WorkID("2.0"): 2])
    }

    @Test("a dangling link does not count as a missing file")
    func danglingFile() throws {
        let link = folder.file("library")
        try FileManager.default.createSymbolicLink(
            at: link, withDestinationURL: folder.file("unmounted/library"))
        let error = try #require(throws: MigrationError.self) {
            try launch(
                "2.0", steps: ["2.0"], store: .inMemory(), log: log,
                adopting: .fileExists(link, means: "1.0"))
        }
        #expect(error.code == .undecided)
        #expect(log.lines == [])
    }

    @Test("a manager detects a downgrade even if the newer version was launched during its lifetime")
    func newerMeanwhile() throws {
        let store = MigrationStore.inMemory()
        let manager = try MigrationManager(
            name: "Library", currentVersion: "1.0", adopting: .newApp, store: store)
        #expect(try manager.migrate().launch == .freshInstall)
        try launch("2.0", store: store)
        #expect(try manager.migrate().launch == .downgrade(from: "2.0"))
    }

    @Test("a write lock that is held for longer than `lockTimeout` is an error that names its holder")
    func writtenByOthers() throws {
        let store = try MigrationStore.jsonFile(at: url)
        try FileLock(at: folder.file("migrations.json.lock")).withLock(waitingFor: .seconds(600)) {
            let error = try #require(throws: MigrationError.self) {
                try launch(
                    "2.0", steps: ["2.0"], store: store, log: log,
                    options: MigrationOptions(lockTimeout: .milliseconds(20)))
            }
            #expect(error.code == .locked)
            #expect(
                error.description == """
                    migrations.json: locked by this process for more than 0.02 seconds. Launch again when that \
                    process has resumed or exited.
                    """)
        }
        #expect(log.lines == [])
        #expect(try launch("2.0", steps: ["2.0"], store: store, log: log).launch == .freshInstall)
    }

    @Test("setting aside a missing record is an error, and creates no new one")
    func nothingToSetAside() throws {
        let store = try MigrationStore.jsonFile(at: url)
        let error = try #require(throws: MigrationError.self) {
            try store.storage.setAside(replacingWith: StoreState())
        }
        #expect(error.code == .unwritable)
        #expect(
            error.message == "migrations.json: cannot be written: No such file or directory (\(url.path)).")
        #expect(try folder.fileNames == ["migrations.json.lock"])
    }

    @Test("a record without a completed version continues from where it began")
    func nothingCompleted() throws {
        let store = MigrationStore.inMemory()
        for (start, from) in [(nil, "0"), ("1.0", "1.0")] as [(AppVersion?, AppVersion)] {
            try store.changeRecord(of: "Library") { $0 = MigrationRecord(start: start) }
            #expect(try launch("2.0", store: store).launch == .adoption(from: from))
        }
    }

    @Test("a step that begins after a cancellation is cancelled at once")
    func cancelledBeforeStep() {
        let interruption = Interruption()
        interruption.stop(.cancelled)
        let step = Progress(totalUnitCount: 1)
        interruption.attach(step)
        #expect(step.isCancelled)
    }
}
