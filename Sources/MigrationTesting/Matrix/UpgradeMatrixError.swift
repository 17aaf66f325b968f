public import Foundation

/// Some version does not upgrade as it should.
public struct UpgradeMatrixError: Error, Sendable {
    /// Everything that was tried, and what was found.
    public let report: UpgradeReport
}

extension UpgradeMatrixError: CustomStringConvertible, LocalizedError {
    /// What is wrong, each with what to do about it; problems that several versions share are told once.
    public var description: String {
        var lines: [String] = []
        let failed = report.upgrades.count { !$0.problems.isEmpty }
        if failed > 0 {
            lines.append("\(failed) of \(report.upgrades.count.counting("upgrade")) failed.")
        }
        for (group, problems) in grouped {
            lines.append("- \(group.sentence(from: problems.compactMap(\.start)))")
            if !group.remedy.isEmpty { lines.append("  \(group.remedy)") }
        }
        return lines.joined(separator: "\n")
    }

    /// What is wrong, each with what to do about it.
    public var errorDescription: String? { description }

    /// The problems by what they say, whatever the version, in the order in which they were found.
    private var grouped: [(first: UpgradeProblem, all: [UpgradeProblem])] {
        var groups: [(first: UpgradeProblem, all: [UpgradeProblem])] = []
        for problem in report.problems {
            if let index = groups.firstIndex(where: { $0.first.isSame(as: problem) }) {
                groups[index].all.append(problem)
            } else {
                groups.append((problem, [problem]))
            }
        }
        return groups
    }
}
