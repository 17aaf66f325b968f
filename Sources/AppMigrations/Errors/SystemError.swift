package import Foundation
import MigrationDiagnostics

/// An error of the system or of SQLite.
package protocol SystemError: Error {
    /// The reason in the system's words.
    var reason: String { get }

    /// The error as messages quote it, without the values of rows.
    var words: String { get }

    /// The obstacle behind the error; nil when the error has a cause of its own.
    var obstacle: Obstacle? { get }

    /// The remedy, wherever the error occurs; nil if it depends on what was tried.
    var ownRemedy: String? { get }

    /// True if a database is damaged, so that the app can offer to save its rows.
    var saysThatDatabaseIsDamaged: Bool { get }

    /// True if the system refuses the file, so nothing says that its data is lost.
    var saysThatFileIsRefused: Bool { get }

    /// True if there is nothing yet to read: no such table or file.
    var isAboutMissingData: Bool { get }

    /// True if a table lacks a column.
    var isAboutMissingColumn: Bool { get }
}

extension SystemError {
    package var words: String { "\(self)" }
    package var obstacle: Obstacle? { nil }
    package var ownRemedy: String? { nil }
    package var saysThatDatabaseIsDamaged: Bool { false }
    package var saysThatFileIsRefused: Bool { false }
    package var isAboutMissingData: Bool { false }
    package var isAboutMissingColumn: Bool { false }
}

extension Error {
    /// The error as one of the system or of SQLite; nil if it is none.
    ///
    /// A cast to the protocol does not find it in an `NSError` of Apple's Foundation.
    package var systemError: (any SystemError)? { (self as? POSIXError) ?? (self as? any SystemError) }
}

extension POSIXError: SystemError {
    /// The error of the last system call.
    @inline(never)
    package static var current: POSIXError {
        POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }

    /// The system's words for this error, as in `Permission denied`.
    package var reason: String {
        String(cString: strerror(code.rawValue))
    }

    package var obstacle: Obstacle? { obstacle(isDeviceLockable: Self.isDeviceLockable) }

    package var saysThatFileIsRefused: Bool { [.EACCES, .EPERM, .EROFS].contains(code) }

    package var isAboutMissingData: Bool { code == .ENOENT }

    /// Returns true on systems that refuse an app its files until the device is unlocked for the first time.
    package static var isDeviceLockable: Bool {
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
        case .EROFS: .readOnly
        default: nil
        }
    }
}

extension MigrationError: SystemError {
    package var reason: String { diagnostic.clause }

    package var obstacle: Obstacle? {
        let cause = underlyingError.flatMap(Obstacle.init)
        return switch code {
        case .unreadableStore: nil
        // It may have another reason than that it is read-only.
        case .unwritable: cause == .readOnly ? cause : nil
        default: Obstacle.allCases.first { $0.code == code } ?? cause
        }
    }

    package var saysThatDatabaseIsDamaged: Bool { code == .damagedDatabase }
}
