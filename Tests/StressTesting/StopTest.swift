/// Stops a process while it holds its locks.
struct StopTest: StressTest {
    let name = "stop"
    let promise = "who waits for a stopped process is told so in time, and that one can go on"

    func run(_ size: StressSize) throws -> StressOutcome {
        let scenarios = size == .short ? WorkloadRuns.scenarios.prefix(2) : WorkloadRuns.scenarios[...]
        return try WorkloadRuns(runs: scenarios.map { ["stop", $0] }, unit: "stops").outcome()
    }
}
