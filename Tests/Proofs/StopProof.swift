/// Stops a process while it holds its locks.
struct StopProof: Proof {
    let name = "stop"
    let promise = "who waits for a stopped process is told so in time, and that one can go on"

    func run(_ size: ProofSize) throws -> ProofOutcome {
        let scenarios = size == .short ? WorkloadRuns.scenarios.prefix(2) : WorkloadRuns.scenarios[...]
        return try WorkloadRuns(runs: scenarios.map { ["stop", $0] }, unit: "stops").outcome()
    }
}
