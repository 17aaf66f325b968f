import Foundation

/// A piece of work that is registered for one version of the app, as a plan sees it.
///
/// A class, because every launch filters and sorts lists of steps. What the step does is a ``StepBody``.
package final class MigrationStep: Sendable {
    package let version: AppVersion
    /// Where the work is done and recorded.
    package let place: PlaceID
    package let kind: Kind
    package let onFreshInstall: FreshInstallRule
    package let onError: ErrorRule
    /// The versions of deferred steps that have to be done before this one.
    package let finishing: [AppVersion]
    /// Its number among the steps that are registered, from 0.
    let number: Int
    let source: SourceLocation

    // Computed once: every part of a launch asks again.
    let isSchemaStep: Bool
    /// True if it runs after the launch.
    let isDeferred: Bool

    /// The kind of a step's work.
    package enum Kind: Sendable {
        /// A closure, which the store records after it has returned.
        case closure
        /// A closure in a transaction of a database, which records it in that transaction.
        case transaction
        /// Brings a database to a schema version, which the database's own ledger records.
        case schemaStep
        /// A closure that runs after the launch, and saves where it is.
        case deferredClosure
        /// Batches after the launch, each of which its database records in the batch's transaction.
        case batches
        /// The closures for a change of the app's version.
        case versionChange
    }

    init(
        version: AppVersion, place: PlaceID, kind: Kind, onFreshInstall: FreshInstallRule = .skip,
        onError: ErrorRule = .stop, finishing: [AppVersion] = [], number: Int, source: SourceLocation
    ) {
        self.version = version
        self.place = place
        self.kind = kind
        self.onFreshInstall = onFreshInstall
        self.onError = onError
        self.finishing = finishing
        self.number = number
        self.source = source
        isSchemaStep = kind == .schemaStep
        id = WorkID(version, kind == .versionChange ? .versionChange : isSchemaStep ? .schemaStep : .step)
        isDeferred = kind == .batches || kind == .deferredClosure
    }

    /// Names the work in the record of its place.
    package let id: WorkID

    /// True if its place is a database that the app has registered it for.
    var worksInDatabase: Bool {
        switch kind {
        case .transaction, .schemaStep, .batches: true
        case .closure, .deferredClosure, .versionChange: false
        }
    }

    /// True if the transaction that does the work, or its last batch, records that the step is done.
    var settlesItself: Bool { kind == .transaction || kind == .batches }

    /// The name that messages use.
    var title: String {
        switch kind {
        case .versionChange: "a closure for a version change"
        case .schemaStep: "schema step \(version)"
        case .batches, .deferredClosure: "deferred step \(version)"
        case .closure, .transaction: "step \(version)"
        }
    }

    /// The name and the line of the registration, as in `step 1.1 (App/Migrations.swift:12)`.
    var titleAndSource: String { kind == .versionChange ? title : "\(title) (\(source))" }

    /// Returns true if this step comes first where both are pending.
    ///
    /// Steps that only a fresh install needs go first. Schema steps of a version go before its closures, so that a closure finds the
    /// schema of its version; then the closures, in the order of their registration.
    func runsBefore(_ other: MigrationStep) -> Bool {
        let (isFirst, otherIsFirst) = (onFreshInstall == .only, other.onFreshInstall == .only)
        if isFirst != otherIsFirst { return isFirst }
        if version != other.version { return version < other.version }
        if isSchemaStep != other.isSchemaStep { return isSchemaStep }
        return number < other.number
    }
}

/// A line in the app's source code.
package struct SourceLocation: Sendable, CustomStringConvertible {
    private let fileID: StaticString
    private let line: UInt

    package init(fileID: StaticString, line: UInt) {
        self.fileID = fileID
        self.line = line
    }

    // Computed for messages alone: every launch makes one for each step.
    package var description: String {
        "\("\(fileID)".split(separator: "/").last ?? ""):\(line)"
    }
}

/// The body of a step.
package enum StepBody {
    /// A closure of the app's, which runs where the manager was called.
    case closure((MigrationContext) throws -> Void)
    /// A closure of the app's that may suspend.
    case asynchronous(AsynchronousBody)
    /// Runs in a transaction of its place, and is recorded in that transaction.
    case transaction(any TransactionWork)
    /// Brings its place to a schema version.
    case schemaStep(any SchemaStepWork)
    /// A closure that runs after the launch, and saves where it is.
    case deferredClosure(AsynchronousBody)
    /// Runs after the launch, in batches.
    case batches(any BatchWork)

    /// A closure that may suspend, and runs on the actor that calls the manager.
    package typealias AsynchronousBody = nonisolated(nonsending) (MigrationContext) async throws -> Void

    var kind: MigrationStep.Kind {
        switch self {
        case .closure, .asynchronous: .closure
        case .transaction: .transaction
        case .schemaStep: .schemaStep
        case .deferredClosure: .deferredClosure
        case .batches: .batches
        }
    }

    /// True if only the asynchronous forms of `migrate` and `runDeferred` can run it.
    var isAsynchronous: Bool {
        switch self {
        case .asynchronous, .deferredClosure: true
        case .closure, .transaction, .schemaStep, .batches: false
        }
    }
}

/// The work of a step that runs in one transaction of a database.
package protocol TransactionWork: Sendable {
    /// Runs the body, and records the settlement in the same transaction. Any thread.
    func perform(_ context: MigrationContext, settlement: Settlement) throws
}

/// The work of a schema step: brings a database to a schema version.
package protocol SchemaStepWork: Sendable {
    /// True if it goes to the latest schema version, whatever that is.
    var goesToLatest: Bool { get }

    /// Applies what is pending. Any thread.
    func perform(_ context: MigrationContext) throws -> SchemaStepOutcome
}

/// The result of a schema step.
package struct SchemaStepOutcome: Sendable {
    /// The schema versions that were applied, in order.
    package let applied: [String]
    /// The unknown schema versions that were undone, newest first.
    package let undone: [String]
    /// Pre-existing problems in the database: a sentence each.
    package let warnings: [String]
    /// The size of the database, in bytes; nil for one in memory.
    package let databaseSize: Int64?

    package init(
        applied: [String], undone: [String] = [], warnings: [String] = [], databaseSize: Int64? = nil
    ) {
        self.applied = applied
        self.undone = undone
        self.warnings = warnings
        self.databaseSize = databaseSize
    }
}

/// Records a step in the transaction that does it, once its work is done.
package struct Settlement: Sendable {
    let work: MigrationWork
    let appVersion: AppVersion
    let started: ContinuousClock.Instant

    package var manager: String { work.manager }
    package var version: AppVersion { work.version }

    /// Returns true if another process has done the step since this one looked.
    package func isRecorded(in state: StoreState) throws -> Bool {
        try state.record(of: manager)?.hasSettled(version) ?? false
    }

    /// Records the step.
    ///
    /// - Throws: ``MigrationError``, when the record, which was written before the step, is gone.
    package func record(in state: inout StoreState) throws {
        try state.changeRecord(of: manager) { record in
            guard record != nil else {
                throw MigrationError(
                    .stepFailed, "the step removed the record of its manager",
                    remedy: "Keep the tables whose names begin with app_migrations. The step was rolled back."
                )
            }
            record?.settle(version)
        }
        state.newHistory.append(step)
    }

    /// The step, as it has just ended.
    var step: SettledStep {
        SettledStep(
            work, outcome: .ran, date: Date(),
            duration: ContinuousClock.now - started, appVersion: appVersion)
    }
}
