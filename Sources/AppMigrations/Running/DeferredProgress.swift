import Foundation

/// The progress of deferred steps: each counts the same, and within a step, the rows done of the rows there were.
final class DeferredProgress {
    private static let unitsPerStep: Int64 = 1000
    private let total: Progress
    private var units: [Int64]
    private let settledBefore: Int

    /// Notes how far the steps are.
    ///
    /// - Parameter settledBefore: the number of steps that earlier runs have settled.
    init(_ total: Progress, _ steps: [PendingWork], settledBefore: Int) {
        self.total = total
        self.settledBefore = settledBefore
        units = steps.map { Self.units(done: $0.done, of: $0.total) }
        total.totalUnitCount = max(1, Int64(steps.count + settledBefore) * Self.unitsPerStep)
        show()
    }

    func note(_ position: StepPosition, of index: Int) {
        units[index] = Self.units(done: position.done, of: position.total)
        show()
    }

    func finish(_ index: Int) {
        units[index] = Self.unitsPerStep
        show()
    }

    private func show() {
        total.completedUnitCount = units.reduce(Int64(settledBefore) * Self.unitsPerStep, +)
    }

    private static func units(done: Int, of total: Int?) -> Int64 {
        guard let total, total > 0 else { return 0 }
        return Int64(Double(min(done, total)) / Double(total) * Double(unitsPerStep))
    }
}
