import SchemaMigrations

/// The tokens of an object's SQL, for reading its parts and comparing them with another's.
struct SQLTokens {
    struct Token {
        /// The token as it is written; a bare word in upper case.
        let word: String
        /// The token read as a name.
        let name: SQLName
        /// True if the token can be a name.
        let isName: Bool
        /// The token's place in the bytes of the SQL.
        let range: Range<Int>
        /// Equal for tokens that SQLite takes for the same.
        let key: [UInt8]
    }

    let tokens: [Token]
    private let bytes: [UInt8]

    /// Splits an object's SQL.
    ///
    /// - Parameter names: the names that the SQL may mean, as a word in double quotes may also be a text.
    init(_ object: SchemaObject, names: Set<SQLName>) {
        let bytes = Array(object.sql.utf8)
        self.bytes = bytes
        tokens = zip(SQLLexer(bytes), object.comparable(names)).map { token, key in
            let text = String(decoding: bytes[token.range], as: UTF8.self)
            return Token(
                word: token.kind == .word ? text.uppercasedASCII : text, name: SQLName(token: text),
                isName: token.kind == .word || token.kind == .quotedName, range: token.range, key: key)
        }
    }

    /// Returns the SQL of a range of tokens, with the white space and comments between them.
    func text(_ range: Range<Int>) -> String {
        guard let first = tokens[range].first, let last = tokens[range].last else { return "" }
        return String(decoding: bytes[first.range.lowerBound..<last.range.upperBound], as: UTF8.self)
    }

    /// Returns the SQL, with other texts for some tokens.
    func text(replacing texts: [Int: String]) -> String {
        var result: [UInt8] = []
        var position = 0
        for index in texts.keys.sorted() {
            let range = tokens[index].range
            result += bytes[position..<range.lowerBound] + Array((texts[index] ?? "").utf8)
            position = range.upperBound
        }
        return String(decoding: result + bytes[position...], as: UTF8.self)
    }

    /// Returns whether one of the tokens is a name.
    func mention(_ name: SQLName) -> Bool { tokens.contains { $0.isName && $0.name == name } }

    /// Returns the ranges of the tokens between commas that stand outside parentheses.
    func parts(of range: Range<Int>) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var start = range.lowerBound
        var depth = 0
        for index in range {
            switch tokens[index].word {
            case "(": depth += 1
            case ")": depth -= 1
            case "," where depth == 0:
                parts.append(start..<index)
                start = index + 1
            default: break
            }
        }
        if start < range.upperBound { parts.append(start..<range.upperBound) }
        return parts
    }

    /// Returns the index after the parenthesis that closes the one at an index.
    func end(ofParenthesisAt index: Int) -> Int {
        var depth = 0
        for position in index..<tokens.count {
            if tokens[position].word == "(" { depth += 1 }
            if tokens[position].word == ")" { depth -= 1 }
            if depth == 0 { return position + 1 }
        }
        return tokens.count
    }
}
