import Foundation
import MigrationTools
import TextOutput

/// The output of `check`.
struct CheckReport: Encodable {
    /// With what the files were compared.
    enum Comparison: Equatable {
        case branch(String)
        /// Nothing, as was asked for.
        case unwanted
        /// Nothing, because no branch was found.
        case missing
    }

    /// The branch with which the files were compared.
    let since: String?
    let comparison: Comparison
    /// True if the check fails whatever was found: nothing was compared, and somebody relies on it.
    let isRefused: Bool
    let migrations: Int
    /// The migrations that could not be run.
    let notRun: [String]
    let errors: Int
    let warnings: Int
    let notes: Int
    let findings: [Finding]

    struct Finding: Encodable {
        let file: String
        let line: Int
        let rule: String
        let severity: String
        let reason: String
        /// The remedy at the end of the reason.
        let remedy: String?

        private enum CodingKeys: CodingKey {
            case file, line, rule, severity, reason
        }

        /// The reason without the remedy.
        var problem: String {
            guard let remedy, reason.hasSuffix(remedy) else { return reason }
            return reason.dropLast(remedy.count).trimmingCharacters(in: .whitespaces)
        }
    }

    private enum CodingKeys: CodingKey {
        case since, migrations, notRun, errors, warnings, notes, findings
    }

    init(_ review: FolderReview, comparison: Comparison, isRefused: Bool) {
        self.comparison = comparison
        self.isRefused = isRefused
        since = if case .branch(let name) = comparison { name } else { nil }
        migrations = review.count
        notRun = review.notRun
        errors = review.findings.count { $0.severity == .error }
        warnings = review.findings.count { $0.severity == .warning }
        notes = review.findings.count { $0.severity == .note }
        findings = review.findings.map {
            Finding(
                file: $0.file, line: $0.line, rule: $0.rule.name, severity: $0.severity.rawValue,
                reason: $0.reason, remedy: $0.remedy)
        }
    }

    /// Prints the report about the migrations of a folder.
    func print(_ format: CheckFormat, of directory: String) throws {
        switch format {
        case .text: printText(of: directory)
        case .json: try printJSON(self)
        case .sarif: try printJSON(SARIFLog(self, of: directory))
        case .github: printWorkflowCommands(of: directory)
        }
    }

    /// Prints a line for each finding in the format of compilers, so that editors can jump to it.
    ///
    /// In a terminal, the remedy follows in a line of its own, from which it can be copied.
    private func printText(of directory: String) {
        let style = Style()
        let isTerminal = FileHandle.standardOutput.isTerminal
        for finding in findings {
            let path = (directory as NSString).appendingPathComponent(finding.file)
            let severity =
                finding.severity == "error" ? style.bad("error:") : style.notable("\(finding.severity):")
            let remedy = isTerminal ? finding.remedy : nil
            // A value that is quoted may have several lines.
            let reason = (remedy == nil ? finding.reason : finding.problem)
                .split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
                .joined(separator: "\\n")
            Swift.print("\(path):\(finding.line): \(severity) \(reason) \(style.faint("[\(finding.rule)]"))")
            if let remedy { Swift.print("    \(remedy)") }
        }
        Swift.print(findings.isEmpty && !isRefused ? "\(style.good("✓")) \(summary)" : summary)
    }

    /// Prints a workflow command for each finding (GitHub Actions, Workflow commands).
    private func printWorkflowCommands(of directory: String) {
        for finding in findings {
            let command = finding.severity == "note" ? "notice" : finding.severity
            let file = Self.path(of: finding.file, in: directory).escapedForWorkflows(",", ":")
            let text = finding.reason.escapedForWorkflows()
            Swift.print("::\(command) file=\(file),line=\(finding.line),title=\(finding.rule)::\(text)")
        }
        Swift.print(summary)
    }

    private var summary: String {
        let comparison =
            switch comparison {
            case .branch(let name): ", and compared with \(name)"
            case .unwanted: ""
            case .missing: ", not compared with a branch"
            }
        let sum = "\(migrations.counting("migration")) checked\(comparison)\(omission)"
        guard !findings.isEmpty else { return "\(sum): nothing found" }
        let counts = [errors.counting("error"), warnings.counting("warning")]
        let notes = notes == 0 ? [] : [notes.counting("note")]
        return "\(sum): \((counts + notes).joined(separator: ", "))"
    }

    /// The migrations that did not run, in a clause.
    private var omission: String {
        guard !notRun.isEmpty else { return "" }
        let shown = notRun.prefix(3).joined(separator: ", ")
        let more = notRun.count > 3 ? " and \((notRun.count - 3).counting("other"))" : ""
        return "; \(notRun.count) of them did not run (\(shown)\(more))"
    }

    /// Returns a file's path, from the root of the repository if a workflow of GitHub says where it is.
    static func path(of file: String, in directory: String) -> String {
        let path = (directory as NSString).appendingPathComponent(file)
        guard let root = ProcessInfo.processInfo.environment["GITHUB_WORKSPACE"], !root.isEmpty else {
            return path
        }
        let prefix = URL(fileURLWithPath: root, isDirectory: true).resolvingSymlinksInPath().path + "/"
        let whole = URL(fileURLWithPath: directory, isDirectory: true).resolvingSymlinksInPath()
            .appendingPathComponent(file).path
        return whole.hasPrefix(prefix) ? String(whole.dropFirst(prefix.count)) : path
    }
}

extension String {
    /// The text with what would end a workflow command, or one of its properties, in codes.
    fileprivate func escapedForWorkflows(_ others: Character...) -> String {
        var text = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "%", "\r", "\n": text += scalar.percentCode
            case _ where others.contains(Character(scalar)): text += scalar.percentCode
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

extension Unicode.Scalar {
    fileprivate var percentCode: String { String(format: "%%%02X", value) }
}
