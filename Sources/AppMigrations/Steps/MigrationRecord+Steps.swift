extension MigrationRecord {
    /// Changes the record to that with which a launch begins its work.
    ///
    /// - Parameter due: the steps of this place that are due.
    mutating func begin(_ launch: Launch, current: AppVersion, due: [MigrationStep]) {
        if launch == .freshInstall {
            // There is no old data: what is due is not needed, except what the app asked to run.
            for step in due where self[step.id] == nil {
                self[step.id] = step.onFreshInstall == .skip ? .notNeeded : .open(OpenWork(isOwed: true))
            }
        }
        begin(launch, current: current)
    }

    /// Counts a failure of work, and gives up on a best-effort step if its rule says so.
    ///
    /// - Parameter failure: the build and the codes, if it failed by itself.
    mutating func stop(_ step: MigrationStep, failure: String?) {
        changeOpen(step.id) { $0.stop(failure: failure) }
        guard failure != nil, case .giveUp(let limit) = step.onError, let failures = open(step.id)?.failures,
            failures >= limit
        else { return }
        changeOpen(step.id) { $0.giveUp() }
    }

    /// Returns true if a step is best-effort and has failed too often to be tried again.
    func hasGivenUp(_ step: MigrationStep) -> Bool {
        step.onError != .stop && open(step.id)?.isGivenUp ?? false
    }

    /// Marks all steps as not run, except those for new installs alone.
    mutating func rerunAll(_ steps: [MigrationStep]) {
        for step in steps where step.onFreshInstall != .only { rerun(step.version) }
    }
}
