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

        package init(state: DeferredState?) { self.state = state }
    }

    /// The body threw, and the batch was rolled back.
    package struct Failure: Error {
        /// The batch, as in `rows 5...12 of table photo`.
        package let title: String
        /// Whether a smaller batch could tell more.
        package let isDivisible: Bool
        package let reason: any Error

        package init(_ title: String, isDivisible: Bool, _ reason: any Error) {
            self.title = title
            self.isDivisible = isDivisible
            self.reason = reason
        }
    }
}
