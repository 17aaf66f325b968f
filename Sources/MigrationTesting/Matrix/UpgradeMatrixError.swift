public import Foundation
import MigrationDiagnostics
import TextOutput

/// An error that lists the versions whose upgrade fails or has a wrong result.
public struct UpgradeMatrixError: Error, Sendable {
    /// The report of all upgrades and all problems.
    public let report: UpgradeReport
}

extension UpgradeMatrixError: CustomStringConvertible, LocalizedError {
    /// The problems, each with its remedy; a problem that several versions share is listed once.
    public var description: String {
        var lines: [String] = []
        let failed = report.upgrades.count { !$0.problems.isEmpty }
        if failed > 0 {
            lines.append("\(failed) of \(report.upgrades.count.counting("upgrade")) failed.")
        }
        for (group, problems) in grouped {
            let diagnostic = group.diagnostic(from: problems.compactMap(\.start))
            lines += ["- \(diagnostic.message)", "  \(diagnostic.remedy)"]
        }
        return lines.joined(separator: "\n")
    }

    /// The problems, each with its remedy.
    public var errorDescription: String? { description }

    /// The problems in the order in which they were found, grouped if they differ only in the version.
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
