/// The result of ``MigrationManager/migrate()``, and of the calls of ``MigrationManager/migrate(through:)`` before it.
///
/// ```swift
/// let report = try manager.migrate()
/// if case .upgrade(let from) = report.launch { showNews(since: from) }
/// ```
public struct MigrationReport: Sendable, Hashable {
    /// The manager's name.
    public let manager: String

    /// The kind of launch, as the manager's store tells it.
    public let launch: Launch

    /// Whether an older version of the app has been launched since this version, or a newer one, was.
    public let returnedFromDowngrade: Bool

    /// Whether this install has never launched this app version or a newer one before.
    public let isFirstLaunchOfVersion: Bool

    /// The versions whose closure ran, in order.
    public internal(set) var completed: [AppVersion] = []

    /// The moves that applied something, in order.
    public internal(set) var moves: [MigrationMove] = []

    /// The versions of deferred steps that wait for ``MigrationManager/runDeferred(for:retrying:)``, in order.
    public internal(set) var deferred: [AppVersion] = []

    /// The versions of best-effort steps that the manager gave up, in order.
    public internal(set) var skipped: [AppVersion] = []
}
