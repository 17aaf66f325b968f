/// A piece of work that is registered for one version of the app.
///
/// A class, because every launch filters and sorts lists of steps.
package final class MigrationStep {
    package let version: AppVersion
    /// Where the work is done and recorded: the manager's store, or a database.
    package let place: any MigrationPlace
    package let work: Work
    package let onFreshInstall: FreshInstallRule
    package let source: SourceLocation

    // Computed once: every part of a launch asks again, and looking into `work` copies it.
    let isAsynchronous: Bool
    let isMove: Bool
    /// Whether its place is a database, and not the manager's store.
    let worksInDatabase: Bool

    package init(
        version: AppVersion, place: any MigrationPlace, work: Work, onFreshInstall: FreshInstallRule = .skip,
        source: SourceLocation
    ) {
        self.version = version
        self.place = place
        self.work = work
        self.onFreshInstall = onFreshInstall
        self.source = source
        (isAsynchronous, isMove, worksInDatabase) =
            switch work {
            case .closure: (false, false, false)
            case .asynchronous: (true, false, false)
            case .transaction: (false, false, true)
            case .move: (false, true, true)
            }
    }

    package enum Work {
        /// Runs where `migrate()` was called, and is recorded in the store after it has returned.
        case closure((MigrationContext) throws -> Void)
        /// A closure that may suspend.
        case asynchronous(@Sendable (MigrationContext) async throws -> Void)
        /// Runs in a transaction of its place, and is recorded in that transaction.
        case transaction(any TransactionWork)
        /// Brings its place to a schema version. The place's own ledger records what it has done.
        case move(any MoveWork)
    }

    /// The name that messages use.
    var title: String { "\(isMove ? "move" : "step") \(version)" }
}
