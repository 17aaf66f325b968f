import Foundation
import ScarceMemory

/// Lets SQLite's allocations fail, once and from then on.
///
/// When every allocation fails, SQLite cannot even prepare a `ROLLBACK`, and GRDB ends the process: that must be as
/// harmless as a kill. One failure is an error.
struct AllocationSweep {
    struct Case: CustomStringConvertible {
        let allocation: Int64
        let extent: Fault.Extent

        var description: String { "\(allocation):\(extent)" }
    }

    let laboratory: Laboratory
    /// Every case there is.
    let cases: [Case]

    init(_ laboratory: Laboratory) throws {
        self.laboratory = laboratory
        try laboratory.reset()
        let launch = laboratory.undisturbed
        let end = try Child.run {
            guard scarce_memory_begin(-1, false) == 0 else { return }
            launch.run()
            launch.report("allocations \(scarce_memory_count())")
        }
        guard let count = end.lines.last?.split(separator: " ").last.flatMap({ Int64($0) }) else {
            throw Laboratory.Unusable(end)
        }
        cases = (0..<count).flatMap { number in
            Fault.Extent.allCases.map { Case(allocation: number, extent: $0) }
        }
    }

    /// Tries a case.
    ///
    /// - Returns: what was wrong.
    func complaints(_ failure: Case) throws -> [String] {
        try laboratory.reset()
        let launch = laboratory.undisturbed
        let end = try Child.run {
            guard scarce_memory_begin(failure.allocation, failure.extent == .onward) == 0 else { return }
            launch.run()
        }
        let isOver = failure.extent == .onward && (end.signal == SIGILL || end.signal == SIGTRAP)
        return try isOver
            ? laboratory.complaints(afterDeath: end) : laboratory.complaints(afterTrouble: end)
    }
}
