import Foundation

/// A reason for which work cannot run now, whatever the work is: a condition of the device or of the moment.
///
/// An app answers it by waiting or by making room, never by repairing its data.
package enum Obstacle: CaseIterable, Sendable {
    case deviceLocked
    case diskFull
    case suspended
    case inUse
    case readOnly
    case postponed

    /// Finds the obstacle that caused an error; nil when there is none.
    package init?(_ error: any Error) {
        let other: Obstacle? =
            switch error {
            case is MigrationPostponed: .postponed
            case let error as CocoaError where error.code == .fileWriteOutOfSpace: .diskFull
            case let error as CocoaError where error.code == .fileWriteVolumeReadOnly: .readOnly
            case let error as CocoaError: error.underlying.flatMap(Obstacle.init)
            default: nil
            }
        guard let obstacle = error.systemError?.obstacle ?? other else { return nil }
        self = obstacle
    }

    /// Returns true if an error has an obstacle that may pass while the app does nothing about it.
    static func mayPass(_ error: any Error) -> Bool {
        guard let obstacle = Obstacle(error) else { return false }
        return obstacle != .readOnly
    }

    package var code: MigrationError.Code {
        switch self {
        case .deviceLocked: .deviceLocked
        case .diskFull: .diskFull
        case .suspended: .suspended
        case .inUse: .locked
        case .readOnly: .unwritable
        case .postponed: .postponed
        }
    }

    package var remedy: String {
        switch self {
        case .deviceLocked:
            """
            If the device is locked, wait until it has been unlocked, then retry. Never replace the record because of this \
            error.
            """
        case .diskFull: "The disk is full. Free some space, then retry."
        case .suspended: "What is complete stays complete. Migrate again when the app is active."
        case .inUse: "Another connection or process is using the database. Let it finish, then retry."
        case .readOnly: "Make the file and its folder writable, then retry."
        case .postponed: "The step asked to wait. The next launch tries it again."
        }
    }
}

extension Error {
    /// True if work that throws this error has failed by itself: nothing that passes has kept it from running, and nobody
    /// has stopped it.
    package var isOwnFailure: Bool { Obstacle(self) == nil && !(self is CancellationError) }

    /// The verb of messages about work that throws this error.
    package var verb: String { Obstacle(self) == .postponed ? "was postponed" : "failed" }

    /// True if a table lacks a column.
    var isAboutMissingColumn: Bool { systemError?.isAboutMissingColumn == true }

    /// True if there is nothing yet to read.
    var isAboutMissingData: Bool {
        systemError?.isAboutMissingData
            ?? (self as? CocoaError).map { [.fileNoSuchFile, .fileReadNoSuchFile].contains($0.code) } ?? false
    }
}
