public import Foundation
package import MigrationDiagnostics

/// Why a manager could not do its work, and what to do about it.
///
/// The ``message`` names the culprit and the cause, the ``remedy`` what the person who reads it can do.
/// Switch over ``code``; new codes may be added in minor versions.
public struct MigrationError: Error, Sendable {
    /// What went wrong, as a kind.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The code's name.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Steps or moves are registered wrongly; ``MigrationError/causes`` has an error for each mistake.
        public static let invalidRegistration = Code(rawValue: "invalidRegistration")
        /// A step threw; ``MigrationError/underlyingError`` is what it threw.
        public static let stepFailed = Code(rawValue: "stepFailed")
        /// A move of a database failed; ``MigrationError/underlyingError`` says why.
        public static let moveFailed = Code(rawValue: "moveFailed")
        /// A step called the manager that is running it.
        public static let reentrantCall = Code(rawValue: "reentrantCall")
        /// There is data, and nothing tells at which version it is.
        public static let undecided = Code(rawValue: "undecided")
        /// The current version is missing, malformed, or has a sub-migration number.
        public static let invalidCurrentVersion = Code(rawValue: "invalidCurrentVersion")
        /// The version asked for is above the current version.
        public static let versionAboveCurrent = Code(rawValue: "versionAboveCurrent")
        /// There is no default place for the store here.
        public static let noStoreLocation = Code(rawValue: "noStoreLocation")
        /// The store could not be read; whether it holds a record is not known.
        public static let unreadableStore = Code(rawValue: "unreadableStore")
        /// What the store holds is not a record.
        public static let damagedStore = Code(rawValue: "damagedStore")
        /// A newer version of this package wrote the store, in a format that this one does not know.
        public static let newerFormat = Code(rawValue: "newerFormat")
        /// The store could not be written.
        public static let unwritableStore = Code(rawValue: "unwritableStore")
        /// Another run holds the manager's lock, and did not release it in time.
        public static let locked = Code(rawValue: "locked")
        /// The data is older than what the app can still migrate.
        public static let tooOld = Code(rawValue: "tooOld")
        /// The process has died in a step so often that it is not tried again.
        public static let gaveUp = Code(rawValue: "gaveUp")
        /// A step that works in one transaction called ``MigrationContext/checkpoint()``.
        public static let checkpointInTransaction = Code(rawValue: "checkpointInTransaction")
        /// There is no pending step of the version named.
        public static let notPending = Code(rawValue: "notPending")
        /// A step that may be suspended is registered, and `migrate()` was called without `await`.
        public static let asynchronousStep = Code(rawValue: "asynchronousStep")
        /// This process does not migrate, and the one that does has not done so yet.
        public static let notYetMigrated = Code(rawValue: "notYetMigrated")
        /// This process does not migrate, and a newer version of the app has been here.
        public static let newerThanThisProcess = Code(rawValue: "newerThanThisProcess")
        /// The system is about to suspend the process; the run has stopped.
        public static let suspended = Code(rawValue: "suspended")
        /// A database cannot be migrated as it is; ``MigrationError/underlyingError`` says why.
        public static let unusableDatabase = Code(rawValue: "unusableDatabase")
        /// A newer app has left the database at a version that this one does not know.
        public static let newerDatabase = Code(rawValue: "newerDatabase")
    }

    /// What went wrong, as a kind.
    public let code: Code

    /// The culprit, the cause and the remedy.
    package let diagnostic: Diagnostic

    /// The culprit and the cause, in a sentence.
    public var message: String { diagnostic.message }

    /// What to do about it, in a sentence.
    public var remedy: String { diagnostic.remedy }

    /// The name of the manager, where one is concerned.
    public package(set) var manager: String?

    /// The version of the step or move, where one is concerned.
    public package(set) var version: AppVersion?

    /// Which attempt at the step this was, where a step failed.
    public package(set) var attempt: Int?

    /// The error that caused this one.
    public package(set) var underlyingError: (any Error)?

    /// The single mistakes, where several are reported together.
    public package(set) var causes: [MigrationError] = []

    /// Creates an error.
    ///
    /// For stores that are written outside this package.
    public init(
        _ code: Code, _ message: String, remedy: String, manager: String? = nil,
        version: AppVersion? = nil, attempt: Int? = nil, underlyingError: (any Error)? = nil
    ) {
        self.code = code
        diagnostic = Diagnostic(message, remedy: remedy)
        self.manager = manager
        self.version = version
        self.attempt = attempt
        self.underlyingError = underlyingError
    }
}

extension MigrationError: CustomStringConvertible, LocalizedError {
    /// The message and the remedy; for several mistakes, a line each.
    public var description: String {
        guard causes.isEmpty else { return causes.map(\.description).joined(separator: "\n") }
        return diagnostic.description
    }

    /// The message and the remedy.
    public var errorDescription: String? { description }

    /// The culprit and the cause.
    public var failureReason: String? { message }

    /// What to do about it.
    public var recoverySuggestion: String? { remedy }
}
