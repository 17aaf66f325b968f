import Foundation
import TestSupport
import Testing

@testable import AppMigrations

@Suite("How a step ends", .timed)
struct WorkFailureTests {
    let store = MigrationStore.inMemory()
    let log = Log()

    init() throws { try launch("1.0", store: store) }

    /// A manager whose first step throws, if there is an error, and whose next step does not.
    private func manager(_ error: (any Error)?) throws -> MigrationManager {
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.whenMigratingToVersion("1.5") {
            if let error { throw error }
        }
        manager.register(["2.0"], log: log)
        return manager
    }

    private static let obstacles: [any Error & Sendable] = [
        MigrationPostponed(reason: "the flag is off"), POSIXError(.ENOSPC),
        POSIXError(.EROFS),
        CocoaError(.fileWriteOutOfSpace), CocoaError(.fileWriteVolumeReadOnly),
        MigrationError(.deviceLocked, "the keychain is locked", remedy: "Wait."),
        MigrationError(.locked, "the file is locked", remedy: "Wait."),
        MigrationError(.suspended, "the app is suspended", remedy: "Wait."),
    ]

    @Test(
        "what keeps a step from running now is no failure: it stays pending, and stops the manager",
        arguments: obstacles)
    func obstacle(error: any Error & Sendable) throws {
        for _ in 1...3 { #expect(throws: (any Error).self) { try manager(error).migrate() } }
        #expect(log.lines == [])
        #expect(try manager(nil).pendingVersions() == ["1.5", "2.0"])
        #expect(try store.record(of: "Library")?.failures == [:])
        #expect(try store.record(of: "Library")?.attempts == [:])
        #expect(try manager(nil).migrate().completed.versions == ["1.5", "2.0"])
    }

    @Test("a step whose own task was cancelled has failed, and is named", arguments: [false, true])
    func cancelledChild(isDeferred: Bool) async throws {
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        // As a timeout does.
        func cancelled() async throws {
            let child = Task { try await Task.sleep(for: .seconds(600)) }
            child.cancel()
            try await child.value
        }
        if isDeferred {
            manager.afterMigratingToVersion("1.5") { _ in try await cancelled() }
        } else {
            manager.whenMigratingToVersion("1.5") { _ in try await cancelled() }
        }
        let error: MigrationError
        if isDeferred {
            try await manager.migrate()
            error = try #require(try await manager.runDeferred().failures.first)
        } else {
            error = try await #require(throws: MigrationError.self) { try await manager.migrate() }
        }
        #expect(error.code == .stepFailed)
        #expect(error.version == "1.5")
        #expect(error.message.contains("step 1.5 (WorkFailureTests.swift:"))
        #expect(error.message.hasSuffix(") failed: CancellationError()."))
        #expect(error.underlyingError is CancellationError)
        #expect(try store.record(of: "Library")?.failures == ["1.5": 1])
    }

    @Test("a schema step that has failed twice is not to be skipped, since it cannot be")
    func repeatedSchemaStep() throws {
        struct Failing: SchemaStepWork {
            let goesToLatest = true
            func perform(
                _ context: MigrationContext, knowing isKnown: @escaping @Sendable (WorkID) -> Bool
            ) throws -> SchemaStep { throw POSIXError(.EIO) }
            func mistakes(in schemaSteps: [any SchemaStepWork]) -> [SchemaStepMistake] { [] }
            func completeLaunch() {}
        }
        let step = MigrationStep(
            version: "2.0", place: .store, kind: .schemaStep, onFreshInstall: .skip, finishing: [], number: 0,
            source: nil)
        func failure(after last: String?) -> WorkFailure {
            WorkFailure(
                POSIXError(.EIO), of: step,
                work: MigrationWork(step.id, of: "Library", in: .store, database: nil),
                attempt: 1, build: "2.0 (1)", after: last, interruption: nil)
        }
        let again = try #require(failure(after: failure(after: nil).code).error as? MigrationError)
        #expect(
            again.remedy == """
                It has failed in the same way before in this build, so retrying alone will not help: fix the cause.
                """)
    }

    @Test("the error has the code of what keeps the step from running")
    func stop() throws {
        let error = try #require(throws: MigrationError.self) {
            try manager(MigrationPostponed(reason: "the flag is off")).migrate()
        }
        #expect(error.code == .postponed)
        #expect("\(error.code)" == "postponed")
        #expect(error.message.hasPrefix("Library: step 1.5 ("))
        #expect(error.message.hasSuffix(") was postponed: the flag is off."))
        #expect(error.remedy == "The step asked to wait. The next launch tries it again.")
        #expect(log.lines == [])
        let readOnly = try #require(throws: MigrationError.self) {
            try manager(POSIXError(.EROFS)).migrate()
        }
        #expect(readOnly.code == .unwritable)
    }

    @Test("a throw counts as a failure, until the step is done")
    func failure() throws {
        let error = StepError(description: "no")
        for count in 1...2 {
            #expect(throws: MigrationError.self) { try manager(error).migrate() }
            #expect(try store.record(of: "Library")?.failures == ["1.5": count])
        }
        #expect(try manager(nil).migrate().completed.versions == ["1.5", "2.0"])
        #expect(try store.record(of: "Library")?.failures == [:])
    }

    @Test("a step that has been settled although it threw has not failed")
    func settledAnyway() throws {
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        // As when a commit takes effect, and reports an error.
        manager.whenMigratingToVersion("1.5") { [store] in
            try store.update("Library") { state in
                try state.changeRecord(of: "Library") { $0?.settle(WorkID("1.5")) }
            }
            throw StepError(description: "disk I/O error")
        }
        #expect(throws: MigrationError.self) { try manager.migrate() }
        #expect(try store.record(of: "Library")?.failures == [:])
        #expect(try store.record(of: "Library")?.attempts == [:])
        #expect(try launch("2.0", steps: ["1.5"], store: store).completed == [])
    }

    @Test("a step that fails stops its own manager alone")
    func otherManager() throws {
        #expect(throws: MigrationError.self) { try manager(StepError(description: "no bookmarks")).migrate() }
        #expect(
            try launch("2.0", steps: ["2.0"], name: "Settings", store: store, log: log).completed.versions
                == ["2.0"])
    }

    @Test("a throw leaves the deaths before it, in deferred steps as in others")
    func deaths() async throws {
        try store.changeRecord(of: "Library") { record in
            record?.noteDeaths(2, in: "1.5", build: "2.0", forgiven: 1)
            record?.noteDeaths(2, in: "2.0", .versionChange, build: "2.0", forgiven: 1)
        }
        let before = try store.record(of: "Library")?.attempts
        #expect(before == [WorkID("1.5"): 2, WorkID("2.0", .versionChange): 2])
        let deferred = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        deferred.afterMigratingToVersion("1.5") { _ in throw StepError(description: "no") }
        deferred.whenVersionChanges { _, _ in throw StepError(description: "no window") }
        await #expect(throws: MigrationError.self) { try await deferred.migrate() }
        #expect(try store.record(of: "Library")?.attempts == before)

        try store.changeRecord(of: "Library") { record in
            record?.completed = "2.0"
            record?[WorkID("2.0", .versionChange)] = nil
        }
        #expect(try await deferred.runDeferred().failures.map(\.version) == ["1.5"])
        #expect(try store.record(of: "Library")?.attempts == [WorkID("1.5"): 2])
    }

    @Test("a deferred closure that throws says where it continues, and speaks of no batch")
    func deferredClosure() async throws {
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.afterMigratingToVersion("1.5", fileID: "App/Migrations.swift", line: 7) { _ in
            throw StepError(description: "no network")
        }
        try await manager.migrate()
        #expect(
            try await manager.runDeferred().failures.map(\.description) == [
                """
                Library: deferred step 1.5 (Migrations.swift:7) failed: no network. The next run continues the step \
                from its last checkpoint.
                """
            ])
    }

    @Test(
        "cancelling the manager's progress ends a deferred closure that a launch finishes, at its checkpoint")
    func cancelledWhileFinishing() async throws {
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.afterMigratingToVersion("1.5") { [progress = manager.progress, log] context in
            log.lines.append("begun")
            progress.cancel()
            try await context.checkpoint(1)
            log.lines.append("not reached")
        }
        manager.whenMigratingToVersion("2.0", finishing: ["1.5"]) { [log] in log.lines.append("2.0") }
        await #expect(throws: CancellationError.self) { try await manager.migrate() }
        #expect(log.lines == ["begun"])
        #expect(try store.record(of: "Library")?.position(of: WorkID("1.5"))?.done == 1)
    }

    @Test(
        "when the process is about to be suspended, a deferred run ends at a checkpoint, and its lock is free"
    )
    func suspended() async throws {
        let system = FakeSystem()
        let activity = ExpiringActivity(requestingTime: system.request, patience: .never)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.afterMigratingToVersion("1.5") { [log] context in
            system.expire()
            while true {
                await Task.yield()
                try await context.checkpoint()
                if log.lines.isEmpty { log.lines.append("1.5") }
            }
        }
        try await manager.migrate()
        let report = try await ExpiringActivity.$current.withValue(activity) {
            try await manager.runDeferred()
        }
        #expect(system.reasons == ["AppMigrations: Library"])
        #expect(report.pending.map(\.work.version) == ["1.5"])
        #expect(report.failures.isEmpty)
        try await waitUntil("the process may be suspended") { system.returned.contains(true) }
        guard case .acquired = try store.lock("Library\0deferred") else {
            Issue.record("the lock is still taken")
            return
        }
    }

    @Test("a step for fresh installs only cannot finish a deferred one, since it runs first")
    func finishingFirst() throws {
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.afterMigratingToVersion("1.1", onFreshInstall: .run) { _ in }
        manager.whenMigratingToVersion(
            "1.2", finishing: ["1.1"], onFreshInstall: .only, fileID: "App/Migrations.swift", line: 7
        ) {}
        #expect(
            try #require(throws: MigrationError.self) { try manager.pendingVersions() }.description == """
                Library: step 1.2 is for fresh installs only, and finishes 1.1 (Migrations.swift:7). Remove \
                `finishing`: it runs before every other step.
                """)
    }

    @Test("a step for fresh installs only has no condition, which would bring it to other installs")
    func onlyAgain() throws {
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.whenMigratingToVersion(
            "1.2", onFreshInstall: .only, again: { true }, fileID: "App/Migrations.swift", line: 7, run: {})
        #expect(
            try #require(throws: MigrationError.self) { try manager.pendingVersions() }.description == """
                Library: step 1.2 is for fresh installs only, and has a condition (Migrations.swift:7). Remove \
                `again`: it would run on other installs.
                """)
    }

    @Test("a deferred closure is reported as complete once that is recorded, and not before")
    func recordedBeforeReported() async throws {
        let full = FillableStore(inner: store.storage)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: MigrationStore(full),
            options: MigrationOptions(onEvent: { [log] in log.lines.append("\($0)") }))
        manager.afterMigratingToVersion("1.5") { _ in full.isFull.withLock { $0 = true } }
        try await manager.migrate()
        log.lines = []
        let report = try await manager.runDeferred()
        #expect(report.completed == [])
        #expect(report.failures.map(\.code) == [.diskFull])
        #expect(report.pending.map(\.work.version) == ["1.5"])
        #expect(log.lines == ["Library: deferred step 1.5 (1 of 1) begins"])
        full.isFull.withLock { $0 = false }
        #expect(
            try await manager.runDeferred(retrying: manager.work("1.5")).pending.map(\.work.version)
                == ["1.5"], "full again")
    }

    @Test("a deferred closure that does not stop in time holds no lock when the process is suspended")
    func abandonedClosure() async throws {
        let system = FakeSystem()
        let activity = ExpiringActivity(requestingTime: system.request, patience: .milliseconds(10))
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.afterMigratingToVersion("1.5") { [store] _ in
            system.expire()
            while !system.returned.contains(true) { try await Task.sleep(for: .milliseconds(1)) }
            for name in ["Library\0deferred", "Library\0batch"] {
                guard case .acquired(_, let release) = try store.lock(name) else {
                    Issue.record("\(name.debugDescription) is still held")
                    continue
                }
                release()
            }
        }
        try await manager.migrate()
        _ = try await ExpiringActivity.$current.withValue(activity) { try await manager.runDeferred() }
    }
}

/// A store on a disk that may be full.
struct FillableStore: RecordStorage {
    let inner: any RecordStorage
    let isFull = Locked(false)

    var name: String { inner.name }
    func read(_ manager: String) throws -> StoreState { try inner.read(manager) }
    func lock(_ manager: String) throws -> StoreLock { try inner.lock(manager) }

    func update(
        _ manager: String, waitingUpTo limit: Duration, _ change: (inout StoreState) throws -> Void
    ) throws {
        if isFull.withLock({ $0 }) { throw POSIXError(.ENOSPC) }
        try inner.update(manager, waitingUpTo: limit, change)
    }
}
