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
    private(set) var duration: Duration = .zero

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
                adapt()
                return outcome.state
            } catch let failure as DeferredBatch.Failure where failure.isDivisible && size > 1 {
                guard Obstacle(failure.reason) == nil, !(failure.reason is CancellationError) else {
                    throw failure
                }
                size = max(1, size / 2)
            }
        }
    }

    /// At most twice as large as the last batch, so that one slow row does not make a batch of seconds.
    private mutating func adapt() {
        if let fixedSize {
            size = fixedSize
            return
        }
        let ratio = Self.target.inSeconds / max(duration.inSeconds, 1e-6)
        size = min(Self.maximumSize, max(1, Int(Double(size) * min(2, ratio))))
    }
}
