import Foundation
import Testing

@testable import AppMigrations

@Suite("Events", .timed)
struct EventTests {
    let store = MigrationStore.inMemory()
    let events = Log()

    /// Logs the description of each event, without durations.
    var options: MigrationOptions {
        MigrationOptions(onEvent: { [events] event in
            events.lines.append("\(event)".replacing(#/in [\d.e-]+ seconds/#, with: "in TIME"))
        })
    }

    @Test("a failing upgrade reports what ran and what failed, and nothing after that")
    func failure() throws {
        try launch("1.0", store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store, options: options)
        manager.register(["1.1"], log: Log())
        manager.whenMigratingToVersion("1.2") { throw StepError(description: "no space for the archive") }
        manager.register(["2.0"], log: Log())
        #expect(throws: MigrationError.self) { try manager.migrate() }
        #expect(
            events.lines == [
                "Library: upgrade(from: 1.0)",
                "Library: step 1.1 (1 of 3) begins",
                "Library: step 1.1 (1 of 3) finished in TIME",
                "Library: step 1.2 (2 of 3) begins",
                "Library: step 1.2 (2 of 3) failed: no space for the archive",
            ])

        events.lines = []
        try launch("2.0", steps: ["1.1", "1.2", "2.0"], store: store, options: options)
        #expect(
            events.lines == [
                "Library: upgrade(from: 1.0)",
                "Library: step 1.2 (1 of 2) begins",
                "Library: step 1.2 (1 of 2) finished in TIME",
                "Library: step 2.0 (2 of 2) begins",
                "Library: step 2.0 (2 of 2) finished in TIME",
                "Library: finished; steps: 2, schema steps: 0",
            ])
    }

    @Test("a relaunch and a fresh install report the kind of launch, and that they finished")
    func nothingToDo() throws {
        try launch("1.0", steps: ["1.0"], store: store, options: options)
        try launch("1.0", steps: ["1.0"], store: store, options: options)
        #expect(
            events.lines == [
                "Library: freshInstall", "Library: finished; steps: 0, schema steps: 0",
                "Library: relaunch", "Library: finished; steps: 0, schema steps: 0",
            ])
    }

    @Test("a refused launch reports nothing")
    func refusal() throws {
        #expect(throws: MigrationError.self) {
            try launch("1.0", steps: ["2.0"], store: store, options: options)
        }
        #expect(events.lines == [])
    }

    @Test("an event holds the details that its description omits")
    func contents() throws {
        try launch("1.0", store: store)
        var kinds: [MigrationEvent.Kind] = []
        let report = try launch(
            "2.0", steps: ["2.0"], store: store, options: MigrationOptions(onEvent: { kinds.append($0.kind) })
        )
        let work = MigrationWork(WorkID("2.0"), of: "Library", in: .store, database: nil)
        let step = MigrationEvent.Step(
            work: work, schemaVersions: nil, attempt: 1, number: 1, count: 1, title: "step 2.0")
        try #require(kinds.count == 4)
        if case .launchRecognized(let launch) = kinds[0] {
            #expect(launch == .upgrade(from: "1.0"))
        } else {
            Issue.record("\(kinds[0])")
        }
        if case .willRun(let told) = kinds[1] {
            #expect(told == step)
        } else {
            Issue.record("\(kinds[1])")
        }
        if case .didRun(let told, let duration) = kinds[2] {
            #expect(told == step)
            #expect(duration >= .zero)
        } else {
            Issue.record("\(kinds[2])")
        }
        if case .finished(let told) = kinds[3] {
            #expect(told == report)
        } else {
            Issue.record("\(kinds[3])")
        }
    }

    @Test("asynchronous launches and steps report the same events")
    func asynchronous() async throws {
        try launch("1.0", store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store, options: options)
        manager.whenMigratingToVersion("2.0") { _ in await Task.yield() }
        try await manager.migrate()
        #expect(
            events.lines == [
                "Library: upgrade(from: 1.0)",
                "Library: step 2.0 (1 of 1) begins",
                "Library: step 2.0 (1 of 1) finished in TIME",
                "Library: finished; steps: 1, schema steps: 0",
            ])
    }
}
