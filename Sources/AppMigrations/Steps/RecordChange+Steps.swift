extension RecordChange {
    /// A launch begins its work, of which these steps are due.
    static func begun(_ launch: Launch, current: AppVersion, due: [MigrationStep]) -> RecordChange {
        guard launch == .freshInstall else { return .begun(launch, current: current, newInstall: [:]) }
        // There is no old data: what is due is not needed, except what the app asked to run.
        let states = due.map { step in
            (step.id, step.onFreshInstall == .skip ? WorkState.notNeeded : .open(OpenWork(isOwed: true)))
        }
        return .begun(launch, current: current, newInstall: Dictionary(states) { first, _ in first })
    }
}
