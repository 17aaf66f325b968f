/// The work of a deferred step that runs in batches, each in a transaction of a database.
package protocol BatchWork: Sendable {
    /// Returns where the step begins: its bounds, and the number of rows between them.
    ///
    /// Reads, and does not write. Any thread.
    ///
    /// - Throws: ``MigrationError``, when the work cannot be cut into batches in this way.
    func begin() throws -> StepPosition

    /// Runs a batch, and records in the same transaction how far the step is, or that it is done.
    ///
    /// Any thread.
    ///
    /// - Throws: ``BatchFailure``, when the body throws or takes too long; then the batch was rolled back.
    func run(_ batch: Batch) throws -> BatchOutcome

    /// Returns true if the step has run, and is needed again. Any thread.
    func isNeededAgain() throws -> Bool

    /// Returns false if the step is not needed again, or nothing is left that its condition could ask about: what it reads may
    /// be destroyed then. Any thread.
    func mayBeNeededAgain() throws -> Bool
}

extension BatchWork {
    package func isNeededAgain() -> Bool { false }

    package func mayBeNeededAgain() throws -> Bool { try isNeededAgain() }
}

/// A batch to run.
package struct Batch: Sendable {
    /// The rows of a batch.
    package enum Part: Sendable, Equatable {
        /// The next rows, or calls of the body, at most so many.
        case next(Int)
        /// The next row, which has failed on its own: it is set aside without running the body.
        case setAside
        /// The row with this index among those that are set aside.
        case retry(Int)
    }

    package let part: Part
    package let settlement: Settlement
    /// True if ``target`` and ``limit`` apply; false in a simulated launch, where time decides nothing.
    package let isTimed: Bool
    /// How long to wait for the database.
    package let patience: Duration

    /// The time that a batch should take.
    package static let target: Duration = .milliseconds(50)
    /// The longest time for which a batch may hold the database, unless it has one row alone.
    package static let limit: Duration = .milliseconds(250)
}

/// The result of a batch.
package enum BatchOutcome: Sendable {
    /// There is more to do. The duration is that of the rows, without waiting for the database and without the commit.
    case more(StepPosition, Duration)
    /// The step is done, and recorded as such.
    case done
    /// Everything is done but for the rows that are set aside, as in `row 7 of table photo`.
    case rowsLeft(StepPosition, String)
    /// The step is no longer pending: another process has settled it, or its record was removed.
    case endedElsewhere
}

/// A batch that was rolled back, because its body threw or took too long.
package struct BatchFailure: Error {
    /// The batch, as in `row 5 of table photo`.
    let title: String
    /// The size of a smaller batch that could say more; nil if there is none.
    let smallerSize: Int?
    /// True if the batch is a row that can be set aside.
    let isRow: Bool
    let cause: any Error

    package init(_ title: String, smallerSize: Int?, isRow: Bool, _ cause: any Error) {
        self.title = title
        self.smallerSize = smallerSize
        self.isRow = isRow
        self.cause = cause
    }
}

/// A batch has reached ``Batch/limit``.
package struct BatchTimeOver: Error {
    package init() {}
}
