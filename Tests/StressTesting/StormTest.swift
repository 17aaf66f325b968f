/// Launches many processes at once, again and again, kills some of them, and stops others for a while.
struct StormTest: StressTest {
    let name = "storm"
    let promise = "Many processes launch at once: they take turns, none fails, and nothing runs twice"

    func run(_ size: StressSize) throws -> StressOutcome {
        // A call to salvage refuses a file that another process has open.
        let scenarios = WorkloadRuns.scenarios.filter { $0 != WorkloadRuns.salvages[1] }
        let crowds =
            switch size {
            case .short:
                // Both stores and journals, deferred work, files that move, and a new database, which all of them try to make.
                [0, 3, 15, 16, 19].map { storm(scenarios[$0], processes: 8, rounds: 4) }
                    + [storm(scenarios[6], processes: 32, rounds: 4)]
                    // A set that was squashed, with a database that goes on, a new one, and one that is refused.
                    + [1, 3, 5].map { storm(WorkloadRuns.squashes[$0], processes: 8, rounds: 4) }
                    // A damaged database, which the first process salvages while the others wait.
                    + [storm(WorkloadRuns.salvages[0], processes: 8, rounds: 4)]
            case .long:
                scenarios.flatMap { scenario in
                    [8, 32].map { storm(scenario, processes: $0, rounds: 1_000 / scenarios.count) }
                }
            }
        return try WorkloadRuns(runs: crowds, unit: "storms").outcome()
    }

    private func storm(_ scenario: String, processes: Int, rounds: Int) -> [String] {
        ["storm", scenario, "--processes", "\(processes)", "--rounds", "\(rounds)"]
    }
}
