package import Foundation

/// How work ends that does not succeed: judged here for closures, steps in databases, schema steps, closures for a version
/// change and batches, in launches and in `runDeferred`.
///
/// | it ended | counts as a crash | counts as a failure | what follows |
/// | --- | --- | --- | --- |
/// | the process died in it | yes, in the next launch | no | the next launch retries it; after `maximumAttempts` in one build, `gaveUp` |
/// | it threw | no; earlier crashes stay | yes | the manager stops or, with `.giveUp(after:)`, goes on |
/// | it could not run now | no | no | it stays pending; the manager stops or, if it is best-effort, goes on |
///
/// `OpenWork/die()` counts crashes.
struct Outcome {
    /// True if the work failed by itself.
    let isFailure: Bool
    /// What the work has thrown.
    let cause: any Error
    /// The error to throw or to report.
    let error: any Error

    /// Judges an error.
    ///
    /// - Parameters:
    ///   - interruption: the error with which the run ends, if it was interrupted: then that is why the work ended.
    ///   - attempt: the number of the attempt, from 1.
    init(
        _ error: any Error, of step: MigrationStep, work: MigrationWork, attempt: Int,
        interruption: (any Error)?
    ) {
        cause = error.cause
        let obstacle = Obstacle(cause)
        isFailure = interruption == nil && cause.isOwnFailure
        if let interruption {
            self.error = interruption
        } else if cause is CancellationError {
            self.error = cause
        } else {
            let inAttempt = attempt > 1 && !step.isDeferred ? " in attempt \(attempt)" : ""
            self.error = MigrationError(
                obstacle?.code ?? .stepFailed,
                step.kind == .versionChange
                    ? "the closure for a version change failed\(error.inBatchAsCause)"
                    : "\(step.titleAndSource) failed\(inAttempt)\(error.inBatchAsCause)",
                remedy: obstacle?.remedy ?? (cause as? any SystemError)?.ownRemedy
                    ?? step.remedy(isInBatch: error is BatchFailure),
                work: work, attempt: attempt, underlyingError: cause)
        }
    }
}

extension MigrationStep {
    fileprivate func remedy(isInBatch: Bool) -> String {
        switch kind {
        case .batches where !isInBatch: "No row was changed. The step is tried again."
        case .closure, .transaction, .schemaStep:
            "Earlier steps are complete. The next launch retries this one."
        case .versionChange: "The steps are complete. The next launch runs the closure again."
        case .batches: "That batch was rolled back; all others are kept. The next run retries it."
        case .deferredClosure: "The next run continues the step from its last checkpoint."
        }
    }
}

extension Error {
    /// The error that a step has thrown, without the batch in which it did.
    var cause: any Error { (self as? BatchFailure)?.cause ?? self }

    /// The end of a message that quotes this error, if it says anything: ` in row 5 of table photo: no such file`.
    fileprivate var inBatchAsCause: String {
        let text = "\(cause)"
        return ((self as? BatchFailure).map { " in \($0.title)" } ?? "") + (text.isEmpty ? "" : ": \(text)")
    }
}

extension Error {
    /// True if work that throws this error has failed by itself: nothing that passes has kept it from running, and nobody
    /// has stopped it.
    package var isOwnFailure: Bool { Obstacle(self) == nil && !(self is CancellationError) }
}

/// A reason for which work cannot run now, whatever the work is: a condition of the device or of the moment.
///
/// An app answers it by waiting or by making room, never by repairing its data.
package enum Obstacle: Sendable {
    case deviceLocked
    case diskFull
    case suspended
    case inUse
    case readOnly
    case postponed

    /// Finds the obstacle that caused an error; nil when there is none.
    package init?(_ error: any Error) {
        let obstacle: Obstacle? =
            switch error {
            case let error as any SystemError: error.obstacle
            case is MigrationPostponed: .postponed
            case let error as CocoaError where error.code == .fileWriteOutOfSpace: .diskFull
            case let error as CocoaError where error.code == .fileWriteVolumeReadOnly: .readOnly
            case let error as CocoaError: error.underlying.flatMap(Obstacle.init)
            default: nil
            }
        guard let obstacle else { return nil }
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
        case .readOnly: .readOnly
        case .postponed: .postponed
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
        case .readOnly: "Make the file and its folder writable, then retry."
        case .postponed: "The step asked to wait. The next launch tries it again."
        }
    }
}

extension MigrationPostponed: CustomStringConvertible {
    /// The reason.
    public var description: String { reason }
}

/// An error of the system or of SQLite.
package protocol SystemError: Error {
    /// The reason in the system's words.
    var reason: String { get }

    /// The obstacle behind the error; nil when the error has a cause of its own.
    var obstacle: Obstacle? { get }

    /// What to do about the error, wherever it occurs; nil if that depends on what was tried.
    var ownRemedy: String? { get }
}

extension SystemError {
    package var ownRemedy: String? { nil }
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
    package var reason: String { message }

    package var obstacle: Obstacle? {
        switch code {
        case .deviceLocked: .deviceLocked
        case .diskFull: .diskFull
        case .suspended: .suspended
        case .locked: .inUse
        case .readOnly: .readOnly
        case .postponed: .postponed
        default: nil
        }
    }
}
