import Testing

@testable import AppMigrations

@Suite("The pause after a deferred batch", .timed)
struct BatchRunnerTests {
    private struct NoWork: BatchWork {
        func begin() -> StepPosition { StepPosition() }
        func run(_ batch: Batch) -> BatchOutcome { .done }
    }

    private func runner(_ duration: Duration) -> BatchRunner {
        var runner = BatchRunner(NoWork(), rowsSetAside: 0, in: Environment())
        runner.duration = duration
        return runner
    }

    @Test("is as long as the batch, and at most a second: a process may have been suspended in it")
    func length() {
        #expect(runner(.milliseconds(40)).pause(before: nil) == .milliseconds(40))
        #expect(runner(.seconds(8 * 3600)).pause(before: nil) == .seconds(1))
        #expect(runner(.milliseconds(40)).pause(before: .now + .seconds(60)) == .milliseconds(40))
    }

    @Test("ends with the time for the run")
    func deadline() {
        #expect(runner(.seconds(8)).pause(before: .now + .milliseconds(1)) <= .milliseconds(1))
        #expect(runner(.seconds(8)).pause(before: .now - .seconds(60)) == .zero)
    }
}
