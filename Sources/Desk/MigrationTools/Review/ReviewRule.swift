/// A rule that a review of migrations checks: a name, a sentence, and how to do it right.
///
/// The list of all rules is in `ReviewRule+All.swift`.
package struct ReviewRule: Sendable {
    /// The severity of a finding.
    package enum Severity: String, CaseIterable, Sendable {
        /// The migrations should not be shipped as they are.
        case error
        /// The author should have a second look.
        case warning
        /// The author may want to know.
        case note
    }

    /// The place of the comment that allows a finding.
    enum Scope {
        /// Directly above the statement.
        case statement
        /// Before the file's first statement.
        case file
    }

    /// The name, which an `allow:` comment names.
    package let name: String
    /// The severity of the findings.
    package let severity: Severity
    /// The problem that the rule finds, in a few words.
    package let summary: String
    /// How to do it right, in a sentence.
    package let remedy: String
    let scope: Scope
    /// True if it is about what nobody has tried, which is an error where nobody reads notes.
    var isAboutGap: Bool { [.untried, .stepLimit].contains(self) }

    init(
        _ name: String, _ severity: Severity, _ summary: String, remedy: String, scope: Scope = .statement
    ) {
        self.name = name
        self.severity = severity
        self.summary = summary
        self.remedy = remedy
        self.scope = scope
    }
}

extension ReviewRule: Hashable {
    package static func == (first: ReviewRule, second: ReviewRule) -> Bool { first.name == second.name }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
