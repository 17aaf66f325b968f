package import AppMigrations

/// The cause of a failure that an earlier run has met.
private struct FailedBefore: Error, CustomStringConvertible {
    var description: String { "set aside by an earlier run" }
}

extension BatchFailure {
    /// The failure of rows that are set aside.
    package static func setAside(_ title: String) -> Self { Self(title, FailedBefore()) }
}

/// Runs the batches of one deferred step, and finds the size with which a batch takes the target time.
///
/// The first batch is one row, so that a short run gets further, too. A batch that fails is halved, until the row to blame is alone.
/// That row is set aside, and the step goes on after it. Each run retries the rows that earlier runs have set aside, after all others.
package struct BatchRunner: BatchRun {
    /// Runs a batch.
    ///
    /// - Returns: the outcome, and how long the rows took, without waiting for the database and without the commit.
    /// - Throws: ``UndoneBatch``, when the body throws or takes too long.
    package typealias Run = (Batch) throws -> (BatchOutcome, Duration)

    private static let maximumSize = 100_000
    /// More rows than these are no bad rows, but a bad step.
    private static let maximumRowsSetAside = 100

    private let run: Run
    private let fixedSize: Int?
    private let limitsTime: Bool
    private var size: Int
    private var part: Batch.Part
    /// The indexes of the rows set aside that this run has not retried yet, in the order in which it does.
    private var retries: [Int]
    /// True if only rows are left that are set aside.
    private var isAtEnd = false
    /// True if no more rows can be set aside, and one has failed that would have to be.
    private var isBlocked = false
    private var rowsSetAside: Int
    private var lastFailure: BatchFailure?
    /// The index of the row whose retry has failed so.
    private var firstFailing = 0

    /// - Parameter rowsSetAside: how many rows earlier runs have set aside.
    package init(rowsSetAside: Int, in environment: Environment, _ run: @escaping Run) {
        self.run = run
        fixedSize = environment.observer?.batchSize
        limitsTime = environment.limitsTime
        size = fixedSize ?? 1
        self.rowsSetAside = rowsSetAside
        // A run may end before it has come to all of them: each begins with any of them.
        let first = environment.limitsTime ? Int.random(in: 0..<max(1, rowsSetAside)) : 0
        retries = Array(first..<rowsSetAside) + Array(0..<first)
        part = .next(size)
    }

    package mutating func next(_ settlement: Settlement, patience: Duration) throws -> BatchOutcome {
        while true {
            do {
                let (outcome, duration) = try run(
                    Batch(
                        part: part, settlement: settlement, isTimed: limitsTime && fixedSize == nil,
                        patience: patience))
                switch outcome {
                case .more(let position): advance(position, duration)
                case .rowsLeft(let position, let left):
                    isAtEnd = true
                    if !retries.isEmpty {
                        part = nextPart
                        return .more(position)
                    }
                    return .rowsLeft(position, BatchFailure(left.title, lastFailure?.cause ?? left.cause))
                case .done, .endedElsewhere, .overtaken, .undone: break
                }
                return outcome
            } catch let batch as UndoneBatch {
                try shrink(after: batch)
                // A run that ends here must not find the same row to blame again.
                if part != .setAside { return .undone }
            }
        }
    }

    private mutating func advance(_ position: StepPosition, _ duration: Duration) {
        rowsSetAside = position.setAside.count
        switch part {
        case .retry(let index):
            // The row is done, and those behind it move up.
            retries = retries.dropFirst().map { $0 > index ? $0 - 1 : $0 }
            isBlocked = false
        case .setAside: size = fixedSize ?? 1
        case .next: adapt(to: duration)
        }
        part = nextPart
    }

    private var nextPart: Batch.Part {
        (isAtEnd || isBlocked ? retries.first : nil).map(Batch.Part.retry) ?? .next(size)
    }

    /// Prepares a smaller batch, or the setting aside of a row.
    private mutating func shrink(after batch: UndoneBatch) throws {
        let failure = batch.failure
        // Nobody cancels a batch but the task that runs it.
        let isOwn = failure.cause.isOwnFailure || failure.cause is CancellationError && !Task.isCancelled
        guard failure.cause is BatchTimeOver || isOwn else { throw failure }
        switch part {
        case .retry(let index):
            // That of the first row, so that two runs name the same.
            if lastFailure == nil || index < firstFailing { (lastFailure, firstFailing) = (failure, index) }
            retries.removeFirst()
            part = nextPart
        case .next:
            if let smaller = batch.smallerSize {
                size = max(1, smaller)
                part = .next(size)
            } else if batch.isRow, rowsSetAside < Self.maximumRowsSetAside {
                lastFailure = failure
                part = .setAside
            } else if batch.isRow, !retries.isEmpty {
                // One that is done makes room for it.
                isBlocked = true
                part = nextPart
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
