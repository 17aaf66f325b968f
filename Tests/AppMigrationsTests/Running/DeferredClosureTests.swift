import AppMigrations
import Foundation
import TestSupport
import Testing

@Suite("A deferred closure", .timed)
struct DeferredClosureTests {
    let store = MigrationStore.inMemory()
    let log = Log()

    init() throws { try launch("1.0", store: store) }

    private func manager(
        _ version: String = "2.1", onEvent: ((MigrationEvent) -> Void)? = nil,
        _ body: nonisolated(nonsending) @escaping (MigrationContext) async throws -> Void
    ) throws -> MigrationManager {
        let manager = try MigrationManager(
            name: "Library", currentVersion: version, adopting: .newApp, store: store,
            options: MigrationOptions(ignoresStepsAboveCurrent: true, onEvent: onEvent))
        manager.afterMigratingToVersion("2.1", run: body)
        manager.whenMigratingToVersion("3.0", finishing: ["2.1"]) { [log] in log.lines.append("3.0") }
        return manager
    }

    /// Does numbers, and asks to wait after some of them.
    private func counting(to last: Int, stoppingAfter limit: Int = .max) throws -> MigrationManager {
        try manager { [log] context in
            var number = try context.lastCheckpoint(as: Int.self) ?? 0
            var count = 0
            while number < last {
                guard count < limit else { throw MigrationPostponed(reason: "not now") }
                log.lines.append("\(number)")
                number += 1
                count += 1
                try await context.checkpoint(number)
            }
        }
    }

    @Test("runs after the launch, and continues at its last checkpoint")
    func checkpoints() async throws {
        let first = try counting(to: 5, stoppingAfter: 2)
        #expect(try await first.migrate().deferred.map(\.work.version) == ["2.1"])
        #expect(log.lines == [])
        let report = try await first.runDeferred()
        #expect(report.pending.map(\.work.version) == ["2.1"])
        #expect(report.pending.map(\.done) == [2])
        #expect(report.failures.map(\.code) == [.postponed])
        #expect(try first.pendingDeferred().map(\.done) == [2])
        #expect(try await counting(to: 5).runDeferred().completed.versions == ["2.1"])
        #expect(log.lines == ["0", "1", "2", "3", "4"])
        #expect(try await counting(to: 5).runDeferred().completed == [])
    }

    @Test("continues at a checkpoint that is larger than any signed number")
    func unsignedCheckpoint() async throws {
        let number: UInt64 = 9_223_372_036_854_777_001
        let manager = try manager { [log] context in
            let last = try context.lastCheckpoint(as: UInt64.self)
            log.lines.append(last.map { "\($0)" } ?? "none")
            try await context.checkpoint(number)
            if last == nil { throw CancellationError() }
        }
        try await manager.migrate()
        try await manager.runDeferred()
        try await manager.runDeferred()
        #expect(log.lines == ["none", "\(number)"])
    }

    @Test("has not failed when it throws an error of its own because the run was cancelled")
    func throwsWhenCancelled() async throws {
        let (reached, continuation) = AsyncStream.makeStream(of: Void.self)
        let manager = try manager { _ in
            continuation.yield()
            do { try await Task.sleep(for: .seconds(600)) } catch { throw CocoaError(.userCancelled) }
        }
        try await manager.migrate()
        let task = Task { try await manager.runDeferred() }
        for await _ in reached { break }
        task.cancel()
        let report = try await task.value
        #expect(report.pending.map(\.work.version) == ["2.1"])
        #expect(report.failures.isEmpty)
        #expect(try store.record(of: "Library")?.failures == [:])
    }

    @Test("leaves the closures before it done when another process holds its lock in a launch")
    func lockedInLaunch() async throws {
        func launch() async throws -> MigrationReport {
            let manager = try MigrationManager(
                name: "Library", currentVersion: "3.0", adopting: .newApp, store: store,
                options: MigrationOptions(lockTimeout: .milliseconds(50)))
            manager.whenMigratingToVersion("2.0") { log.lines.append("2.0") }
            manager.afterMigratingToVersion("2.1") { _ in log.lines.append("2.1") }
            manager.whenMigratingToVersion("3.0", finishing: ["2.1"]) { log.lines.append("3.0") }
            return try await manager.migrate()
        }
        guard case .acquired(_, let release) = try store.lock("Library\0batch") else {
            Issue.record("the lock was taken")
            return
        }
        let error = try await #require(throws: MigrationError.self) { _ = try await launch() }
        #expect(error.code == .locked)
        #expect(log.lines == ["2.0"])
        release()
        #expect(try await launch().completed.versions == ["2.1", "3.0"])
        #expect(log.lines == ["2.0", "2.1", "3.0"])
    }

    @Test(
        "waits in a launch when the closures before it are written down: a kill meanwhile is no death of theirs"
    )
    func killedWhileLocked() async throws {
        /// Notes whether a kill would leave a closure that is running while a launch waits for a deferred step.
        struct WatchedStore: RecordStorage {
            let inner: any RecordStorage
            let log: Log

            var name: String { inner.name }
            func read(_ manager: String) throws -> StoreState { try inner.read(manager) }
            func lock(_ manager: String) throws -> StoreLock {
                if manager == "Library\0batch" {
                    let record = try inner.record(of: "Library")
                    log.lines.append(record?.hasRunning(isDeferred: false) == true ? "running" : "locked")
                }
                return try inner.lock(manager)
            }
            func update(
                _ manager: String, waitingUpTo limit: Duration, _ change: (inout StoreState) throws -> Void
            ) throws {
                try inner.update(manager, waitingUpTo: limit, change)
            }
        }
        let manager = try MigrationManager(
            name: "Library", currentVersion: "3.0", adopting: .newApp,
            store: MigrationStore(WatchedStore(inner: store.storage, log: log)))
        manager.whenMigratingToVersion("2.0") { log.lines.append("2.0") }
        manager.afterMigratingToVersion("2.1") { _ in log.lines.append("2.1") }
        manager.whenMigratingToVersion("3.0", finishing: ["2.1"]) { log.lines.append("3.0") }
        try await manager.migrate()
        #expect(log.lines == ["2.0", "locked", "2.1", "3.0"])
    }

    @Test("ends at a checkpoint when the time is over")
    func timeOver() async throws {
        let manager = try counting(to: 5)
        try await manager.migrate()
        #expect(try await manager.runDeferred(for: .zero).pending.map(\.work.version) == ["2.1"])
        #expect(log.lines == [])
        #expect(try await manager.runDeferred(for: .seconds(600)).completed.versions == ["2.1"])
    }

    @Test("does not begin while the condition is false")
    func condition() async throws {
        let manager = try counting(to: 1)
        try await manager.migrate()
        let report = try await Task { [manager = UncheckedManager(manager)] in
            try await manager.value.runDeferred(while: {
                withUnsafeCurrentTask { $0?.cancel() }
                return false
            })
        }.value
        #expect(report.pending.map(\.work.version) == ["2.1"])
        #expect(report.canContinue)
        #expect(log.lines == [])
        var answers = [false, true]
        let second = try await manager.runDeferred(while: { answers.removeFirst() })
        #expect(second.completed.versions == ["2.1"])
    }

    @Test("is cancelled with the progress of deferred steps, which counts nothing of the closure's own")
    func progress() async throws {
        let whole = Locked<Progress?>(nil)
        let first = try manager { [log] context in
            context.progress.totalUnitCount = 10
            context.progress.completedUnitCount = 5
            let shown = whole.withLock { $0 }
            log.lines.append("\(shown?.fractionCompleted ?? -1)")
            shown?.cancel()
            log.lines.append("\(context.progress.isCancelled)")
            throw CancellationError()
        }
        whole.withLock { $0 = first.deferredProgress }
        try await first.migrate()
        let report = try await first.runDeferred()
        #expect(log.lines == ["0.0", "true"])
        #expect(report.pending.map(\.work.version) == ["2.1"])
        #expect(report.failures.isEmpty)
        for total in [1, 10, .max] as [Int64] {
            let next = try manager { context in
                context.progress.totalUnitCount = total
                context.progress.completedUnitCount = total
                throw MigrationPostponed(reason: "not now")
            }
            try await next.runDeferred()
            #expect(next.deferredProgress.fractionCompleted == 0)
        }
        let last = try counting(to: 1)
        try await last.runDeferred()
        #expect(last.deferredProgress.isFinished)
    }

    @Test("ends at a checkpoint when the task is cancelled")
    func cancelled() async throws {
        let manager = try manager { [log] context in
            log.lines.append("begun")
            withUnsafeCurrentTask { $0?.cancel() }
            try await context.checkpoint(1)
            log.lines.append("not reached")
        }
        try await manager.migrate()
        let report = try await Task { [manager = UncheckedManager(manager)] in
            try await manager.value.runDeferred()
        }.value
        #expect(report.pending.map(\.work.version) == ["2.1"])
        #expect(report.failures.isEmpty)
        #expect(log.lines == ["begun"])
        #expect(try manager.pendingDeferred().map(\.done) == [1])
    }

    /// One task at a time uses it.
    private struct UncheckedManager: @unchecked Sendable {
        let value: MigrationManager
        init(_ value: MigrationManager) { self.value = value }
    }

    @Test("is refused by the synchronous form, which cannot run it")
    func synchronous() throws {
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.1", adopting: .newApp, store: store)
        manager.afterMigratingToVersion(
            "2.1", fileID: "App/Migrations.swift", line: 7
        ) { _ in }
        #expect(try manager.migrate().deferred.map(\.work.version) == ["2.1"])
        func run() throws -> DeferredReport { try manager.runDeferred() }
        let error = try #require(throws: MigrationError.self) { try run() }
        #expect(
            error.description == """
                Library: deferred step 2.1 (Migrations.swift:7) is asynchronous. Call it as `try await \
                manager.runDeferred()` in an async function. At the top level of main.swift, Swift calls the synchronous \
                form in any case: put the call into a function there.
                """)
    }

    @Test("is finished first by a step that needs it")
    func finishing() async throws {
        try await counting(to: 3, stoppingAfter: 1).migrate()
        try await counting(to: 3, stoppingAfter: 1).runDeferred()
        let manager = try manager("3.0") { [log] context in
            log.lines.append("from \(try context.lastCheckpoint(as: Int.self) ?? 0)")
        }
        #expect(try await manager.migrate().completed.versions == ["2.1", "3.0"])
        #expect(log.lines == ["0", "from 1", "3.0"])
        #expect(try await manager.runDeferred().completed == [])
    }

    /// Settles a step in the record, as another process does.
    private func settle(_ version: AppVersion) {
        try? store.update("Library") { state in
            try state.changeRecord(of: "Library") { $0?.settle(WorkID(version)) }
        }
    }

    @Test("does not run once another process has done it, and is not reported as done by this one")
    func outrun() async throws {
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.1", adopting: .newApp, store: store,
            options: MigrationOptions(onEvent: { event in
                if case .didRun(let step, _) = event.kind, step.version == "2.1" { settle("2.1-1") }
            }))
        for version in ["2.1", "2.1-1"] as [AppVersion] {
            manager.afterMigratingToVersion(version) { [log] _ in log.lines.append("\(version)") }
        }
        try await manager.migrate()
        let report = try await manager.runDeferred()
        #expect(report.completed.versions == ["2.1"])
        #expect(report.pending == [])
        #expect(log.lines == ["2.1"])
    }

    @Test("does not run in the launch that finishes it once another process has done it")
    func outrunLaunch() async throws {
        func settleAtStart(_ event: MigrationEvent) {
            if case .launchRecognized = event.kind { settle("2.1") }
        }
        let manager = try manager("3.0", onEvent: settleAtStart) { [log] _ in log.lines.append("2.1") }
        // The record that the launch begins with, in which the other process settles the step.
        try await self.manager("2.1") { _ in }.migrate()
        #expect(try await manager.migrate().completed.versions == ["3.0"])
        #expect(log.lines == ["3.0"])
    }

    @Test("that throws waits for the next run, and says so")
    func failure() async throws {
        let manager = try manager { _ in throw StepError(description: "no network") }
        try await manager.migrate()
        let report = try await manager.runDeferred()
        #expect(report.failures.first?.message.hasSuffix("failed: no network.") == true)
        #expect(report.pending.map(\.work.version) == ["2.1"])
        #expect(try await counting(to: 1).runDeferred().completed.versions == ["2.1"])
    }

    @Test("a closure in which the process died three times is not run again in that build, except on request")
    func retrying() async throws {
        /// Runs the step, and leaves the store as a process does that dies in it.
        func die() async throws -> DeferredReport {
            let killed = Locked<StoreState?>(nil)
            let manager = try manager { [log, store] context in
                log.lines.append("attempt \(context.attempt)")
                try killed.withLock { $0 = try store.read("Library") }
            }
            let report = try await manager.runDeferred()
            guard let state = killed.withLock({ $0 }) else { return report }
            try store.update("Library") { $0 = state }
            return report
        }
        try await counting(to: 1).migrate()
        for _ in 1...3 { _ = try await die() }
        let error = try #require(try await die().failures.first)
        #expect(error.code == .gaveUp)
        #expect(
            error.remedy
                == """
                A new build of the app retries it, as does runDeferred(retrying: error.work); skip(error.work) goes on \
                without it.
                """)
        #expect(log.lines == ["attempt 1", "attempt 2", "attempt 3"])
        let work = try #require(error.work)
        #expect(try await counting(to: 1).runDeferred(retrying: work).completed.versions == ["2.1"])
    }

    @MainActor
    @Test("does its input and output elsewhere than on the caller's actor")
    func offMain() async throws {
        let isMain = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: isMain, value: true)
        // The main thread itself does nothing in a test on Linux.
        let isOnMain = { @Sendable in DispatchQueue.getSpecific(key: isMain) ?? false }
        /// Notes the calls that are made on the main actor.
        struct WatchedStore: RecordStorage {
            let inner: any RecordStorage
            let isOnMain: @Sendable () -> Bool
            let callsOnMain = Locked(0)
            var name: String { inner.name }
            private func note() { if isOnMain() { callsOnMain.withLock { $0 += 1 } } }
            func read(_ manager: String) throws -> StoreState {
                note()
                return try inner.read(manager)
            }
            func update(
                _ manager: String, waitingUpTo limit: Duration, _ change: (inout StoreState) throws -> Void
            ) throws {
                note()
                try inner.update(manager, waitingUpTo: limit, change)
            }
            func lock(_ manager: String) throws -> StoreLock {
                note()
                return try inner.lock(manager)
            }
        }
        let watched = WatchedStore(inner: store.storage, isOnMain: isOnMain)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.1", adopting: .newApp, store: MigrationStore(watched))
        manager.afterMigratingToVersion("2.1") { context in
            #expect(isOnMain())
            try await context.checkpoint(1)
            try await context.checkpoint()
            MainActor.assertIsolated()
        }
        try await manager.migrate()
        #expect(try await manager.runDeferred().completed.versions == ["2.1"])
        #expect(watched.callsOnMain.withLock { $0 } == 0)
    }

    @Test("on which a launch has given up is retried by the call that the error names")
    func gaveUpInLaunch() async throws {
        try await manager("2.1") { _ in }.migrate()
        try store.changeRecord(of: "Library") { $0?.noteDeaths(3, in: "2.1", build: "3.0") }
        let manager = try manager("3.0") { [log] _ in log.lines.append("2.1") }
        let error = try await #require(throws: MigrationError.self) { _ = try await manager.migrate() }
        #expect(error.code == .gaveUp)
        #expect(
            error.remedy == """
                A new build of the app retries it, as does migrate(retrying: error.work); skip(error.work) goes on \
                without it.
                """)
        try await manager.migrate(retrying: error.work)
        #expect(log.lines == ["2.1", "3.0"])
    }

    @Test("keeps no cancelled launch waiting for its lock")
    func cancelledWhileLocked() async throws {
        try await manager("2.1") { _ in }.migrate()
        guard case .acquired(_, let release) = try store.lock("Library\0batch") else {
            Issue.record("the lock is held")
            return
        }
        defer { release() }
        let manager = try manager("3.0") { _ in }
        let progress = manager.progress
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.2) { progress.cancel() }
        await #expect(throws: CancellationError.self) { try await manager.migrate() }
        #expect(log.lines == [])
    }
}
