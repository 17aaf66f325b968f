/// The result of ``MigrationManager/runDeferred(for:retrying:)``.
///
/// ```swift
/// let report = try await manager.runDeferred(for: .seconds(25))
/// if !report.pending.isEmpty { scheduleNextRun() }
/// ```
public struct DeferredReport: Sendable {
    /// The manager's name.
    public let manager: String

    /// The versions of the steps that this run has completed, in order.
    public internal(set) var completed: [AppVersion] = []

    /// The versions of the best-effort steps that this run has given up, in order.
    public internal(set) var skipped: [AppVersion] = []

    /// The versions of the steps that still wait, in order.
    public internal(set) var pending: [AppVersion] = []

    /// The errors of steps that failed, or that are not tried again in this build; other steps continued.
    public internal(set) var failures: [MigrationError] = []

    /// Whether another process runs the deferred steps, or a launch finishes one, so that this run ended early.
    public internal(set) var isRunningElsewhere = false
}

/// A deferred step that waits, and how far it is.
public struct PendingDeferredStep: Sendable, Hashable {
    /// The version that it is registered for.
    public let version: AppVersion

    /// The database that it works in; nil for a closure.
    public let database: String?

    /// The rows that are done; for other steps, the calls or checkpoints.
    public let done: Int

    /// The rows that there were at the start; nil where nobody can tell.
    public let total: Int?
}
