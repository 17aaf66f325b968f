import AppMigrations
import TestSupport
import Testing

@Suite("A best-effort step", .timed)
struct BestEffortTests {
    let store = InMemoryStore()
    let log = Log()

    func manager(
        failing: Bool = true, events: @escaping (MigrationEvent) -> Void = { _ in }
    ) throws -> MigrationManager {
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store,
            options: MigrationOptions(onEvent: events))
        manager.whenMigratingToVersion("1.2", onError: .giveUp(after: 3)) { [log] in
            log.lines.append("1.2")
            if failing { throw StepError(description: "no bookmarks") }
        }
        manager.register(["2.0"], log: log)
        return manager
    }

    @Test("that throws does not stop the launch, and is retried until it is given up")
    func givesUp() throws {
        try launch("1.0", store: store)
        let first = try manager().migrate()
        #expect(first.completed == ["2.0"])
        #expect(first.skipped == [])
        #expect(try manager().pendingVersions() == ["1.2"])
        #expect(try store.record(of: "Library")?.failures == ["1.2": 1])
        #expect(try manager().migrate().completed == [])
        var events: [String] = []
        let last = try manager(events: { events.append("\($0)") }).migrate()
        #expect(last.skipped == ["1.2"])
        #expect(
            events == [
                "Library: relaunch", "Library: step 1.2 (1 of 1) begins",
                "Library: step 1.2 (1 of 1) failed: no bookmarks", "Library: step 1.2 (1 of 1) was given up",
                "Library: finished; steps: 0, schema steps: 0",
            ])
        #expect(try manager().migrate().skipped == [])
        #expect(log.lines == ["1.2", "2.0", "1.2", "1.2"])
        #expect(try store.record(of: "Library")?.failures == [:])
    }

    @Test("that has been settled although it threw has not failed")
    func settledAnyway() throws {
        try launch("1.0", store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        // As when a commit takes effect, and reports an error.
        manager.whenMigratingToVersion("1.2") { [store] in
            try store.update("Library") { state in
                try state.changeRecord(of: "Library") { $0?.settle("1.2") }
            }
            throw StepError(description: "disk I/O error")
        }
        #expect(throws: MigrationError.self) { try manager.migrate() }
        #expect(try store.record(of: "Library")?.failures == [:])
        #expect(try store.record(of: "Library")?.attempts == [:])
        #expect(try launch("2.0", steps: ["1.2"], store: store).completed == [])
    }

    @Test("that succeeds at last is settled")
    func succeeds() throws {
        try launch("1.0", store: store)
        try manager().migrate()
        #expect(try manager(failing: false).migrate().completed == ["1.2"])
        #expect(try manager(failing: false).migrate().completed == [])
        #expect(try store.record(of: "Library")?.failures == [:])
    }

    @Test("may be asynchronous")
    func asynchronous() async throws {
        try launch("1.0", store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.whenMigratingToVersion("1.2", onError: .giveUp(after: 1)) {
            await Task.yield()
            throw StepError(description: "offline")
        }
        manager.register(["2.0"], log: log)
        let report = try await manager.migrate()
        #expect(report.skipped == ["1.2"])
        #expect(report.completed == ["2.0"])
    }
}
