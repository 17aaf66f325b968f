package import AppMigrations

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
    let isTimed: Bool
    /// How long to wait for the database.
    let patience: Duration

    /// The time that a batch should take.
    static let target: Duration = .milliseconds(50)
    /// The longest time for which a batch may hold the database, unless it has one row alone.
    static let limit: Duration = .milliseconds(250)
}

/// A batch that was rolled back, because its body threw or took too long.
package struct UndoneBatch: Error {
    let failure: BatchFailure
    /// The size of a smaller batch that could say more; nil if there is none.
    let smallerSize: Int?
    /// True if the batch is a row that can be set aside.
    let isRow: Bool

    package init(_ title: String, smallerSize: Int?, isRow: Bool, _ cause: any Error) {
        failure = BatchFailure(title, cause)
        self.smallerSize = smallerSize
        self.isRow = isRow
    }
}

/// A batch has reached ``Batch/limit``.
struct BatchTimeOver: Error {}
