package import Foundation

/// A condition of the device or of the moment that makes work fail, whatever the work is.
///
/// An app answers it by waiting or by making room, never by repairing its data.
package enum Obstacle: Sendable {
    case deviceLocked
    case diskFull
    case suspended
    case inUse

    /// Finds the obstacle that caused an error; nil when there is none.
    package init?(_ error: any Error) {
        let obstacle: Obstacle? =
            switch error {
            case let error as any SystemError: error.obstacle
            case let error as CocoaError where error.code == .fileWriteOutOfSpace: .diskFull
            case let error as CocoaError: error.underlying.flatMap(Obstacle.init)
            default: nil
            }
        guard let obstacle else { return nil }
        self = obstacle
    }

    package var code: MigrationError.Code {
        switch self {
        case .deviceLocked: .deviceLocked
        case .diskFull: .diskFull
        case .suspended: .suspended
        case .inUse: .locked
        }
    }

    package var remedy: String {
        switch self {
        case .deviceLocked:
            """
            Nothing was changed. If the device has not been unlocked since it was started, wait until it has been, then \
            retry. Never replace the record because of this error.
            """
        case .diskFull: "The disk is full. Free some space, then retry."
        case .suspended: "What is complete stays complete. Migrate again when the app is active."
        case .inUse: "Another connection or process is using the database. Let it finish, then retry."
        }
    }
}

/// An error of the system or of SQLite.
package protocol SystemError: Error {
    /// The reason in the system's words.
    var reason: String { get }

    /// The obstacle behind the error; nil when the error has a cause of its own.
    var obstacle: Obstacle? { get }
}

extension POSIXError: SystemError {
    /// The error of the last system call.
    package static var current: POSIXError {
        POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }

    /// The system's words for this error, as in `Permission denied`.
    package var reason: String {
        String(cString: strerror(code.rawValue))
    }

    package var obstacle: Obstacle? { obstacle(isDeviceLockable: Self.isDeviceLockable) }

    /// Returns true on systems that refuse an app its files until the device is unlocked for the first time.
    static var isDeviceLockable: Bool {
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
            true
        #else
            false
        #endif
    }

    func obstacle(isDeviceLockable: Bool) -> Obstacle? {
        switch code {
        // How iOS refuses protected files until the first unlock; missing rights are EACCES. On macOS, a sandbox
        // refuses files so.
        case .EPERM where isDeviceLockable: .deviceLocked
        case .ENOSPC, .EDQUOT: .diskFull
        default: nil
        }
    }
}

extension MigrationError: SystemError {
    package var reason: String { message }

    package var obstacle: Obstacle? {
        switch code {
        case .deviceLocked: .deviceLocked
        case .diskFull: .diskFull
        case .suspended: .suspended
        case .locked: .inUse
        default: nil
        }
    }
}
