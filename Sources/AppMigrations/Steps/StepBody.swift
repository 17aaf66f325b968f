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
    /// The closures for a change of the app's version.
    case versionChange([VersionChange])

    /// A closure that may suspend, and runs on the actor that calls the manager.
    package typealias AsynchronousBody = nonisolated(nonsending) (MigrationContext) async throws -> Void

    var kind: MigrationStep.Kind {
        switch self {
        case .closure, .asynchronous: .closure
        case .transaction: .transaction
        case .schemaStep: .schemaStep
        case .deferredClosure: .deferredClosure
        case .batches: .batches
        case .versionChange: .versionChange
        }
    }

    /// True if only the asynchronous forms of `migrate` and `runDeferred` can run it.
    var isAsynchronous: Bool {
        switch self {
        case .asynchronous, .deferredClosure: true
        case .closure, .transaction, .schemaStep, .batches: false
        case .versionChange(let changes): changes.contains(where: \.isAsynchronous)
        }
    }
}

/// The work of a step that runs in one transaction of a database.
package protocol TransactionWork: Sendable {
    /// Runs the body, and records the settlement in the same transaction. Any thread.
    func perform(_ context: MigrationContext, settlement: Settlement) throws
}
