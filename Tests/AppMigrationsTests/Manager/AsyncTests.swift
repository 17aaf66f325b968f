import AppMigrations
import TestSupport
import Testing

@MainActor
@Suite("Launching asynchronously", .timed)
struct AsyncTests {
    let store = MigrationStore.inMemory()
    let log = Log()

    func manager(options: MigrationOptions = MigrationOptions()) throws -> MigrationManager {
        try launch("1.0", store: store)
        return try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store, options: options)
    }

    @Test("synchronous and asynchronous steps run in order, synchronous ones on the caller's actor")
    func order() async throws {
        let manager = try manager()
        manager.whenMigratingToVersion("1.1") {
            MainActor.assertIsolated()
            log.lines.append("1.1")
        }
        manager.whenMigratingToVersion("1.2") { [log] _ in
            await Task.yield()
            await MainActor.run { log.lines.append("1.2") }
        }
        manager.whenMigratingToVersion("1.2-1") { context in
            MainActor.assertIsolated()
            log.lines.append("1.2-1 to \(context.to)")
        }
        manager.whenMigratingToVersion("2.0") { [log] context in
            await MainActor.run { log.lines.append("2.0 from \(context.from ?? "0")") }
        }
        manager.whenVersionChanges { from, to in
            MainActor.assertIsolated()
            log.lines.append("\(from) to \(to)")
        }
        let report = try await manager.migrate()
        #expect(log.lines == ["1.1", "1.2", "1.2-1 to 2.0", "2.0 from 1.0", "1.0 to 2.0"])
        #expect(report.completed.versions == ["1.1", "1.2", "1.2-1", "2.0"])
        #expect(try await manager.migrate().completed == [])
    }

    @Test("synchronous steps run on a custom actor")
    func ownActor() async throws {
        actor Library {
            var steps: [AppVersion] = []

            func migrate(_ store: MigrationStore) async throws {
                let manager = try MigrationManager(
                    name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
                manager.whenMigratingToVersion("2.0") { context in
                    self.preconditionIsolated()
                    self.steps.append(context.version)
                }
                try await manager.migrate()
            }
        }
        try launch("1.0", store: store)
        let library = Library()
        try await library.migrate(store)
        #expect(await library.steps == ["2.0"])
    }

    @Test("a synchronous call refuses an asynchronous step before anything runs, even if it is not pending")
    func refusal() async throws {
        let manager = try manager()
        manager.whenMigratingToVersion("0.9", fileID: "App/Migrations.swift", line: 3) { _ in
            await Task.yield()
        }
        manager.register(["1.1"], log: log)
        // In a closure that is not asynchronous, overload resolution takes the synchronous call.
        let synchronously: () throws -> MigrationReport = { try manager.migrate() }
        let error = try #require(throws: MigrationError.self) { try synchronously() }
        #expect(error.code == .misuse)
        #expect(
            error.description
                == """
                Library: step 0.9 (Migrations.swift:3) is asynchronous. Call it as `try await manager.migrate()` in an \
                async function. At the top level of main.swift, Swift calls the synchronous form in any case: put the call \
                into a function there.
                """)
        #expect(log.lines == [])
        #expect(try await manager.migrate().completed.versions == ["1.1"])
    }

    @Test("an asynchronous step that throws stops the manager like any other")
    func failure() async throws {
        let manager = try manager()
        manager.register(["1.1"], log: log)
        manager.whenMigratingToVersion("1.2", fileID: "App/Migrations.swift", line: 3) { _ in
            await Task.yield()
            throw StepError(description: "the server is away.")
        }
        manager.register(["2.0"], log: log)
        let error = try await #require(throws: MigrationError.self) { try await manager.migrate() }
        #expect(error.code == .stepFailed)
        #expect(
            error.description == """
                Library: step 1.2 (Migrations.swift:3) failed: the server is away. Earlier steps are \
                complete. The next launch retries this one.
                """)
        #expect(log.lines == ["1.1"])
        #expect(
            try launch("2.0", steps: ["1.1", "1.2", "2.0"], store: store).completed.versions == [
                "1.2", "2.0",
            ])
    }

    @Test("migrate(through:) and migrate(retrying:) have asynchronous versions")
    func otherForms() async throws {
        let manager = try manager()
        manager.whenMigratingToVersion("1.1") { _ in await Task.yield() }
        manager.register(["2.0"], log: log)
        #expect(try await manager.migrate(through: "1.1").completed.versions == ["1.1"])
        #expect(
            try await manager.migrate(retrying: manager.work("2.0")).completed.versions == ["1.1", "2.0"])
        await #expect(throws: MigrationError.self) { try await manager.migrate(through: "2.1") }
    }

    @Test("waiting for another run does not block the caller's actor")
    func waitingForTheLock() async throws {
        try launch("1.0", store: store)
        let (refusals, continuation) = AsyncStream.makeStream(of: Void.self)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0",
            adopting: .newApp,
            store: MigrationStore(TellingStore(store: store.storage) { continuation.yield() }),
            options: MigrationOptions(lockTimeout: .seconds(600)))
        manager.register(["2.0"], log: log)
        guard case .acquired(_, let release) = try store.lock("Library") else {
            Issue.record("the lock was taken")
            return
        }
        let launch = Task { try await manager.migrate() }
        // If the main actor were blocked, nobody could release the lock, and the launch would fail with `locked`.
        var tries = 0
        for await _ in refusals {
            tries += 1
            if tries == 3 { break }
        }
        #expect(log.lines == [])
        release()
        #expect(try await launch.value.completed.versions == ["2.0"])
    }

    @Test("waiting for another run times out")
    func waitingForTheLockEnds() async throws {
        let manager = try manager(options: MigrationOptions(lockTimeout: .milliseconds(30)))
        guard case .acquired(_, let release) = try store.lock("Library") else {
            Issue.record("the lock was taken")
            return
        }
        defer { release() }
        let error = try await #require(throws: MigrationError.self) { try await manager.migrate() }
        #expect(error.code == .locked)
        #expect(
            error.message == "Library: this process is migrating, and did not finish within 0.03 seconds.")
    }
}

/// A store that reports when a lock is held.
private struct TellingStore: RecordStorage {
    let store: any RecordStorage
    let wasHeld: @Sendable () -> Void

    var name: String { store.name }

    func read(_ manager: String) throws -> StoreState { try store.read(manager) }

    func update(
        _ manager: String, waitingUpTo limit: Duration, _ change: (inout StoreState) throws -> Void
    ) throws {
        try store.update(manager, waitingUpTo: limit, change)
    }

    func lock(_ manager: String) throws -> StoreLock {
        let lock = try store.lock(manager)
        if case .held = lock { wasHeld() }
        return lock
    }
}
