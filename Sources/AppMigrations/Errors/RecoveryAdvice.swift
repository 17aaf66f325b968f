/// A way out for a person whose data could not be updated.
public enum RecoveryAdvice: String, Codable, Sendable, CaseIterable {
    /// Try again.
    case retry
    /// Unlock the device, and try again.
    case unlock
    /// Free some space, and try again.
    case freeSpace
    /// Install the latest version of the app.
    case updateApp
    /// Wait, and open the app again later.
    case wait
    /// Restore a backup.
    case restore
    /// Save what can be read of a damaged database, as `DatabaseFile.salvage(into:)` does.
    case repair
    /// Contact the developer.
    case contactDeveloper

    /// The advice as a sentence for a person, in English unless the app has a table `AppMigrations` of its own.
    public var localizedDescription: String { PersonText.text("advice.\(rawValue)") }
}

extension RecoveryAdvice {
    /// The advice for a code.
    init(_ code: MigrationError.Code) {
        self =
            switch code {
            case .stepFailed, .suspended, .unreadableStore, .unwritable: .retry
            case .deviceLocked: .unlock
            case .diskFull: .freeSpace
            case .newerThanThisProcess: .updateApp
            case .locked, .postponed, .notYetMigrated: .wait
            case .damagedDatabase: .repair
            case .damagedStore, .databaseFailed: .restore
            default: .contactDeveloper
            }
    }
}
