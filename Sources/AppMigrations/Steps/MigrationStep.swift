/// A piece of work that is registered for one version of the app.
///
/// A class, because every launch filters and sorts lists of steps.
package final class MigrationStep {
    package let version: AppVersion
    /// Where the work is done and recorded: the manager's store, or a database.
    package let place: any MigrationPlace
    package let work: Work
    package let onFreshInstall: FreshInstallRule
    package let onError: ErrorRule
    /// Whether the step runs on fresh installs alone; see `whenFreshlyInstalled`.
    let isForFreshInstalls: Bool
    package let source: SourceLocation

    // Computed once: every part of a launch asks again, and looking into `work` copies it.
    let isAsynchronous: Bool
    let isMove: Bool
    /// Whether its place is a database, and not the manager's store.
    let worksInDatabase: Bool
    /// Whether it runs after the launch, in batches.
    let isDeferred: Bool
    /// Whether the transaction that does the work, or its last batch, records that the step is done.
    let settlesItself: Bool
    /// The versions of deferred steps that have to be done before this one.
    package let finishing: [AppVersion]
    /// Its number among the steps that are registered, from 0.
    var number = 0

    package init(
        version: AppVersion, place: any MigrationPlace, work: Work, onFreshInstall: FreshInstallRule = .skip,
        onError: ErrorRule = .stop, finishing: [AppVersion] = [], isForFreshInstalls: Bool = false,
        source: SourceLocation
    ) {
        self.version = version
        self.place = place
        self.work = work
        self.onFreshInstall = onFreshInstall
        self.onError = onError
        self.finishing = finishing
        self.isForFreshInstalls = isForFreshInstalls
        self.source = source
        (isAsynchronous, isMove, worksInDatabase) =
            switch work {
            case .closure: (false, false, false)
            case .asynchronous: (true, false, false)
            case .transaction: (false, false, true)
            case .move: (false, true, true)
            case .batches: (false, false, true)
            case .deferredClosure: (false, false, false)
            }
        (isDeferred, settlesItself) =
            switch work {
            case .closure, .asynchronous, .move: (false, false)
            case .transaction: (false, true)
            case .batches: (true, true)
            case .deferredClosure: (true, false)
            }
    }

    /// A closure that may suspend, and runs on the actor that calls `migrate`.
    package typealias AsynchronousBody = nonisolated(nonsending) (MigrationContext) async throws -> Void

    package enum Work {
        /// Runs where `migrate()` was called, and is recorded in the store after it has returned.
        case closure((MigrationContext) throws -> Void)
        /// A closure that may suspend.
        case asynchronous(AsynchronousBody)
        /// Runs in a transaction of its place, and is recorded in that transaction.
        case transaction(any TransactionWork)
        /// Brings its place to a schema version. The place's own ledger records what it has done.
        case move(any MoveWork)
        /// Runs after the launch, in batches, each of which its place records in the batch's transaction.
        case batches(any DeferredWork)
        /// Runs after the launch, and saves where it is.
        case deferredClosure(DeferredBody)
    }

    /// A deferred closure, which runs on the actor that calls `runDeferred`.
    package typealias DeferredBody = nonisolated(nonsending) (DeferredContext) async throws -> Void

    /// Whether it runs after the launch, outside databases: then it may be asynchronous.
    var isDeferredClosure: Bool { isDeferred && !worksInDatabase }

    var move: (any MoveWork)? {
        if case .move(let move) = work { move } else { nil }
    }

    /// The name that messages use.
    var title: String {
        if isForFreshInstalls { return "whenFreshlyInstalled" }
        return "\(isMove ? "move" : isDeferred ? "deferred step" : "step") \(version)"
    }

    /// The name and the line of the registration, as in `step 1.1 (App/Migrations.swift:12)`.
    var titleAndSource: String { "\(title) (\(source))" }

    /// Whether this step comes first where both are pending.
    ///
    /// Moves of a version go first, so that a closure finds the schema of its version; then the closures, in the
    /// order of their registration.
    func runsBefore(_ other: MigrationStep) -> Bool {
        if version != other.version { return version < other.version }
        if isMove != other.isMove { return isMove }
        return number < other.number
    }
}
