/// The result of ``MigrationManager/migrate(through:retrying:)``, with what earlier calls for the same launch did.
///
/// ```swift
/// let report = try manager.migrate()
/// if case .upgrade(let from) = report.launch { showNews(since: from) }
/// ```
public struct MigrationReport: Sendable, Equatable {
    /// The version of the app.
    let version: AppVersion

    /// The kind of launch, from the manager's store.
    public let launch: Launch

    /// A Boolean value that indicates whether an older version of the app has been launched since this
    /// version, or a newer one, was.
    public let returnedFromDowngrade: Bool

    /// A Boolean value that indicates whether this is the first launch of this app version or a newer one.
    public let isFirstLaunchOfVersion: Bool

    /// The steps that ran, in order; schema steps are in ``schemaSteps``.
    public var completed: [MigrationWork] { workDone.completed }

    /// The schema steps that ran, in order.
    public var schemaSteps: [SchemaStep] { workDone.schemaSteps }

    /// The databases that have had migrations which this version of the app does not know, and which it can use anyway.
    public let newerDatabases: [NewerDatabase]

    /// The databases in which a manager of this name has its record for another store, such as that of another account.
    ///
    /// A step that has run for one of them does not run for the other: steps in a database that stores share need a manager of
    /// their own.
    public let databasesOfOtherStores: [String]

    /// The deferred steps that wait for ``MigrationManager/runDeferred(for:while:retrying:)``, in order.
    public let deferred: [PendingWork]

    /// The work that the launch has done.
    let workDone: CompletedWork
}
