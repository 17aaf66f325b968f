/// Stops a process while it holds its locks.
struct StopTest: StressTest {
    let name = "stop"
    let promise =
        "A process that holds the lock is stopped: others get an error in time, and it can continue later"

    func run(_ size: StressSize) throws -> StressOutcome {
        // Whoever finds deferred work being done elsewhere does not wait.
        let scenarios = size == .short ? WorkloadRuns.launches.prefix(2) : WorkloadRuns.launches[...]
        return try WorkloadRuns(runs: scenarios.map { ["stop", $0] }, unit: "stops").outcome()
    }
}
