import Foundation

/// The progress of deferred steps: each counts the same, and within a step, the rows done of the rows there were.
final class DeferredProgress {
    let total: Progress
    private static let unitsPerStep: Int64 = 1000
    private var units: [Int64]
    private let settledBefore: Int

    /// Notes how far the steps are.
    ///
    /// - Parameter settledBefore: the number of steps that earlier runs have settled.
    init(_ total: Progress, _ steps: [LaunchPlan.PendingStep], settledBefore: Int) {
        self.total = total
        self.settledBefore = settledBefore
        units = steps.map { Self.units($0.deferred) }
        total.totalUnitCount = max(1, Int64(steps.count + settledBefore) * Self.unitsPerStep)
        show()
    }

    func note(_ state: DeferredState, of index: Int) {
        units[index] = Self.units(state)
        show()
    }

    func finish(_ index: Int) {
        units[index] = Self.unitsPerStep
        show()
    }

    private func show() {
        total.completedUnitCount = units.reduce(Int64(settledBefore) * Self.unitsPerStep, +)
    }

    private static func units(_ state: DeferredState) -> Int64 {
        guard let total = state.total, total > 0 else { return 0 }
        return Int64(Double(min(state.done, total)) / Double(total) * Double(unitsPerStep))
    }
}
