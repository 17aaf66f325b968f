import AppMigrations
import Foundation

/// A step that ran.
struct CompletedStep: Sendable {
    let version: AppVersion
    let manager: String
    /// What it did, in a few words.
    let work: String
    let duration: Duration
}

/// Notes what steps do, and how long they take.
///
/// `@unchecked`: what can change is read and written under the lock only. Steps in a database run on its
/// queue.
final class StepLog: @unchecked Sendable {
    private let lock = NSLock()
    private var steps: [CompletedStep] = []

    /// Runs a step's work, and notes it when it has succeeded.
    ///
    /// - Parameter work: says what it did.
    func record(_ context: MigrationContext, _ work: () throws -> String) throws {
        let started = ContinuousClock.now
        let text = try work()
        let step = CompletedStep(
            version: context.version, manager: context.manager, work: text,
            duration: started.duration(to: .now))
        lock.withLock { steps.append(step) }
    }

    /// The steps of one manager, in the order in which they ran.
    func steps(of manager: String) -> [CompletedStep] {
        lock.withLock { steps.filter { $0.manager == manager } }
    }
}
