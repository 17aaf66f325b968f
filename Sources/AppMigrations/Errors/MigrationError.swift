import Foundation
package import MigrationDiagnostics

/// An error that stopped a manager, with what to do about it.
///
/// The ``message`` names the culprit and the cause, the ``remedy`` says what the person who reads it can do.
/// Switch over ``code``; minor versions may add codes.
///
/// ```swift
/// do {
///     try manager.migrate()
/// } catch let error as MigrationError where error.code == .gaveUp {
///     showRecovery(error)
/// }
/// ```
public struct MigrationError: Error, Sendable {
    /// The kind of an error; `SchemaMigrationError` has codes of its own, and shares those of what passes by itself.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        /// The code's number, which never changes: the code of the error as an `NSError`.
        public let number: Int

        package init(_ name: String, _ number: Int) {
            description = name
            self.number = number
        }
    }

    /// The kind of the error.
    public let code: Code

    /// The place, the problem and the remedy.
    package private(set) var diagnostic: Diagnostic

    /// The culprit and the cause, in a sentence.
    public var message: String { diagnostic.message }

    /// The remedy: what the reader can do.
    public var remedy: String { diagnostic.remedy }

    /// The name of the manager, if one is concerned.
    public let manager: String?

    /// The work that is concerned, to be passed to ``MigrationManager/skip(_:)`` or
    /// ``MigrationManager/migrate(through:retrying:)``; nil if the error is about no single piece of work.
    public let work: MigrationWork?

    /// The version of the work, or another version that the error is about.
    public let version: AppVersion?

    /// The attempt at the step that failed, from 1.
    public let attempt: Int?

    /// The error that caused this one.
    public let underlyingError: (any Error)?

    /// True if the step has failed in the same way before, in the same build of the app: a retry will not help.
    package var isRepeated = false

    /// The single mistakes, where the error reports several together.
    package let causes: [MigrationError]

    /// Creates an error.
    ///
    /// For stores that are written outside this package.
    ///
    /// - Parameters:
    ///   - code: the kind of the error.
    ///   - problem: what is wrong. The message puts the manager's or the store's name before it.
    ///   - remedy: what to do about it, in a sentence.
    ///   - manager: the name of the manager, if one is concerned.
    ///   - version: the version of the step, if one is concerned.
    ///   - attempt: the attempt at the step that failed, from 1.
    ///   - underlyingError: the error that caused this one.
    @inline(never)
    public init(
        _ code: Code, _ problem: String, remedy: String, manager: String? = nil,
        version: AppVersion? = nil, attempt: Int? = nil, underlyingError: (any Error)? = nil
    ) {
        self.init(
            code, Diagnostic(at: manager.map { .manager($0) }, problem, remedy: remedy), manager: manager,
            version: version, attempt: attempt, underlyingError: underlyingError)
    }

    @inline(never)
    package init(
        _ code: Code, _ diagnostic: Diagnostic, manager: String? = nil, version: AppVersion? = nil,
        attempt: Int? = nil, underlyingError: (any Error)? = nil
    ) {
        self.code = code
        self.diagnostic = diagnostic
        self.manager = manager
        self.version = version
        self.attempt = attempt
        self.underlyingError = underlyingError
        work = nil
        causes = []
    }

    /// Creates the error of a piece of work.
    @inline(never)
    init(
        _ code: Code, _ problem: String, remedy: String, work: MigrationWork, attempt: Int? = nil,
        underlyingError: (any Error)? = nil
    ) {
        self.code = code
        diagnostic = Diagnostic(at: .manager(work.manager), problem, remedy: remedy)
        manager = work.manager
        version = work.version
        self.work = work
        self.attempt = attempt
        self.underlyingError = underlyingError
        causes = []
    }

    /// Creates the error that reports all mistakes of a registration together.
    @inline(never)
    init(_ mistakes: [MigrationError], manager: String) {
        code = .invalidRegistration
        diagnostic = Diagnostic(
            mistakes.map(\.message).joined(separator: "\n"),
            remedy: mistakes.map(\.remedy).joined(separator: "\n"))
        self.manager = manager
        version = nil
        work = nil
        attempt = nil
        underlyingError = nil
        causes = mistakes
    }
}

// What an app answers in the same way has the same code.
extension MigrationError.Code {
    // Mistakes in the app's code, which show on a developer's desk.

    /// Steps are registered wrongly; the message has a line for each mistake.
    public static let invalidRegistration = Self("invalidRegistration", 1)
    /// The current version is missing, malformed, or has a sub-migration number, or there is no place for a store.
    public static let invalidConfiguration = Self("invalidConfiguration", 2)
    /// The manager was called in a way or at a time that it does not allow.
    public static let invalidCall = Self("invalidCall", 3)

    // The app's own work.

    /// A step, a schema step or the closure of a version change threw; ``MigrationError/underlyingError`` is what it threw.
    public static let stepFailed = Self("stepFailed", 10)
    /// The process has died in a step so often that the manager no longer tries it.
    public static let gaveUp = Self("gaveUp", 11)

    // The data.

    /// There is data, and neither a record nor `adopting` says which version left it.
    public static let undecided = Self("undecided", 20)
    /// The data is older than what the app can still migrate.
    public static let tooOld = Self("tooOld", 21)
    /// A newer version of the app has used the data: a store or a database is ahead of this process.
    public static let newerThanThisProcess = Self("newerThanThisProcess", 22)
    /// This process does not migrate, and the one that does has not done so yet.
    public static let notYetMigrated = Self("notYetMigrated", 23)

    // Stores and databases.

    /// The store could not be read: it may contain a record.
    public static let unreadableStore = Self("unreadableStore", 30)
    /// The store could not be written.
    public static let unwritableStore = Self("unwritableStore", 31)
    /// The record is in two places, and both have been used; see ``JSONStore/keep(_:settingAside:)``.
    public static let twoRecords = Self("twoRecords", 35)
    /// The contents of the store are not a record.
    public static let damagedStore = Self("damagedStore", 32)
    /// A newer version of this package wrote the store, in a format that this one does not know.
    public static let newerFormat = Self("newerFormat", 33)
    /// A database cannot be migrated as it is; ``MigrationError/underlyingError`` says why.
    public static let unusableDatabase = Self("unusableDatabase", 34)

    // The device and the moment. Nothing is wrong with the data: wait, or make room, and migrate again.

    /// The device has not been unlocked since it was started, so protected files cannot be read yet.
    public static let deviceLocked = Self("deviceLocked", 40)
    /// The disk is full.
    public static let diskFull = Self("diskFull", 41)
    /// Another run or another connection held a lock for too long.
    public static let locked = Self("locked", 42)
    /// A file or a database cannot be written, by its permissions or because its volume is read-only.
    public static let readOnly = Self("readOnly", 43)
    /// A step threw ``MigrationPostponed``: its time has not come.
    public static let postponed = Self("postponed", 44)
    /// The system is about to suspend the process, or GRDB has suspended the database; the run has stopped.
    public static let suspended = Self("suspended", 45)
}

extension MigrationError: CustomStringConvertible {
    /// The message and the remedy; for several mistakes, a line each.
    public var description: String {
        causes.isEmpty ? diagnostic.description : causes.map(\.description).joined(separator: "\n")
    }
}

extension MigrationError {
    /// The error, with a place unless it names one.
    package func located(at place: Diagnostic.Place) -> MigrationError {
        guard diagnostic.place == nil else { return self }
        var error = self
        error.diagnostic.place = place
        return error
    }
}
