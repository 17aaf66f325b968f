import Foundation

/// A progress whose numbers an app may set to whatever it counts.
///
/// Foundation on Linux divides by the total of a child, and traps where sums of fractions overflow: so there is a total, and no more
/// units are complete than that.
final class StepProgress: Progress, @unchecked Sendable {
    private static let greatestTotal: Int64 = 1 << 40

    override var totalUnitCount: Int64 {
        get { super.totalUnitCount }
        set {
            let total = min(max(1, newValue), Self.greatestTotal)
            super.completedUnitCount = min(super.completedUnitCount, total)
            super.totalUnitCount = total
        }
    }

    override var completedUnitCount: Int64 {
        get { super.completedUnitCount }
        set { super.completedUnitCount = min(max(0, newValue), super.totalUnitCount) }
    }
}

extension Progress {
    func finish() {
        totalUnitCount = max(1, totalUnitCount)
        completedUnitCount = totalUnitCount
    }
}
