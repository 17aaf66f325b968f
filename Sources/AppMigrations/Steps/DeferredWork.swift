/// The body of a deferred step that works in batches, each in a transaction of a database.
package protocol DeferredWork: Sendable {
    /// Runs the next batch, and records how far the step is, or that it is done, in the same transaction.
    ///
    /// Any thread.
    ///
    /// - Throws: ``DeferredBatch/Failure``, when the body throws.
    func runBatch(_ batch: DeferredBatch) throws -> DeferredBatch.Outcome
}

/// A batch of a deferred step that is about to run.
package struct DeferredBatch: Sendable {
    package let settlement: Settlement
    /// The most rows, or calls of the body, that the batch may have.
    package var size: Int

    /// How a batch has ended.
    package struct Outcome: Sendable {
        /// How far the step is; nil when it is done.
        package let state: DeferredState?
        /// How long its rows took, without waiting for the database and without the commit.
        package let duration: Duration

        package init(state: DeferredState?, duration: Duration = .zero) {
            self.state = state
            self.duration = duration
        }
    }

    /// The body threw, and the batch was rolled back.
    package struct Failure: Error {
        /// The batch, as in `rows 5...12 of table photo`.
        package let title: String
        /// Whether a smaller batch could tell more.
        package let isDivisible: Bool
        package let cause: any Error

        package init(_ title: String, isDivisible: Bool, _ cause: any Error) {
            self.title = title
            self.isDivisible = isDivisible
            self.cause = cause
        }
    }
}

extension Error {
    /// The error that a step has thrown, without the batch in which it did.
    var cause: any Error { (self as? DeferredBatch.Failure)?.cause ?? self }

    /// The end of a message that quotes this error, if it says anything: ` in row 5 of table photo: no such file`.
    var inBatchAsCause: String {
        let text = "\(cause)"
        return ((self as? DeferredBatch.Failure).map { " in \($0.title)" } ?? "")
            + (text.isEmpty ? "" : ": \(text)")
    }
}
