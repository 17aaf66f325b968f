/// A piece of work that is registered for one version of the app.
///
/// A class, since lists of steps are filtered and sorted at every launch.
package final class MigrationStep {
    package let version: AppVersion
    /// Where the work is done and remembered: the manager's store, or a database.
    package let place: any MigrationPlace
    package let work: Work
    package let onFreshInstall: FreshInstallRule
    package let source: SourceLocation

    // Told once: all of a launch asks again and again, and to look into `work` is to copy it.
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
        /// Runs where `migrate()` was called; remembered in the store after it has returned.
        case closure((MigrationContext) throws -> Void)
        /// As a closure, and may be suspended.
        case asynchronous(@Sendable (MigrationContext) async throws -> Void)
        /// Runs in a transaction of its place, and is remembered in that transaction.
        case transaction(any TransactionalWork)
        /// Brings its place to a schema version. What it has done is told by the place's own ledger.
        case move(any MigrationMove)
    }

    /// As messages call it.
    var title: String { "\(isMove ? "move" : "step") \(version)" }
}

/// Whether a step runs on a fresh install, where there is no old data.
public enum FreshInstallRule: Sendable {
    /// The step is settled without running: there is nothing to migrate. The default.
    case skip
    /// The step is owed: it is pending until it has run, also when a first launch is cut short.
    case run
}

/// A line in the app's source code.
package struct SourceLocation: Sendable, Hashable, CustomStringConvertible {
    package let fileID: String
    package let line: Int

    package init(fileID: StaticString, line: UInt) {
        self.fileID = "\(fileID)"
        self.line = Int(line)
    }

    package var description: String {
        "\(fileID.split(separator: "/").last ?? ""):\(line)"
    }
}
