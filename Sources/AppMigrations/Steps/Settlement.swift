import Foundation

/// Records a step in the transaction that does it, once its work is done.
package struct Settlement: Sendable {
    let work: MigrationWork
    package let appVersion: AppVersion
    let started: ContinuousClock.Instant

    package var manager: String { work.manager }
    package var id: WorkID { work.id }

    /// Returns true if another process has done the step since this one looked.
    package func isRecorded(in state: StoreState) throws -> Bool {
        try state.record(of: manager)?.hasSettled(work.id) ?? false
    }

    /// Records the step.
    ///
    /// - Throws: ``MigrationError``, when the record, which was written before the step, is gone.
    package func record(in state: inout StoreState) throws {
        try state.changeRecord(of: manager) { record in
            guard record != nil else {
                throw MigrationError(
                    .stepFailed, "the step removed the record of its manager",
                    remedy: "Keep the tables whose names begin with app_migrations. The step was rolled back."
                )
            }
            record?.apply(.done(work.id))
        }
        state.newHistory.append(step)
    }

    /// The step, as it has just ended.
    var step: SettledStep {
        SettledStep(
            work, outcome: .ran, date: Date(),
            duration: ContinuousClock.now - started, appVersion: appVersion)
    }
}
