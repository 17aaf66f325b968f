/// The result of ``MigrationManager/migrate(through:retrying:)``, with what earlier calls for the same launch did.
///
/// ```swift
/// let report = try manager.migrate()
/// if case .upgrade(let from) = report.launch { showNews(since: from) }
/// ```
public struct MigrationReport: Sendable, Equatable {
    /// The manager's name.
    public let manager: String

    /// The kind of launch, from the manager's store.
    public let launch: Launch

    /// A Boolean value that indicates whether an older version of the app has been launched since this
    /// version, or a newer one, was.
    public let returnedFromDowngrade: Bool

    /// A Boolean value that indicates whether this is the first launch of this app version or a newer one.
    public let isFirstLaunchOfVersion: Bool

    /// The versions whose closure ran, in order.
    public let completed: [AppVersion]

    /// The moves that applied something, in order.
    public let moves: [MigrationMove]

    /// The versions of deferred steps that wait for ``MigrationManager/runDeferred(for:retrying:)``, in order.
    public let pendingDeferred: [AppVersion]

    /// The versions of best-effort steps that the manager gave up, in order.
    public let skipped: [AppVersion]

    init(_ plan: LaunchPlan, _ tally: Tally) {
        manager = plan.request.manager
        launch = plan.places[0].launch
        returnedFromDowngrade = plan.decision.returnedFromDowngrade
        isFirstLaunchOfVersion = plan.decision.isFirstLaunchOfVersion
        completed = tally.completed
        moves = tally.moves
        pendingDeferred = plan.deferred.map(\.step.version)
        skipped = tally.skipped
    }
}

/// Schema migrations that a manager applies to one database for one app version.
public struct MigrationMove: Sendable, Equatable {
    /// The app version that the move is registered for.
    public let version: AppVersion
    /// The database's name.
    public let database: String
    /// The schema versions that the move has applied, or will apply, in order.
    public let schemaVersions: [String]
    /// Pre-existing problems in the database, which did not stop the move: a sentence each.
    public let warnings: [String]

    package init(version: AppVersion, database: String, schemaVersions: [String], warnings: [String] = []) {
        self.version = version
        self.database = database
        self.schemaVersions = schemaVersions
        self.warnings = warnings
    }
}

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
    public let completed: [AppVersion]

    /// The versions of the best-effort steps that this run has given up, in order.
    public let skipped: [AppVersion]

    /// The steps that still wait, in order, each with its database.
    public let pending: [PendingDeferredStep]

    /// The errors of steps that failed or could not run, or that are not tried again in this build; other steps
    /// continued.
    public let failures: [MigrationError]

    /// Whether another process runs the deferred steps, or a launch finishes one, so that this run ended early.
    public let isRunningElsewhere: Bool

    init(_ plan: LaunchPlan, _ tally: Tally = Tally(), isRunningElsewhere: Bool = false) {
        manager = plan.request.manager
        completed = tally.completed
        skipped = tally.skipped
        pending = plan.pendingDeferred(after: tally)
        failures = tally.failures
        self.isRunningElsewhere = isRunningElsewhere || tally.isRunningElsewhere
    }
}

/// A deferred step that waits, and how far it is.
public struct PendingDeferredStep: Sendable, Hashable {
    /// The version that it is registered for.
    public let version: AppVersion

    /// The database that it works in; nil for a closure.
    public let database: String?

    /// The rows that are done; for other steps, the calls or checkpoints.
    public let done: Int

    /// The rows that there were at the start; nil if unknown.
    public let total: Int?
}

extension LaunchPlan {
    /// Returns the deferred steps that wait.
    ///
    /// - Parameter tally: what a run has done of the plan's deferred steps.
    func pendingDeferred(after tally: Tally = Tally()) -> [PendingDeferredStep] {
        deferred.enumerated().filter { !tally.ended.contains($0.offset) }.map { index, pending in
            let place = places[pending.place]
            let position = tally.positions[index] ?? place.record.positions[pending.step.version]
            return PendingDeferredStep(
                version: pending.step.version,
                database: pending.step.worksInDatabase ? place.steps.name : nil,
                done: position?.done ?? 0, total: position?.total)
        }
    }
}
