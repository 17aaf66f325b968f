import AppMigrations
import Foundation
import TestSupport
import Testing

@MainActor
@Suite("Cancelling a launch", .timed)
struct CancellationTests {
    let store = MigrationStore.inMemory()
    let log = Log()

    func manager() throws -> MigrationManager {
        try launch("1.0", store: store)
        return try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store,
            options: MigrationOptions(lockTimeout: .seconds(600)))
    }

    @Test("cancelling the task stops the run between steps, and the same manager can continue")
    func betweenSteps() async throws {
        let manager = try manager()
        manager.whenMigratingToVersion("1.1") {
            log.lines.append("1.1")
            withUnsafeCurrentTask { $0?.cancel() }
        }
        manager.register(["1.2", "2.0"], log: log)
        let task = Task { try await manager.migrate() }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(log.lines == ["1.1"])
        #expect(try store.record(of: "Library")?.settled == ["1.1"])
        #expect(try store.record(of: "Library")?.attempts == [:])

        let report = try await manager.migrate()
        #expect(report.launch == .upgrade(from: "1.0"))
        #expect(report.completed.versions == ["1.2", "2.0"])
        #expect(manager.progress.fractionCompleted == 1)
        #expect(log.lines == ["1.1", "1.2", "2.0"])
    }

    @Test("cancelling the task keeps a closure from beginning that its actor has not come to")
    func beforeClosure() async throws {
        try launch("1.0", store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store,
            options: MigrationOptions(onEvent: { event in
                if case .willRun = event.kind { withUnsafeCurrentTask { $0?.cancel() } }
            }))
        manager.register(["2.0"], log: log)
        let task = Task { try await manager.migrate() }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(log.lines == [])
    }

    @Test("a synchronous launch in a cancelled task runs, unless a step of its own stops")
    func synchronousInCancelledTask() async throws {
        let manager = try manager()
        manager.register(["1.1"], log: log)
        var stops = true
        manager.whenMigratingToVersion("1.2") { if stops { try Task.checkCancellation() } }
        manager.register(["2.0"], log: log)
        func launch() throws { try manager.migrate() }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            #expect(throws: CancellationError.self) { try launch() }
            stops = false
            try launch()
        }
        try await task.value
        #expect(log.lines == ["1.1", "2.0"])
        #expect(try store.record(of: "Library")?.failures == [:])
    }

    @Test(
        "a task that is cancelled while `adopting` or a condition looks has been cancelled, and nothing has failed",
        arguments: [true, false], [true, false])
    func whileLooking(isAdopting: Bool, isSynchronous: Bool) async throws {
        if !isAdopting { try launch("1.0", store: store) }
        func check() throws {
            withUnsafeCurrentTask { $0?.cancel() }
            try Task.checkCancellation()
        }
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0",
            adopting: Adoption {
                if isAdopting { try check() }
                return nil
            }, store: store)
        func isNeeded() throws -> Bool {
            if !isAdopting { try check() }
            return false
        }
        manager.whenMigratingToVersion("1.0", again: isNeeded) {}
        func migrate() throws { try manager.migrate() }
        let task = Task { if isSynchronous { try migrate() } else { try await manager.migrate() } }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("cancelling the task stops a step that supports cancellation")
    func insideStep() async throws {
        let manager = try manager()
        let attempts = Locked<[Int]>([])
        let (reached, continuation) = AsyncStream.makeStream(of: Void.self)
        manager.register(["1.1"], log: log)
        manager.whenMigratingToVersion("1.2") { context in
            let isFirst = attempts.withLock { attempts in
                attempts.append(context.attempt)
                return attempts.count == 1
            }
            continuation.yield()
            if isFirst { try await Task.sleep(for: .seconds(600)) }
        }
        let task = Task { try await manager.migrate() }
        for await _ in reached { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try store.record(of: "Library")?.settled == ["1.1"])

        #expect(try await manager.migrate().completed.versions == ["1.2"])
        #expect(manager.progress.fractionCompleted == 1)
        #expect(attempts.withLock { $0 } == [1, 1], "a cancellation is not an attempt")
    }

    @Test("cancelling the task cancels the progress of the running step")
    func stepProgress() async throws {
        let manager = try manager()
        let (reached, continuation) = AsyncStream.makeStream(of: Void.self)
        manager.whenMigratingToVersion("2.0") { context in
            continuation.yield()
            while !context.progress.isCancelled { await Task.yield() }
            throw CancellationError()
        }
        let task = Task { try await manager.migrate() }
        for await _ in reached { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!manager.progress.isCancelled)
    }

    @Test("cancelling the task ends the wait for another run")
    func waitingForTheLock() async throws {
        let manager = try manager()
        guard case .acquired(_, let release) = try store.lock("Library") else {
            Issue.record("the lock was taken")
            return
        }
        defer { release() }
        let task = Task { try await manager.migrate() }
        await Task.yield()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("cancelling the progress stops the run, and another manager continues")
    func cancelledProgress() throws {
        let manager = try manager()
        manager.whenMigratingToVersion("1.1") { [progress = manager.progress] in progress.cancel() }
        manager.register(["1.2", "2.0"], log: log)
        #expect(throws: CancellationError.self) { try manager.migrate() }
        #expect(throws: CancellationError.self, "it stays cancelled") { try manager.migrate() }
        #expect(log.lines == [])
        let next = try launch("2.0", steps: ["1.1", "1.2", "2.0"], store: store, log: log)
        #expect(next.completed.versions == ["1.2", "2.0"])
    }

    @Test("a step that stops when its progress is cancelled has not failed")
    func cancelledInsideStep() throws {
        let manager = try manager()
        manager.whenMigratingToVersion("2.0") { [progress = manager.progress] context in
            progress.cancel()
            if context.progress.isCancelled { throw CancellationError() }
        }
        #expect(throws: CancellationError.self) { try manager.migrate() }
        #expect(try store.record(of: "Library")?.settled == [])
        #expect(try store.record(of: "Library")?.attempts == [:])
    }

    @Test("cancelling in the last step keeps the closures for a version change for the next launch")
    func beforeVersionChange() throws {
        func launch(cancelling: Bool) throws {
            let manager = try manager()
            manager.whenMigratingToVersion("2.0") { [progress = manager.progress] in
                if cancelling { progress.cancel() }
            }
            manager.whenVersionChanges { [log] from, to in log.lines.append("\(from) to \(to)") }
            try manager.migrate()
        }
        #expect(throws: CancellationError.self) { try launch(cancelling: true) }
        #expect(log.lines == [])
        try launch(cancelling: false)
        #expect(log.lines == ["1.0 to 2.0"])
    }

    @Test("a closure for a version change can be cancelled, and runs again at the next launch")
    func versionChange() throws {
        func launch(cancelling: Bool) throws -> MigrationReport {
            let manager = try manager()
            manager.register(["2.0"], log: log)
            manager.whenVersionChanges { [log] from, to in
                if cancelling {
                    manager.progress.cancel()
                    throw CancellationError()
                }
                log.lines.append("\(from) to \(to)")
            }
            return try manager.migrate()
        }
        #expect(throws: CancellationError.self) { try launch(cancelling: true) }
        #expect(try launch(cancelling: false).completed == [])
        #expect(log.lines == ["2.0", "1.0 to 2.0"])
    }
}
