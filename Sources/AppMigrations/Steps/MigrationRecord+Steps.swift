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

    /// Marks all steps as not run, except those for new installs alone.
    mutating func rerunAll(_ steps: [MigrationStep]) {
        for step in steps where step.onFreshInstall != .only { rerun(step.version) }
    }
}
