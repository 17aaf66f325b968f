import AppMigrations
import Foundation
import TestSupport
import TestTraits
import Testing

@MainActor
@Suite("An asynchronous run", .timed)
struct CrossingTests {
    @TaskLocal private static var name = "nobody"

    let store = MigrationStore.inMemory()
    let log = Log()

    private func note(_ line: String) {
        MainActor.assertIsolated()
        log.lines.append("\(line) for \(Self.name)")
    }

    @Test("asks for everything of the app's where it was called: on its actor, in its task")
    func whereCalled() async throws {
        try launch("1.0", store: store)
        let manager = try MigrationManager(
            name: "Other", currentVersion: "2.0",
            adopting: Adoption { [self] in
                MainActor.assumeIsolated { note("adopting") }
                return "1.0"
            }, store: store,
            options: MigrationOptions(onEvent: { [self] event in
                guard case .willRun(let step) = event.kind else { return }
                MainActor.assumeIsolated { note("event \(step.work.version)") }
            }))
        manager.whenMigratingToVersion("1.1") { note("plain") }
        manager.whenMigratingToVersion("1.2") { _ in
            await Task.yield()
            note("asynchronous")
        }
        manager.afterMigratingToVersion("2.0") { _ in note("deferred") }
        manager.whenVersionChanges { from, to in note("\(from) to \(to)") }
        try await Self.$name.withValue("Anna") {
            try await manager.migrate()
            try await manager.runDeferred()
        }
        #expect(
            log.lines.map { $0.replacingOccurrences(of: " for Anna", with: "") } == [
                "adopting", "event 1.1", "plain", "event 1.2", "asynchronous", "1.0 to 2.0", "event 2.0",
                "deferred",
            ])
        #expect(log.lines.allSatisfy { $0.hasSuffix(" for Anna") })
    }

    @Test("that is cancelled at any moment ends, and later ones do what is left, once and in order")
    func cancelledAnywhere() async throws {
        var random = SystemRandomNumberGenerator()
        for round in Array(1...200).sampled(oneIn: 8) {
            let store = MigrationStore.inMemory()
            try launch("1.0", store: store)
            var ran: [String] = []
            for attempt in 1...100 {
                let manager = try MigrationManager(
                    name: "Library", currentVersion: "2.0", adopting: .newApp, store: store,
                    options: MigrationOptions(lockTimeout: .seconds(600)))
                for version in ["1.1", "1.2", "1.3"] as [AppVersion] {
                    manager.whenMigratingToVersion(version) { context in
                        await Task.yield()
                        if context.progress.isCancelled { throw CancellationError() }
                        ran.append("\(version)")
                    }
                }
                manager.afterMigratingToVersion("2.0") { context in
                    try await context.checkpoint(1)
                    ran.append("2.0")
                }
                let run = Task {
                    try await manager.migrate()
                    return try await manager.runDeferred().pending.isEmpty
                }
                let yields = attempt < 20 ? Int.random(in: 0...40, using: &random) : .max
                let canceller = Task {
                    guard yields < .max else { return }
                    for _ in 0..<yields { await Task.yield() }
                    run.cancel()
                }
                let result = await run.result
                await canceller.value
                switch result {
                case .success(true): break
                case .success(false): continue
                case .failure(let error):
                    #expect(error is CancellationError, "round \(round)")
                    continue
                }
                break
            }
            #expect(ran == ["1.1", "1.2", "1.3", "2.0"], "round \(round)")
        }
    }
}
