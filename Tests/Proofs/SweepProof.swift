/// Disturbs launches at every point there is, one after the other.
struct SweepProof: Proof {
    let name: String
    let promise: String
    let unit: String
    /// How the executable `Workload` calls the sweep.
    let command: String
    /// Every how many cases the short form tries one: about a hundred in all.
    let sampling: Int

    func run(_ size: ProofSize) throws -> ProofOutcome {
        let runs =
            switch size {
            case .short:
                // Not the same calls in each scenario.
                WorkloadRuns.scenarios.prefix(4).enumerated().map { index, scenario in
                    [command, scenario, "--every", "\(sampling)", "--from", "\(index * sampling / 4)"]
                }
            case .long: WorkloadRuns.scenarios.map { [command, $0] }
            }
        return try WorkloadRuns(runs: runs, unit: unit).outcome()
    }
}

extension Proof where Self == SweepProof {
    /// Kills at every system call.
    static var kill: SweepProof {
        SweepProof(
            name: "kill",
            promise:
                "killed at any moment: schema steps atomic and exactly once, no closure skipped, only the one in flight repeated, no record unreadable or lost",
            unit: "kills", command: "kill", sampling: 149)
    }

    /// Lets every system call fail.
    static var faults: SweepProof {
        SweepProof(
            name: "faults",
            promise: "any system call may fail, once or from then on: a typed error, and a clean restart",
            unit: "faults", command: "fail", sampling: 299)
    }

    /// Lets every allocation of SQLite's fail.
    static var memory: SweepProof {
        SweepProof(
            name: "memory",
            promise:
                "any allocation of SQLite's may fail: a typed error, or GRDB ends the process, and a clean restart",
            unit: "failures", command: "allocate", sampling: 1_999)
    }

    /// Leaves too little room.
    static var room: SweepProof {
        SweepProof(
            name: "room",
            promise: "a full disk, a read-only one, a limit on files: a typed error, and a clean restart",
            unit: "disks", command: "limit", sampling: 23)
    }
}
