import AppMigrations
import MigrationTesting
import StressTesting
import TestSupport
import Testing

@Suite("A fleet of simulated devices", .timed)
struct FleetTests {
    @Test("detects a store that forgets what has run, and reports a short history")
    func forgetfulStore() throws {
        let outcome = FleetTest { ForgetfulStore(base: $0) }.run(seeds: 1..<20)
        #expect(outcome.failures.count > 5)
        for failure in outcome.failures {
            let history = try #require(failure.firstMatch(of: #/History: (.+)\. Last: /#)?.output.1)
            #expect(history.split(separator: ";").count <= 3, "\(failure)")
        }
    }

    @Test(
        "behaves as the model when a first launch is interrupted and a lower version comes next",
        arguments: [2690, 12449, 16901, 30568, 59499, 74714, 74821, 85945] as [UInt64])
    func cutShort(_ seed: UInt64) {
        #expect(FleetTest().run(seeds: seed..<seed + 1).failures == [])
    }

    @Test("behaves as the model when a newer version comes in the way of deferred work")
    func outrunInDeferredWork() {
        #expect(FleetTest().run(seeds: 5142..<5143).failures == [])
    }

    @Test("has devices for every pair of features")
    func pairs() {
        #expect(FleetTest.missingPairs(seeds: 1..<501) == [])
    }

    @Test("fails in the same way for the same seed")
    func deterministic() {
        let test = FleetTest { ForgetfulStore(base: $0) }
        #expect(test.run(seeds: 1..<6).failures == test.run(seeds: 1..<6).failures)
    }
}

@Suite("Shrinking a failing array", .timed)
struct ShrinkingTests {
    @Test("removes every element that does not matter")
    func leavesOut() {
        let shrunk = Array(1...100).shrunk { $0.contains(17) && $0.contains(80) }
        #expect(shrunk == [17, 80])
    }

    @Test("simplifies the remaining elements")
    func simpler() {
        let shrunk = [5, 90, 7].shrunk(
            simpler: { [$0 / 2, $0 - 1] }, whileFailing: { $0.contains { $0 > 10 } })
        #expect(shrunk == [11])
    }

    @Test("keeps an array that cannot be shortened")
    func minimal() {
        #expect([1, 2, 3].shrunk { $0 == [1, 2, 3] } == [1, 2, 3])
        #expect([Int]().shrunk { _ in true } == [])
    }
}

/// A store that keeps everything but what has run.
private struct ForgetfulStore: MigrationStore {
    let base: any MigrationStore
    var name: String { base.name }

    func read(_ manager: String) throws -> StoreState { try base.read(manager) }
    func lock(_ manager: String) throws -> StoreLock { try base.lock(manager) }

    func update(_ manager: String, _ change: (inout StoreState) throws -> Void) throws {
        try base.update(manager) { state in
            try change(&state)
            try state.changeRecord(of: manager) { $0?.settled = [] }
        }
    }
}
