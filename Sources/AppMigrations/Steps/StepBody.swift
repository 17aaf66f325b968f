/// The body of a step.
package enum StepBody: Sendable {
    /// A closure of the app's, which a run asks the manager's caller to run: its index among them.
    case closure(Int, isAsynchronous: Bool)
    /// Runs in a transaction of its place, and is recorded in that transaction.
    case transaction(any TransactionWork)
    /// Brings its place to a schema version.
    case schemaStep(any SchemaStepWork)
    /// A closure of the app's that runs after the launch, and saves where it is: its index among them.
    case deferredClosure(Int)
    /// Runs after the launch, in batches.
    case batches(any BatchWork)
    /// The closures of the app's for a change of its version: their indexes.
    case versionChange([Int])

    var kind: MigrationStep.Kind {
        switch self {
        case .closure: .closure
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
        case .closure(_, let isAsynchronous): isAsynchronous
        case .deferredClosure: true
        case .transaction, .schemaStep, .batches, .versionChange: false
        }
    }
}

/// A closure of the app's, which stays where the manager is.
enum StepClosure {
    case plain((MigrationContext) throws -> Void)
    /// May suspend, and runs on the actor that calls the manager.
    case asynchronous(AsynchronousBody)

    typealias AsynchronousBody = nonisolated(nonsending) (MigrationContext) async throws -> Void

    var isAsynchronous: Bool {
        if case .asynchronous = self { true } else { false }
    }
}

/// The work of a step that runs in one transaction of a database.
package protocol TransactionWork: Sendable {
    /// Runs the body, and records the settlement in the same transaction. Any thread.
    func perform(_ context: MigrationContext, settlement: Settlement) throws

    /// Returns true if the step has run, and is needed again. Any thread.
    func isNeededAgain() throws -> Bool
}
