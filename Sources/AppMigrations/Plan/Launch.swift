/// What kind of launch this is, as told from the record.
public enum Launch: Sendable, Hashable {
    /// There is no record, and the install is proved to be new: there is no old data to migrate.
    case freshInstall

    /// There is no record, but earlier installs without one are known to be at this version.
    case adoption(from: AppVersion)

    /// The version that was completed last is lower than the current one.
    case upgrade(from: AppVersion)

    /// The version that was completed last is the current one.
    case relaunch

    /// A higher version than the current one was launched before.
    case downgrade(from: AppVersion)

    /// The version whose data this launch found; nil on a fresh install and on a relaunch.
    public var previousVersion: AppVersion? {
        switch self {
        case .freshInstall, .relaunch: nil
        case .adoption(let version), .upgrade(let version), .downgrade(let version): version
        }
    }
}

/// What a place shows when it holds no record of a manager.
package enum Evidence: Sendable {
    /// The place keeps records: the app versions that it has seen decide.
    case versionsSeen
    /// The place is empty: nothing can have been lost.
    case empty
    /// There is data and a ledger of schema migrations, but nothing has ever kept a record of steps here.
    case ledgerOnly
    /// There is data, and nothing that says at which version it is.
    case unmanaged
}

extension Launch {
    /// Tells the kind of launch.
    ///
    /// Decides only: it reads nothing but its arguments.
    ///
    /// - Parameters:
    ///   - record: what is remembered about the manager in this place.
    ///   - seen: the app versions that this place has seen, in the manager's line of versions.
    ///   - evidence: what the place shows beside the record.
    ///   - adopting: the app's answer; asked only when there is no record and the place is not empty.
    /// - Returns: nil when it cannot be decided. A guess could lose data for ever.
    package static func recognized(
        record: MigrationRecord?, seen: [AppVersion], evidence: Evidence, current: AppVersion,
        adopting: () throws -> AppVersion?
    ) rethrows -> Launch? {
        if let record { return recognized(record, current: current) }
        if case .empty = evidence { return .freshInstall }
        if let version = try adopting() {
            // Data that a newer app left behind is not ours to migrate.
            return version.release > current.release ? .downgrade(from: version) : .adoption(from: version)
        }
        switch evidence {
        case .versionsSeen:
            return seen.filter { $0 < current }.max().map { .adoption(from: $0) } ?? .freshInstall
        case .ledgerOnly:
            // A step given a database commits together with its record. No record: none has run here.
            return .adoption(from: .zero)
        case .empty, .unmanaged:
            return nil
        }
    }

    private static func recognized(_ record: MigrationRecord, current: AppVersion) -> Launch {
        if let highest = record.highest, highest > current { return .downgrade(from: highest) }
        // Nothing was ever completed: an adoption that was cut short goes on.
        guard let completed = record.completed else { return .adoption(from: record.floor ?? .zero) }
        return completed < current ? .upgrade(from: completed) : .relaunch
    }
}

extension AppVersion {
    /// Below every version that an app has ever had.
    package static let zero: AppVersion = "0"
}
