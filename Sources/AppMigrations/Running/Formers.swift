import MigrationDiagnostics

extension RunInput {
    /// Waits until no older process launches the managers whose steps come to this one, and writes down in their records that a newer
    /// version is there: from then on an older one does nothing, and its deferred run ends before the next batch.
    ///
    /// Before the manager takes its own lock, and one former manager after the other, so that no process holds one lock while it waits
    /// for another.
    func endFormers(of plan: LaunchPlan) throws {
        for former in Set(plan.places.flatMap(\.formersThatLeave)).inOrder() {
            // Where the store knows a newer version already, none is launching it.
            let isLaunched = plan.places[0].formersThatLeave.contains(former)
            let lock = try isLaunched ? lock(of: former) : nil
            defer { lock?.release() }
            for place in plan.places where place.formersThatLeave.contains(former) {
                try place.steps.store.change(former, waitingUpTo: patience) { state in
                    try state.changeRecord(of: former) { $0?.raiseHighest(to: request.current) }
                }
            }
        }
    }

    /// Takes a former manager's lock, unless this process has it.
    ///
    /// What this process runs for that manager is of this version, and a step of it may be what launches this one.
    private func lock(of former: String) throws -> RunLock {
        let held = try store.lock(former, waitingUpTo: patience, sharesOwn: true, unless: checkStopped) {
            holder in
            MigrationError(
                .locked,
                "\(holder) is migrating \(former), whose steps come here, and did not finish within \(patience)",
                remedy: "Launch again when it has finished, or raise the option `lockTimeout`.",
                manager: manager)
        }
        let lock = RunLock(manager, held, in: activity)
        // They are found by the former manager's own next launch.
        try lock.findDeaths { lock.leaveEvidence() }
        return lock
    }
}

extension LaunchPlan.PlacePlan {
    /// The managers whose steps come to this one in this launch, and that have had them.
    ///
    /// Where a record is lost, none: the versions that they know tell whether this manager has ever followed them.
    fileprivate var formersThatLeave: [String] {
        guard !formers.isEmpty, state.lostRecord == nil else { return [] }
        return state.formerRecords.filter { $0.hasHadSteps && formers.contains($0.manager) }.map(\.manager)
    }
}
