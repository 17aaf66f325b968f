extension SchemaObject {
    /// The tokens of the SQL as ``comparable(_:)`` returns them, without parentheses and words that make no difference.
    ///
    /// `DEFAULT (0)` is `DEFAULT 0`, `lower((title))` is `lower(title)`, an index on `title ASC` is one on `title`, and
    /// `GENERATED ALWAYS AS (…) VIRTUAL` is `AS (…)`.
    package func meaning(_ names: Set<SQLName>) -> [[UInt8]] {
        let tokens = Self.withoutNeedlessParentheses(comparable(names))
        return switch type {
        case "index": Self.withoutNeedlessOrder(tokens)
        case "table": Self.withoutNeedlessGeneration(tokens)
        default: tokens
        }
    }

    /// Leaves out `ASC`, which is the order of an index without a word (lang_createindex.html, 1.2).
    private static func withoutNeedlessOrder(_ tokens: [[UInt8]]) -> [[UInt8]] {
        tokens.indices.filter { index in
            guard tokens[index].isToken("asc"), index + 1 < tokens.count else { return true }
            // A column may have that name.
            let (previous, next) = (tokens[index - 1], tokens[index + 1])
            return previous.isToken("(") || previous.isToken(",") || !next.isToken(",") && !next.isToken(")")
        }.map { tokens[$0] }
    }

    /// Leaves out the words of a generated column that may be left out (gencol.html, 2).
    private static func withoutNeedlessGeneration(_ tokens: [[UInt8]]) -> [[UInt8]] {
        var isNeedless = tokens.map { _ in false }
        for (start, end) in ends(ofParenthesesIn: tokens) where start > 0 && tokens[start - 1].isToken("as") {
            if start > 2, tokens[start - 3].isToken("generated"), tokens[start - 2].isToken("always") {
                (isNeedless[start - 3], isNeedless[start - 2]) = (true, true)
            }
            if end + 1 < tokens.count, tokens[end + 1].isToken("virtual") { isNeedless[end + 1] = true }
        }
        return tokens.indices.filter { !isNeedless[$0] }.map { tokens[$0] }
    }

    /// Leaves out parentheses around a constant default, and all but one of several around the same expression.
    package static func withoutNeedlessParentheses(_ tokens: [[UInt8]]) -> [[UInt8]] {
        let ends = ends(ofParenthesesIn: tokens)
        var isNeedless = tokens.map { _ in false }
        // The inner parentheses come first, so that `DEFAULT ((0))` loses both pairs.
        for (start, end) in ends.sorted(by: { $0.key > $1.key }) where start > 0 {
            let content = ((start + 1)..<end).filter { !isNeedless[$0] }.map { tokens[$0] }
            let isDefault = tokens[start - 1].isToken("default") && isConstant(content)
            let isAround = ends[start - 1] == end + 1 && isOneExpression(content)
            if isDefault || isAround { (isNeedless[start], isNeedless[end]) = (true, true) }
        }
        return tokens.indices.filter { !isNeedless[$0] }.map { tokens[$0] }
    }

    /// Returns the place of the closing parenthesis for that of each opening one.
    private static func ends(ofParenthesesIn tokens: [[UInt8]]) -> [Int: Int] {
        var (open, ends): ([Int], [Int: Int]) = ([], [:])
        for (index, token) in tokens.enumerated() {
            if token.isToken("(") { open.append(index) }
            if token.isToken(")"), let start = open.popLast() { ends[start] = index }
        }
        return ends
    }

    /// Returns whether tokens are a literal, which needs no parentheses after `DEFAULT` (lang_createtable.html, 3.2).
    private static func isConstant(_ tokens: [[UInt8]]) -> Bool {
        let isSigned = tokens.first.map { $0.isToken("-") || $0.isToken("+") } == true
        let literal = tokens.dropFirst(isSigned ? 1 : 0)
        guard literal.count == 1, let token = literal.first, let first = token.first else { return false }
        if (0x30...0x39).contains(first) || first == UInt8(ascii: ".") { return true }
        return !isSigned && (first == UInt8(ascii: "'") || keywords.contains(where: token.isToken))
    }

    private static let keywords = [
        "null", "true", "false", "current_time", "current_date", "current_timestamp",
    ]

    /// Returns whether tokens are one expression, for which more parentheses change nothing.
    ///
    /// A row value is none, and neither is a subquery: `IN ((SELECT …))` compares with its first row alone.
    private static func isOneExpression(_ tokens: [[UInt8]]) -> Bool {
        var depth = 0
        for token in tokens {
            if token.isToken("(") { depth += 1 }
            if token.isToken(")") { depth -= 1 }
            if depth == 0, token.isToken(",") { return false }
        }
        return !["select", "with", "values"].contains { tokens.first?.isToken($0) == true }
    }
}

extension [UInt8] {
    fileprivate func isToken(_ text: String) -> Bool { elementsEqual(text.utf8) }
}
