import Foundation

/// The cause of a failure that an earlier run has met.
private struct FailedBefore: Error, CustomStringConvertible {
    var description: String { "set aside by an earlier run" }
}

/// Runs the batches of one deferred step, and finds the size with which a batch takes the target time.
///
/// A batch that fails is halved, until the row to blame is alone. That row is set aside, and the step goes on after it.
/// Each run begins with the rows that earlier runs have set aside.
struct BatchRunner: Sendable {
    private static let firstSize = 8
    private static let maximumSize = 100_000
    /// More rows than these are no bad rows, but a bad step.
    private static let maximumRowsSetAside = 100

    let work: any BatchWork
    private let fixedSize: Int?
    private let limitsTime: Bool
    private var size: Int
    private var part: Batch.Part
    /// The number of rows set aside that this run has not retried yet.
    private var retriesLeft: Int
    private var rowsSetAside: Int
    private var lastFailure: BatchFailure?
    /// How long the last batch took.
    var duration: Duration = .zero

    /// - Parameter rowsSetAside: how many rows earlier runs have set aside.
    init(_ work: any BatchWork, rowsSetAside: Int, in environment: Environment) {
        self.work = work
        fixedSize = environment.observer?.batchSize
        limitsTime = environment.limitsTime
        size = fixedSize ?? Self.firstSize
        self.rowsSetAside = rowsSetAside
        retriesLeft = rowsSetAside
        part = rowsSetAside > 0 ? .retry(0) : .next(size)
    }

    /// Runs the next batch.
    ///
    /// - Throws: ``BatchFailure``, when a row or call fails and cannot be set aside.
    mutating func next(_ settlement: Settlement, patience: Duration) throws -> BatchOutcome {
        while true {
            let start = ContinuousClock.now
            do {
                let outcome = try work.run(
                    Batch(
                        part: part, settlement: settlement, isTimed: limitsTime && fixedSize == nil,
                        patience: patience))
                duration = .now - start
                if case .more(let position, let duration) = outcome { advance(position, duration) }
                return outcome
            } catch let failure as BatchFailure {
                try shrink(after: failure)
            }
        }
    }

    /// Returns the failure of a run that has done everything but rows with this title.
    func failure(leaving title: String) -> BatchFailure {
        BatchFailure(title, smallerSize: nil, isRow: false, lastFailure?.cause ?? FailedBefore())
    }

    /// How long the database belongs to the app after the last batch: as long as that took.
    ///
    /// At most a second, since a process that was suspended in a batch would pause for hours, and not beyond the deadline.
    func pause(before deadline: ContinuousClock.Instant?) -> Duration {
        let longest = min(duration, .seconds(1))
        return deadline.map { max(.zero, min(longest, $0 - .now)) } ?? longest
    }

    private mutating func advance(_ position: StepPosition, _ duration: Duration) {
        rowsSetAside = position.setAside.count
        switch part {
        case .retry(let index):
            // The row is done, and the next one has taken its place.
            retry(index)
        case .setAside:
            size = fixedSize ?? 1
            part = .next(size)
        case .next:
            adapt(to: duration)
            part = .next(size)
        }
    }

    private mutating func retry(_ index: Int) {
        retriesLeft -= 1
        part = retriesLeft > 0 ? .retry(index) : .next(size)
    }

    /// Prepares a smaller batch, or the setting aside of a row.
    private mutating func shrink(after failure: BatchFailure) throws {
        let isTimeOver = failure.cause is BatchTimeOver
        guard isTimeOver || failure.cause.isOwnFailure else { throw failure }
        switch part {
        case .retry(let index):
            lastFailure = failure
            retry(index + 1)
        case .next:
            if let smaller = failure.smallerSize {
                size = max(1, smaller)
                part = .next(size)
            } else if failure.isRow, rowsSetAside < Self.maximumRowsSetAside {
                lastFailure = failure
                part = .setAside
            } else {
                throw failure
            }
        case .setAside: throw failure
        }
    }

    /// At most twice as large as the last batch, so that little is undone where slow rows follow quick ones.
    ///
    /// Only what the rows took counts: where a commit takes longer than the target, smaller batches would not help.
    private mutating func adapt(to duration: Duration) {
        if let fixedSize {
            size = fixedSize
            return
        }
        let ratio = Batch.target.inSeconds / max(duration.inSeconds, 1e-6)
        size = min(Self.maximumSize, max(1, Int(Double(size) * min(2, ratio))))
    }
}
