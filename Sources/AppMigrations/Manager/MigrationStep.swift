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

    package init(
        version: AppVersion, place: any MigrationPlace, work: Work, onFreshInstall: FreshInstallRule = .skip,
        source: SourceLocation
    ) {
        self.version = version
        self.place = place
        self.work = work
        self.onFreshInstall = onFreshInstall
        self.source = source
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

    var isAsynchronous: Bool {
        if case .asynchronous = work { true } else { false }
    }

    var isMove: Bool {
        if case .move = work { true } else { false }
    }

    /// Whether its place is a database, and not the manager's store.
    var worksInDatabase: Bool {
        switch work {
        case .closure, .asynchronous: false
        case .transaction, .move: true
        }
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
