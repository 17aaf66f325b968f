/// A piece of work that is pending, and how far it is.
///
/// ```swift
/// let rows = try manager.pending().filter(\.isDeferred).reduce(0) { $0 + ($1.total ?? 0) - $1.done }
/// ```
public struct PendingWork: Sendable, Hashable {
    /// The work.
    public let work: MigrationWork

    /// A Boolean value that indicates whether the work waits for ``MigrationManager/runDeferred(for:while:retrying:)``.
    public internal(set) var isDeferred: Bool

    /// The schema versions that a schema step will apply, in order; empty for other work.
    public internal(set) var schemaVersions: [String] = []

    /// The unknown schema versions that a schema step will undo first, newest first.
    public internal(set) var undone: [String] = []

    /// The rows that a deferred step has done; for other steps, the calls or checkpoints.
    public internal(set) var done = 0

    /// The rows that there were when `migrate()` noted a deferred step, and never fewer than are done; nil if unknown.
    ///
    /// An estimate, where counting a large table would have held up the launch.
    public internal(set) var total: Int?

    /// The keys of the rows that failed and are set aside, as in `42`, `'Rome'` or `('Rome', 2)`.
    ///
    /// Each run retries them. Keys may be private: don't send them anywhere.
    public internal(set) var rowsSetAside: [String] = []

    init(_ work: MigrationWork, isDeferred: Bool, _ position: StepPosition? = nil) {
        self.work = work
        self.isDeferred = isDeferred
        done = position?.done ?? 0
        total = position?.knownTotal
        rowsSetAside = (position?.setAside ?? []).map(StepPosition.description(ofKey:))
    }
}
