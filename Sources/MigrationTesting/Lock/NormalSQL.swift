import SchemaMigrations

/// A statement in one line, without comments, and without the quotes of plain names.
///
/// How GRDB's schema builder quotes and spaces what it writes may change with its version.
struct NormalSQL: Hashable {
    struct Token: Hashable {
        let text: String
        /// True for a text, a blob or a number.
        let isLiteral: Bool

        /// Stands for a literal.
        static let parameter = Token(text: "?", isLiteral: true)
    }

    var tokens: [Token] = []

    init(_ sql: String) {
        let bytes = Array(sql.utf8)
        for token in SQLLexer(bytes) where token.kind != .semicolon {
            let text = String(decoding: bytes[token.range], as: UTF8.self)
            if token.kind == .quotedName {
                tokens.append(Token(text: Self.unquoted(text), isLiteral: false))
            } else if let start = fractionStart, token.kind == .word {
                // The lexer takes a number with a point for three tokens.
                let number = tokens[start...].map(\.text).joined() + text
                tokens.replaceSubrange(start..., with: [Token(text: number, isLiteral: true)])
            } else {
                let isNumber = token.kind == .word && text.utf8.first.map(Self.isDigit) == true
                tokens.append(Token(text: text, isLiteral: token.kind == .string || isNumber))
            }
        }
    }

    /// The place of a number of which only the fraction is missing.
    private var fractionStart: Int? {
        guard let last = tokens.last, last.text == ".", tokens.count > 1 else { return nil }
        let isNumber = tokens[tokens.count - 2].text.utf8.allSatisfy(Self.isDigit)
        return isNumber ? tokens.count - 2 : nil
    }

    /// The text, with single blanks between its tokens.
    var text: String {
        var text = ""
        for token in tokens {
            let isTight =
                text.isEmpty || text.hasSuffix("(") || [",", ")", "."].contains(token.text)
                || text.hasSuffix(".") || Self.isOperator(text.suffix(1) + token.text)
            text += isTight ? token.text : " \(token.text)"
        }
        // A text may hold line breaks, and each statement has one line. Swift takes CR LF for one character.
        return text.replacing("\\", with: "\\\\").replacing("\r\n", with: "\\r\\n")
            .replacing("\r", with: "\\r").replacing("\n", with: "\\n")
    }

    /// Returns the statement with parameters in the place of some literals.
    func replacingLiterals(where isReplaced: (_ index: Int, _ literal: String) -> Bool) -> NormalSQL {
        var copy = self
        for (index, token) in tokens.enumerated() where token.isLiteral && isReplaced(index, token.text) {
            copy.tokens[index] = .parameter
        }
        return copy
    }

    private static func isOperator(_ text: String) -> Bool {
        ["<>", "!=", "<=", ">=", "==", "||", "->", "<<", ">>"].contains(text)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func unquoted(_ quoted: String) -> String {
        let name = quoted.dropFirst().dropLast()
        let isPlain =
            name.first.map { $0.isLetter || $0 == "_" } == true
            && name.utf8.allSatisfy {
                $0 == 0x5F || isDigit($0) || UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20
            }
        return isPlain ? String(name) : quoted
    }
}
