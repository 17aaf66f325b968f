import Foundation

/// Runs the batches of one deferred step, and finds the size with which a batch takes the target time.
struct BatchRunner: Sendable {
    /// The time that a batch should take.
    static let target: Duration = .milliseconds(50)
    private static let firstSize = 64
    private static let maximumSize = 100_000

    let work: any DeferredWork
    let settlement: Settlement
    private let fixedSize = SimulatedLaunch.witness?.batchSize
    private var size: Int
    /// How long the last batch took.
    var duration: Duration = .zero

    init(_ work: any DeferredWork, _ settlement: Settlement) {
        self.work = work
        self.settlement = settlement
        size = fixedSize ?? Self.firstSize
    }

    /// Runs the next batch.
    ///
    /// A batch that throws is halved, down to the row that is to blame.
    ///
    /// - Returns: how far the step is; nil when it is done.
    mutating func next() throws -> DeferredState? {
        while true {
            let start = ContinuousClock.now
            do {
                let outcome = try work.runBatch(DeferredBatch(settlement: settlement, size: size))
                duration = .now - start
                adapt(to: outcome.duration)
                return outcome.state
            } catch let failure as DeferredBatch.Failure where failure.isDivisible && size > 1 {
                guard Obstacle(failure.cause) == nil, !(failure.cause is CancellationError) else {
                    throw failure
                }
                size = max(1, size / 2)
            }
        }
    }

    /// Runs the next batch of a deferred run, unless that is over, and records how it ended.
    mutating func next(_ record: DeferredRecord, isOver: Bool) throws -> BatchEnding {
        guard !isOver, let release = try record.lockBatch() else {
            try record.stop()
            return .interrupted(isRunningElsewhere: !isOver)
        }
        defer { release() }
        do {
            return try next().map(BatchEnding.more) ?? .done
        } catch {
            return try record.fail(error)
        }
    }

    /// How long the database belongs to the app after the last batch: as long as that took.
    ///
    /// At most a second, since a process that was suspended in a batch would pause for hours, and not beyond the deadline.
    func pause(before deadline: ContinuousClock.Instant?) -> Duration {
        let longest = min(duration, .seconds(1))
        return deadline.map { max(.zero, min(longest, $0 - .now)) } ?? longest
    }

    /// Does the same as a synchronous method, where waiting hurts nobody.
    mutating func offloading<Result: Sendable>(
        isolation: isolated (any Actor)?, _ body: @escaping @Sendable (inout BatchRunner) throws -> Result
    ) async throws -> Result {
        let (runner, result) = try await offload { [self] in
            var runner = self
            let result = try body(&runner)
            return (runner, result)
        }
        self = runner
        return result
    }

    /// At most twice as large as the last batch, so that one slow row does not make a batch of seconds.
    ///
    /// Only what the rows took counts: where a commit takes longer than the target, smaller batches would not help.
    private mutating func adapt(to duration: Duration) {
        if let fixedSize {
            size = fixedSize
            return
        }
        let ratio = Self.target.inSeconds / max(duration.inSeconds, 1e-6)
        size = min(Self.maximumSize, max(1, Int(Double(size) * min(2, ratio))))
    }
}

/// How a batch of a deferred run has ended, as the record says.
enum BatchEnding: Sendable {
    /// There is more to do.
    case more(DeferredState)
    /// The step is done.
    case done
    /// The run is over, or another process has taken the step.
    case interrupted(isRunningElsewhere: Bool)
    /// The batch threw; a best-effort step may be skipped for good.
    case failed(any Error, isSkipped: Bool)
}
