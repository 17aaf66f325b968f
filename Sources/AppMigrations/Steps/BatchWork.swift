/// The work of a deferred step that runs in batches, each in a transaction of a database.
package protocol BatchWork: Sendable {
    /// Returns where the step begins: its bounds, and the number of rows between them.
    ///
    /// Reads, and does not write. Any thread.
    ///
    /// - Throws: ``MigrationError``, when the work cannot be cut into batches in this way.
    func begin() throws -> StepPosition

    /// Returns the batches of one run.
    ///
    /// - Parameter position: where earlier runs have left the step.
    func batches(from position: StepPosition, in environment: Environment) -> any BatchRun

    /// Returns true if the step has run, and is needed again. Any thread.
    func isNeededAgain() throws -> Bool

    /// Returns false if the step is not needed again, or nothing is left that its condition could ask about: what it reads may
    /// be destroyed then. Any thread.
    func mayBeNeededAgain() throws -> Bool
}

/// The batches of a deferred step, as one run goes through them.
package protocol BatchRun {
    /// Runs the next batch, and records in the same transaction how far the step is, or that it is done.
    ///
    /// Any thread.
    ///
    /// - Parameter patience: how long to wait for the database.
    /// - Throws: ``BatchFailure``, when a row or call fails and cannot be set aside; then the batch was rolled back.
    mutating func next(_ settlement: Settlement, patience: Duration) throws -> BatchOutcome
}

/// The result of a batch.
package enum BatchOutcome: Sendable {
    /// There is more to do.
    case more(StepPosition)
    /// The batch has failed, and was rolled back; the next one is smaller, or another.
    case undone
    /// The step is done, and recorded as such.
    case done
    /// Everything is done but for the rows that are set aside; the failure names them.
    case rowsLeft(StepPosition, BatchFailure)
    /// The step is no longer pending: another process has settled it, or its record was removed.
    case endedElsewhere
    /// A newer version of the app has begun to migrate the database, and left the step to itself.
    case overtaken
}

/// A failure in a batch, which was rolled back.
package struct BatchFailure: Error {
    /// The rows or the call to blame, as in `row 5 of table photo`.
    package let title: String
    package let cause: any Error

    package init(_ title: String, _ cause: any Error) {
        self.title = title
        self.cause = cause
    }
}
