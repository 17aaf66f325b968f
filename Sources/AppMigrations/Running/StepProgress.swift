import Foundation

/// The progress of a step, whose total an app may set to the number of its files, even if there are none.
///
/// Foundation on Linux divides by the total of a child.
final class StepProgress: Progress, @unchecked Sendable {
    override var totalUnitCount: Int64 {
        get { super.totalUnitCount }
        set { super.totalUnitCount = newValue == 0 ? 1 : newValue }
    }
}

extension Progress {
    func finish() {
        totalUnitCount = max(1, totalUnitCount)
        completedUnitCount = totalUnitCount
    }
}
