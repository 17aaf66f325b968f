/// Disturbs launches at every point there is, one after the other.
struct SweepTest: StressTest {
    let name: String
    let promise: String
    let unit: String
    /// How the executable `Workload` calls the sweep.
    let command: String
    /// Which cases the short form tries.
    let sample: Sample
    /// Every how many cases the long form tries one, in each scenario: 1 for all.
    let sampling: Int

    enum Sample {
        /// One of so many.
        case every(Int)
        /// One for each system call of each file, in one of so many scenarios.
        case eachKind(inOneOf: Int)
    }

    func run(_ size: StressSize) throws -> StressOutcome {
        let scenarios = WorkloadRuns.scenarios
        let runs =
            switch (size, sample) {
            case (.short, .every(let sampling)):
                Self.runs(
                    command,
                    scenarios.prefix(4) + WorkloadRuns.deferred.suffix(1) + WorkloadRuns.moves.suffix(1),
                    every: sampling)
            case (.short, .eachKind(let sampling)):
                Self.ofEachKind(command).enumerated().filter { $0.offset % sampling == 0 }.map(\.element)
            case (.long, _): Self.runs(command, scenarios[...], every: sampling)
            }
        return try WorkloadRuns(runs: runs, unit: unit).outcome()
    }

    private static func ofEachKind(_ command: String) -> [[String]] {
        // Both journals, both stores, two managers on a new and on an old install, and deferred work before and in the middle
        // of it. The first of a kind is often a look before a lock is taken, and what the second manager does comes last.
        [(0, 4), (3, 7), (10, 14), (12, -4), (14, 18), (17, 21)].map { scenario, number in
            [command, WorkloadRuns.scenarios[scenario], "--of-each-kind=\(number)"]
        }
            // Files that are moved and copied, migrations that are undone or squashed, and a table that is redefined.
            + (WorkloadRuns.moves[1...2] + WorkloadRuns.branches + WorkloadRuns.redefinitions
            + WorkloadRuns.squashes).map { [command, $0, "--every", "149"] }
            // A damaged database.
            + WorkloadRuns.salvages.map { [command, $0, "--every", "149"] }
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
                "The process is killed: schema migrations stay atomic and run exactly once, no closure is skipped, only the running one repeats, deferred rows change exactly once, no record is lost",
            unit: "kills", command: "kill", sample: .eachKind(inOneOf: 12), sampling: 1)
    }

    /// Lets every system call fail.
    static var faults: SweepTest {
        SweepTest(
            name: "faults",
            promise:
                "A system call fails, once or from then on: the launch throws a typed error, and the next one succeeds",
            unit: "faults", command: "fail", sample: .eachKind(inOneOf: 16), sampling: 3)
    }

    /// Lets every allocation of SQLite's fail.
    static var memory: SweepTest {
        SweepTest(
            name: "memory",
            promise:
                "SQLite cannot allocate memory: a typed error (or GRDB ends the process), and the next launch succeeds",
            unit: "failures", command: "allocate", sample: .every(3_999), sampling: 20)
    }

    /// Leaves too little room.
    static var room: SweepTest {
        SweepTest(
            name: "room",
            promise:
                "The disk is full or read-only, or files may not grow: a typed error, and the next launch succeeds",
            unit: "disks", command: "limit", sample: .every(23), sampling: 1)
    }
}
