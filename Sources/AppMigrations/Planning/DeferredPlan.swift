struct DeferredPlan {
    /// A database that cannot be read, with steps that may wait in it.
    final class Unreadable {
        let steps: PlaceSteps
        let error: MigrationError

        init(steps: PlaceSteps, error: any Error, manager: String) {
            self.steps = steps
            let known = error as? MigrationError
            self.error =
                known
                ?? MigrationError(
                    .databaseFailed, "\(steps.name) cannot be read: \(error.quotation)",
                    remedy: "Run the deferred steps again when it can be.", manager: manager,
                    underlyingError: error)
        }
    }

    /// The plan for all places that can be read.
    let readable: LaunchPlan
    let unreadable: [Unreadable]
    /// The lowest version that needs a deferred step of a database that cannot be read; nil if none does.
    let earliestDeadline: AppVersion?
    /// The errors of conditions, which say nothing about whether their steps are needed again.
    let failures: [MigrationError]

    /// Returns true if a step may need work that may wait in a database that cannot be read.
    func needsUnreadable(_ pending: LaunchPlan.PendingStep) -> Bool {
        earliestDeadline.map { $0 <= pending.step.version } ?? false
    }
}
