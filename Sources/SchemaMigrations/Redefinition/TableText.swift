import GRDB

/// The stored text of a table, split where SQLite cannot be asked.
///
/// SQLite stores `CREATE TABLE name(…)` without white space, comments or `IF NOT EXISTS` before the name. Columns precede
/// constraints, so that each column has the part of its number. `AS`, `CHECK` and `DEFAULT` are never bare names
/// (lang_keywords.html).
struct TableText {
    let sql: String
    private let bytes: [UInt8]
    private let tokens: [SQLLexer.Token]
    /// The tokens between the commas of the outermost parentheses.
    private let parts: [ArraySlice<SQLLexer.Token>]

    init(_ sql: String) {
        self.sql = sql
        bytes = Array(sql.utf8)
        tokens = Array(SQLLexer(bytes))
        var parts: [ArraySlice<SQLLexer.Token>] = []
        var depth = 0
        var start = 0
        loop: for (index, token) in tokens.enumerated() where token.kind == .symbol {
            switch bytes[token.range.lowerBound] {
            case UInt8(ascii: "("):
                depth += 1
                if depth == 1 { start = index + 1 }
            case UInt8(ascii: ")"):
                depth -= 1
                guard depth == 0 else { continue }
                parts.append(tokens[start..<index])
                break loop
            case UInt8(ascii: ",") where depth == 1:
                parts.append(tokens[start..<index])
                start = index + 1
            default: continue
            }
        }
        self.parts = parts
    }

    /// Returns the expressions in parentheses after a keyword, in one part.
    private func expressions(
        after keyword: SQLName, in part: ArraySlice<SQLLexer.Token>
    ) -> [ArraySlice<SQLLexer.Token>] {
        var expressions: [ArraySlice<SQLLexer.Token>] = []
        var depth = 0
        var start: Int?
        for index in part.indices {
            switch symbol(index) {
            case UInt8(ascii: "("):
                if depth == 0, index > part.startIndex, isWord(index - 1, keyword) { start = index + 1 }
                depth += 1
            case UInt8(ascii: ")"):
                depth -= 1
                guard depth == 0, let first = start else { continue }
                expressions.append(part[first..<index])
                start = nil
            default: continue
            }
        }
        return expressions
    }

    private func symbol(_ index: Int) -> UInt8? {
        tokens[index].kind == .symbol ? bytes[tokens[index].range.lowerBound] : nil
    }

    private func isWord(_ index: Int, _ word: SQLName) -> Bool {
        tokens[index].kind == .word && SQLName(text(tokens[index].range)) == word
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    private func text(_ tokens: ArraySlice<SQLLexer.Token>) -> String {
        guard let first = tokens.first, let last = tokens.last else { return "" }
        return text(first.range.lowerBound..<last.range.upperBound)
    }
}

extension TableText {
    /// An expression, with tokens that compare whatever its white space, comments and case.
    struct Expression: Hashable {
        let text: String
        private let tokens: [String]

        init(text: String, tokens: [String]) {
            self.text = text
            self.tokens = tokens
        }

        static func == (first: Expression, second: Expression) -> Bool {
            first.tokens.count == second.tokens.count
                && zip(first.tokens, second.tokens).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
        }

        func hash(into hasher: inout Hasher) { hasher.combine(tokens.count) }

        /// True if the expression may ask for the time, which SQLite allows in a query and not in a `CHECK`.
        var mayNotBePure: Bool { tokens.contains { Self.dateFunctions.contains(SQLName(token: $0)) } }

        /// The functions that take 'now' (lang_datefunc.html).
        private static let dateFunctions: Set<SQLName> = [
            "date", "time", "datetime", "julianday", "unixepoch", "strftime", "timediff",
        ]
    }

    private func expression(_ tokens: ArraySlice<SQLLexer.Token>, _ names: Set<SQLName>) -> Expression {
        Expression(
            text: text(tokens),
            tokens: tokens.map { token in
                let text = text(token.range)
                switch token.kind {
                case .word: return SQLName(text).folded
                // In double quotes, what names nothing is a text (quirks.html, 8).
                case .quotedName where names.contains(SQLName(token: text)):
                    return SQLName(token: text).folded
                default: return text
                }
            })
    }

    /// The conditions of `CHECK`, of columns and of the table.
    func checks(_ names: Set<SQLName>) -> [Expression] {
        parts.flatMap { expressions(after: "check", in: $0) }.map { expression($0, names) }
    }

    /// True if each word `CHECK` begins one of the conditions.
    var hasOnlyKnownChecks: Bool {
        tokens.indices.count { isWord($0, "check") }
            == parts.reduce(0) { $0 + expressions(after: "check", in: $1).count }
    }

    /// Returns the expression of a generated column.
    func generatedValue(ofColumn number: Int, _ names: Set<SQLName>) -> Expression? {
        guard parts.indices.contains(number) else { return nil }
        return expressions(after: "as", in: parts[number]).first.map { expression($0, names) }
    }

    /// Returns the text with another default for a column: the last one of a column holds (measured with SQLite 3.40
    /// to 3.54).
    func settingDefault(_ value: String, ofColumn number: Int) -> String? {
        guard parts.indices.contains(number), let end = parts[number].last?.range.upperBound else {
            return nil
        }
        return "\(text(0..<end)) DEFAULT \(value)\(text(end..<bytes.count))"
    }

    /// Returns the text with the table's name as another one spells it.
    func named(_ name: SQLName) -> String {
        guard tokens.count > 2 else { return sql }
        let range = tokens[2].range
        guard !SQLName(token: text(range)).text.utf8.elementsEqual(name.text.utf8) else { return sql }
        return "\(text(0..<range.lowerBound))\(name.sql)\(text(range.upperBound..<bytes.count))"
    }
}
