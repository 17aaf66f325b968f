import AppMigrations

extension MigrationRecord {
    /// Returns true if the record can be that of the same manager at a later time: it knows all that the other one has settled,
    /// and owes all that the other one owes.
    func isAsFar(as other: MigrationRecord) -> Bool {
        func isAsFar(_ version: AppVersion?, _ other: AppVersion?) -> Bool {
            other.map { other in version.map { $0 >= other } ?? false } ?? true
        }
        guard isAsFar(start, other.start), isAsFar(completed, other.completed),
            isAsFar(highest, other.highest)
        else { return false }
        // Closures for a version change are forgotten when the launch is complete.
        return other.work.allSatisfy { id, state in
            guard id.isStep, !hasSettledEither(id) else { return true }
            guard case .open(let before) = state else { return false }
            let now = open(id) ?? OpenWork()
            return (now.isOwed || !before.isOwed) && now.position?.done ?? 0 >= before.position?.done ?? 0
        }
    }

    /// Returns true if the record can be one that was written with a line of its history, or after it.
    ///
    /// A line about a step that was skipped may be one of a step that was given up, and goes on in a later release.
    func knows(_ step: SettledStep) -> Bool {
        guard step.work.id.isStep, step.outcome != .skipped else { return true }
        return hasSettledEither(step.work.id) || isOwed(step.work.id)
            || start.map { step.version <= $0 } ?? false
    }

    /// Returns true if a step is settled, or its counterpart: the app may have moved it.
    private func hasSettledEither(_ id: WorkID) -> Bool {
        hasSettled(id) || id.counterpart.map(hasSettled) == true
    }
}
