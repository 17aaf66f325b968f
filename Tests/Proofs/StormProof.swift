/// Launches many processes at once, again and again, kills some of them, and stops others for a while.
struct StormProof: Proof {
    let name = "storm"
    let promise = "launched at once, processes take turns: none fails, and nothing is done twice"

    func run(_ size: ProofSize) throws -> ProofOutcome {
        let crowds: [[String]] =
            switch size {
            case .short:
                Self.scenarios.prefix(2).map { Self.storm($0, processes: 8, rounds: 8) }
                    + [Self.storm(Self.scenarios[2], processes: 32, rounds: 4)]
            case .long:
                Self.scenarios.flatMap { scenario in
                    [8, 32].map { Self.storm(scenario, processes: $0, rounds: 1_000 / Self.scenarios.count) }
                }
            }
        return try WorkloadRuns(runs: crowds, unit: "storms").outcome()
    }

    private static func storm(_ scenario: String, processes: Int, rounds: Int) -> [String] {
        ["storm", scenario, "--processes", "\(processes)", "--rounds", "\(rounds)"]
    }

    /// Both journals, both stores, and all that a launch can find.
    static let scenarios = [
        "rollback-json-grouped-upgrade-unsaved", "wal-sqlite-each-upgrade-unsaved",
        "wal-sqlite-grouped-snapshot-unsaved", "rollback-sqlite-grouped-fresh-unsaved",
        "wal-json-each-fresh-unsaved",
    ]
}

/// Stops a process while it holds its locks.
struct StopProof: Proof {
    let name = "stop"
    let promise = "who waits for a stopped process is told in time, and that one can go on"

    func run(_ size: ProofSize) throws -> ProofOutcome {
        let scenarios = size == .short ? StormProof.scenarios.prefix(2) : StormProof.scenarios[...]
        return try WorkloadRuns(runs: scenarios.map { ["stop", $0] }, unit: "stops").outcome()
    }
}
