package import Foundation

/// A progress whose numbers an app may set to whatever it counts.
///
/// Foundation on Linux divides by the total of a child, and traps where sums of fractions overflow: so there is a total, and no more
/// units are complete than that. A part that is complete stays so: its parent has counted it, and would take it back twice.
package final class StepProgress: Progress, @unchecked Sendable {
    private static let greatestTotal: Int64 = 1 << 40
    private var isPart = false

    /// Creates a part of another progress that counts so many of its units.
    package convenience init(partOf whole: Progress, counting units: Int64) {
        self.init(totalUnitCount: 1, parent: whole, pendingUnitCount: units)
        isPart = true
    }

    private var isCounted: Bool { isPart && isFinished }

    package override var totalUnitCount: Int64 {
        get { super.totalUnitCount }
        set {
            if isCounted { return }
            let total = min(max(1, newValue), Self.greatestTotal)
            super.completedUnitCount = min(super.completedUnitCount, total)
            super.totalUnitCount = total
        }
    }

    package override var completedUnitCount: Int64 {
        get { super.completedUnitCount }
        set { if !isCounted { super.completedUnitCount = min(max(0, newValue), super.totalUnitCount) } }
    }
}

extension Progress {
    package func finish() {
        totalUnitCount = max(1, totalUnitCount)
        completedUnitCount = totalUnitCount
    }
}
