import Testing

@testable import AppMigrations

@Suite("The pause after a deferred batch", .timed)
struct DeferredRunTests {
    @Test("is as long as the batch, and at most a second: a process may have been suspended in it")
    func length() {
        #expect(DeferredRun.pause(after: .milliseconds(40), before: nil) == .milliseconds(40))
        #expect(DeferredRun.pause(after: .seconds(8 * 3600), before: nil) == .seconds(1))
        let deadline = ContinuousClock.now + .seconds(60)
        #expect(DeferredRun.pause(after: .milliseconds(40), before: deadline) == .milliseconds(40))
    }

    @Test("ends with the time for the run")
    func deadline() {
        let soon = ContinuousClock.now + .milliseconds(1)
        #expect(DeferredRun.pause(after: .seconds(8), before: soon) <= .milliseconds(1))
        #expect(DeferredRun.pause(after: .seconds(8), before: .now - .seconds(60)) == .zero)
    }
}
