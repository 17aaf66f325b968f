/// Disturbs launches at every point there is, one after the other.
struct SweepTest: StressTest {
    let name: String
    let promise: String
    let unit: String
    /// How the executable `Workload` calls the sweep.
    let command: String
    /// Which cases the short form tries: about two hundred in all.
    let sample: Sample
    /// Every how many cases the long form tries one, in each scenario: 1 for all.
    let sampling: Int

    enum Sample {
        /// One of so many.
        case every(Int)
        /// One for each system call of each file.
        case eachKind
    }

    func run(_ size: StressSize) throws -> StressOutcome {
        let scenarios = WorkloadRuns.scenarios
        let runs =
            switch (size, sample) {
            case (.short, .every(let sampling)):
                Self.runs(command, scenarios.prefix(4), every: sampling)
            case (.short, .eachKind):
                // Both journals, and both stores. The first of a kind is often a look before a lock is taken.
                [0, 3].map { [command, scenarios[$0], "--of-each-kind", "\(4 + $0)"] }
            case (.long, _): Self.runs(command, scenarios[...], every: sampling)
            }
        return try WorkloadRuns(runs: runs, unit: unit).outcome()
    }

    private static func runs(
        _ command: String, _ scenarios: ArraySlice<String>, every sampling: Int
    ) -> [[String]] {
        // Not the same calls in each scenario.
        scenarios.enumerated().map { index, scenario in
            [command, scenario, "--every", "\(sampling)", "--from", "\(index * sampling / scenarios.count)"]
        }
    }
}

extension StressTest where Self == SweepTest {
    /// Kills at every system call.
    static var kill: SweepTest {
        SweepTest(
            name: "kill",
            promise:
                "killed at any moment: schema steps atomic and exactly once, no closure skipped, only the one in flight repeated, no record unreadable or lost",
            unit: "kills", command: "kill", sample: .eachKind, sampling: 1)
    }

    /// Lets every system call fail.
    static var faults: SweepTest {
        SweepTest(
            name: "faults",
            promise: "any system call may fail, once or from then on: a typed error, and a clean restart",
            unit: "faults", command: "fail", sample: .eachKind, sampling: 3)
    }

    /// Lets every allocation of SQLite's fail.
    static var memory: SweepTest {
        SweepTest(
            name: "memory",
            promise:
                "any allocation of SQLite's may fail: a typed error, or GRDB ends the process, and a clean restart",
            unit: "failures", command: "allocate", sample: .every(1_999), sampling: 20)
    }

    /// Leaves too little room.
    static var room: SweepTest {
        SweepTest(
            name: "room",
            promise: "a full disk, a read-only one, a limit on files: a typed error, and a clean restart",
            unit: "disks", command: "limit", sample: .every(23), sampling: 1)
    }
}
