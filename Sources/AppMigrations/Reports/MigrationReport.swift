/// The result of ``MigrationManager/migrate(through:retrying:)``, with what earlier calls for the same launch did.
///
/// ```swift
/// let report = try manager.migrate()
/// if case .upgrade(let from) = report.launch { showNews(since: from) }
/// ```
public struct MigrationReport: Sendable, Equatable {
    /// The manager's name.
    public let manager: String

    /// The version of the app.
    public let version: AppVersion

    /// The kind of launch, from the manager's store.
    public let launch: Launch

    /// A Boolean value that indicates whether an older version of the app has been launched since this
    /// version, or a newer one, was.
    public let returnedFromDowngrade: Bool

    /// A Boolean value that indicates whether this is the first launch of this app version or a newer one.
    public let isFirstLaunchOfVersion: Bool

    /// The versions whose closure ran, in order.
    public let completed: [AppVersion]

    /// The schema steps that applied something, in order.
    public let schemaSteps: [SchemaStep]

    /// The databases that have had migrations which this version of the app does not know, and which it can use anyway.
    public let newerDatabases: [NewerDatabase]

    /// The deferred steps that wait for ``MigrationManager/runDeferred(for:while:retrying:)``, in order.
    public let deferred: [PendingWork]

    /// The versions of best-effort steps that the manager gave up, in order.
    public let skipped: [AppVersion]

    /// How long the steps of this launch took.
    public let duration: Duration

    /// The size of the largest database that a schema step has migrated, after it, in bytes; nil if none was in a file.
    public let databaseSize: Int64?

    init(_ plan: LaunchPlan, _ tally: Tally, _ run: RunState?) {
        manager = plan.request.manager
        version = plan.request.current
        duration = tally.duration
        launch = plan.places[0].launch
        returnedFromDowngrade = plan.returnsFromDowngrade
        isFirstLaunchOfVersion = plan.isFirstLaunchOfVersion
        completed = tally.completed
        schemaSteps = tally.schemaSteps
        newerDatabases = plan.newerDatabases
        deferred = plan.pendingDeferred(after: run)
        skipped = tally.skipped
        databaseSize = tally.databaseSize
    }
}

/// Schema migrations that a manager applies to one database for one app version.
public struct SchemaStep: Sendable, Equatable {
    /// The app version that the schema step is registered for.
    public let version: AppVersion
    /// The database's name.
    public let database: String
    /// The schema versions that the schema step has applied, or will apply, in order.
    public let schemaVersions: [String]
    /// The unknown schema versions that the schema step has undone first, or will undo, newest first.
    public let undone: [String]
    /// Pre-existing problems in the database, which did not stop the schema step: a sentence each.
    public let warnings: [String]

    package init(
        version: AppVersion, database: String, schemaVersions: [String], undone: [String] = [],
        warnings: [String] = []
    ) {
        self.version = version
        self.database = database
        self.schemaVersions = schemaVersions
        self.undone = undone
        self.warnings = warnings
    }
}

/// A database that has had migrations which this version of the app does not know, and which it can use anyway.
public struct NewerDatabase: Sendable, Equatable {
    /// The database's name.
    public let database: String
    /// The unknown schema versions, ascending.
    public let schemaVersions: [String]
}

extension LaunchPlan {
    /// The databases with unknown migrations that stay.
    var newerDatabases: [NewerDatabase] {
        places.filter { !$0.state.newer.isEmpty }.map {
            NewerDatabase(database: $0.steps.name, schemaVersions: $0.state.newer)
        }
    }
}

/// The result of ``MigrationManager/runDeferred(for:while:retrying:)``.
///
/// ```swift
/// let report = try await manager.runDeferred(for: .seconds(25))
/// if report.canContinue { scheduleNextRun() }
/// ```
public struct DeferredReport: Sendable {
    /// The manager's name.
    public let manager: String

    /// The versions of the steps that this run has completed, in order.
    public let completed: [AppVersion]

    /// The versions of the best-effort steps that this run has given up, in order.
    public let skipped: [AppVersion]

    /// The steps that still wait, in order, each with its database; also those in a database that cannot be read.
    public let pending: [PendingWork]

    /// The errors of steps that failed or could not run, or that are not tried again in this build; other steps
    /// continued.
    public let failures: [MigrationError]

    /// A Boolean value that indicates whether this run ended early, because another process runs the deferred steps or
    /// a launch finishes one.
    public let isRunningElsewhere: Bool

    /// A Boolean value that indicates whether another run may do more without a fix: a step waits for time, or for
    /// something that passes, such as a lock or a full disk.
    ///
    /// False if nothing is pending, and if every step that waits has failed by itself.
    public let canContinue: Bool

    init(_ plan: DeferredPlan, _ run: RunState? = nil, isRunningElsewhere: Bool = false) {
        manager = plan.launch.request.manager
        completed = run?.tally.completed ?? []
        skipped = run?.tally.skipped ?? []
        let unreadable = plan.unreadable.flatMap { database in
            database.steps.closures.filter(\.isDeferred).map {
                PendingWork(deferred: database.steps.work(of: $0, manager: plan.launch.request.manager), nil)
            }
        }
        pending = plan.launch.pendingDeferred(after: run) + unreadable
        failures = (run?.failures ?? []) + plan.unreadable.map(\.error)
        self.isRunningElsewhere = isRunningElsewhere || run?.isRunningElsewhere ?? false
        canContinue =
            pending.count - unreadable.count > run?.stuck.count ?? 0
            || plan.unreadable.contains { Obstacle.mayPass($0.error) }
    }
}

extension LaunchPlan {
    /// Returns the deferred steps that wait.
    ///
    /// - Parameter run: a run of the plan, which may have done some of them.
    func pendingDeferred(after run: RunState? = nil) -> [PendingWork] {
        deferred.compactMap { pending in
            let work = work(of: pending)
            if run?.ended.contains(work) == true { return nil }
            let record = places[pending.place].record
            return PendingWork(
                deferred: work, run?.positions[work] ?? record?.position(of: pending.step.version))
        }
    }

    /// The work to do, with what is known of it.
    var pendingWork: [PendingWork] {
        let now = pending.map { pending in
            if pending.step.isDeferred {
                let record = places[pending.place].record
                var work = PendingWork(
                    deferred: work(of: pending), record?.position(of: pending.step.version))
                work.isDeferred = false
                return work
            }
            var work = PendingWork(work(of: pending))
            work.schemaVersions = pending.schema.apply
            work.undone = pending.schema.undo
            return work
        }
        return now + pendingDeferred()
    }

    /// True if an older version of the app has been launched since this one, or a newer one, was.
    fileprivate var returnsFromDowngrade: Bool {
        if case .upgrade = places[0].launch { places[0].state.record?.downgradedTo != nil } else { false }
    }

    /// True if no launch of this version, or of a newer one, has been completed.
    fileprivate var isFirstLaunchOfVersion: Bool {
        if case .downgrade = places[0].launch { return false }
        return places[0].state.record?.completed.map { $0 < request.current } ?? true
    }
}
