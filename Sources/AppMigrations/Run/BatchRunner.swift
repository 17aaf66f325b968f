import Foundation

/// Runs the batches of one deferred step, and finds the size with which a batch takes the target time.
struct BatchRunner: Sendable {
    /// The time that a batch should take.
    static let target: Duration = .milliseconds(50)
    private static let firstSize = 64
    private static let maximumSize = 100_000

    let work: any BatchWork
    private let fixedSize = SimulatedLaunch.observer?.batchSize
    private var size: Int
    /// How long the last batch took.
    var duration: Duration = .zero

    init(_ work: any BatchWork) {
        self.work = work
        size = fixedSize ?? Self.firstSize
    }

    /// Runs the next batch.
    ///
    /// A batch that throws is halved, down to the row that is to blame.
    ///
    /// - Returns: how far the step is; nil when it is done.
    mutating func next(_ settlement: Settlement) throws -> StepPosition? {
        while true {
            let start = ContinuousClock.now
            do {
                let outcome = try work.runBatch(settlement, size: size)
                duration = .now - start
                adapt(to: outcome.duration)
                return outcome.position
            } catch let failure as BatchFailure where failure.isDivisible && size > 1 {
                guard Obstacle(failure.cause) == nil, !(failure.cause is CancellationError) else {
                    throw failure
                }
                size = max(1, size / 2)
            }
        }
    }

    /// How long the database belongs to the app after the last batch: as long as that took.
    ///
    /// At most a second, since a process that was suspended in a batch would pause for hours, and not beyond the deadline.
    func pause(before deadline: ContinuousClock.Instant?) -> Duration {
        let longest = min(duration, .seconds(1))
        return deadline.map { max(.zero, min(longest, $0 - .now)) } ?? longest
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
