import Foundation
import PlainSQLite

/// Lets SQLite's allocations fail, once and from then on.
///
/// GRDB ends the process when it cannot bind an argument, and when there is no memory left for a `ROLLBACK` either:
/// that must be as harmless as a kill. Every other failure is an error.
struct AllocationSweep: Sweep {
    static let name = "allocate"

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
            // What a trap says is told from its first line.
            dup2(STDOUT_FILENO, STDERR_FILENO)
            guard scarce_memory_begin(failure.allocation, failure.extent == .onward) == 0 else { return }
            launch.run()
        }
        let isOver = end.lines.contains { line in
            line.hasPrefix("GRDB/Utils.swift")
                || (failure.extent == .onward && line.hasPrefix("GRDB/SerializedDatabase.swift"))
        }
        return try isOver
            ? laboratory.complaints(afterDeath: end) : laboratory.complaints(afterTrouble: end)
    }
}
