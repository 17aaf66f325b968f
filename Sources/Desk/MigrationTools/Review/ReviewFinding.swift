import Foundation

/// A problem that a review found.
package struct ReviewFinding: Sendable, Hashable {
    /// The file's name.
    package let file: String
    /// The line, from 1.
    package let line: Int
    /// The rule that the file breaks.
    package let rule: ReviewRule
    /// The severity, which is the rule's unless the project gives it another one.
    package internal(set) var severity: ReviewRule.Severity
    /// The problem and the remedy.
    package let reason: String
    /// The problem alone.
    let problem: String

    init(file: String, line: Int, rule: ReviewRule, problem: String? = nil, reason: String) {
        self.file = file
        self.line = line
        self.rule = rule
        severity = rule.severity
        self.reason = reason
        self.problem = problem ?? reason
    }

    /// The remedy alone; nil if it is a part of the problem's sentences.
    package var remedy: String? {
        let rest =
            reason.hasPrefix(problem) && reason != problem
            ? String(reason.dropFirst(problem.count)) : reason.hasSuffix(rule.remedy) ? rule.remedy : nil
        return rest.map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// Returns the finding with another severity.
    func with(_ severity: ReviewRule.Severity) -> ReviewFinding {
        var finding = self
        finding.severity = severity
        return finding
    }
}
