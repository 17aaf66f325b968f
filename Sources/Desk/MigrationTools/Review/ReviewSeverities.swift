import Foundation
import MigrationDiagnostics
import SchemaMigrations

/// The severities that a project gives to rules, in a file beside its migrations.
///
/// Each line of `check.rules` names a rule and a severity, or `off`. `#` begins a comment.
///
/// ```
/// renamed-column: error   # the widget reads these tables
/// name-style: off
/// ```
struct ReviewSeverities {
    /// The name of the file.
    static let fileName = "check.rules"

    /// The severity by the name of a rule; nil for one that is off.
    private var severities: [String: ReviewRule.Severity?] = [:]
    /// The lines that are not understood.
    private(set) var findings: [ReviewFinding] = []

    /// Reads the file of a folder, which need not exist.
    init(in folder: URL) throws {
        guard let text = try SettingsFile.text(Self.fileName, in: folder) else { return }
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (number, line) in lines.enumerated() {
            let words = line.prefix { $0 != "#" }.split { $0.isWhitespace || $0 == ":" || $0 == "=" }
            guard !words.isEmpty else { continue }
            let rule = ReviewRule.all.first { $0.name == words[0] }
            let severity = words.count == 2 ? ReviewRule.Severity(rawValue: String(words[1])) : nil
            guard let rule, severity != nil || words.count == 2 && words[1] == "off" else {
                findings.append(
                    ReviewFinding(
                        file: Self.fileName, line: number + 1, rule: .unknownRule,
                        reason: """
                            \(rule == nil ? "There is no rule \(words[0])." : "\(words.dropFirst().joined(separator: " ")) is not a severity.") \
                            Write a rule that `app-migrations help check` lists, a colon, and error, warning, note or off.
                            """))
                continue
            }
            severities[rule.name] = .some(severity)
        }
    }

    /// Returns the findings with the severities of the project, without those that are off.
    func apply(to findings: [ReviewFinding]) -> [ReviewFinding] {
        findings.compactMap { finding in
            guard let severity = severities[finding.rule.name] else { return finding }
            return severity.map(finding.with)
        }
    }
}
