/// The result of ``MigrationManager/runDeferred(for:while:retrying:)``.
///
/// ```swift
/// let report = try await manager.runDeferred(for: .seconds(25))
/// if report.canContinue { scheduleNextRun() }
/// ```
public struct DeferredReport: Sendable {
    /// The steps that this run has completed, in order.
    public let completed: [MigrationWork]

    /// The steps that still wait, in order, each with its database; also those in a database that cannot be read.
    public let pending: [PendingWork]

    /// The errors of steps that failed or could not run, or that are not tried again in this build; other steps
    /// continued.
    public let failures: [MigrationError]

    /// A Boolean value that indicates whether another run may do more without a fix: a step waits for time, or for
    /// something that passes, such as a lock, a full disk, or a run in another process.
    ///
    /// False if nothing is pending, and if every step that waits has failed by itself, or waits for a newer app.
    /// Once ``MigrationManager/deferredProgress`` is cancelled, another manager has to make that run.
    public let canContinue: Bool

    /// The number of steps that this run has settled, or found settled.
    let settled: Int
}
