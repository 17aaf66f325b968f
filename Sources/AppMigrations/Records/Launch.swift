/// The kind of a launch, by the manager's record.
///
/// ```swift
/// switch try manager.migrate().launch {
/// case .freshInstall: showWelcome()
/// case .upgrade(let from): showNews(since: from)
/// default: break
/// }
/// ```
public enum Launch: Sendable, Equatable {
    /// There is no record, and the evidence shows a new install: there is no old data to migrate.
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
    package var previousVersion: AppVersion? {
        switch self {
        case .freshInstall, .relaunch: nil
        case .adoption(let version), .upgrade(let version), .downgrade(let version): version
        }
    }

    /// True if a higher version was launched before.
    package var isDowngrade: Bool { if case .downgrade = self { true } else { false } }

    /// The version that the app's data comes from, when this launch takes it further.
    var upgradedVersion: AppVersion? {
        switch self {
        case .adoption(let version), .upgrade(let version): version
        case .freshInstall, .relaunch, .downgrade: nil
        }
    }
}
