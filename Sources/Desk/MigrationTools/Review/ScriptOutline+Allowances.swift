import SchemaMigrations

extension ScriptOutline {
    /// Returns whether a comment in the script allows a finding.
    func allows(_ finding: ReviewFinding) -> Bool {
        // A baseline repeats what the files have made that it replaces.
        if script.baseline != nil, finding.rule.scope == .statement { return true }
        func allows(_ comment: SQLScript.Comment) -> Bool { comment.allowedRules.contains(finding.rule.name) }
        guard finding.rule.scope == .statement else {
            return script.comments.contains { $0.precedesStatements && allows($0) }
        }
        // The comments directly above the statement, but not what stands behind another one.
        let lines = Dictionary(grouping: script.comments, by: \.line)
        var line = finding.line - 1
        while let comments = lines[line], !hasStatement(on: line) {
            if comments.contains(where: allows) { return true }
            line -= 1
        }
        return false
    }

    /// Returns whether a statement stands on a line, which has a comment.
    private func hasStatement(on line: Int) -> Bool {
        guard let statement = script.statements.last(where: { $0.line <= line }) else { return false }
        return statement.line + script.wholeText(of: statement).utf8.count { $0 == UInt8(ascii: "\n") }
            >= line
    }
}

extension SQLScript.Comment {
    /// The rules whose findings the comment allows: `-- allow: drop-table, drop-column`.
    var allowedRules: [String] { text[...].allowedRules(after: "--") }
}

extension Substring {
    /// Returns the rules that a line allows, if it is a comment that begins with a mark.
    func allowedRules(after mark: String) -> [String] {
        guard hasPrefix(mark) else { return [] }
        let words = dropFirst(mark.count).split(whereSeparator: { $0.isWhitespace || $0 == "," })
        return words.first == "allow:" ? words.dropFirst().map(String.init) : []
    }
}
