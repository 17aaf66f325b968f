import SchemaMigrations

/// A statement in one line, without comments, and without the quotes of plain names.
///
/// How GRDB's schema builder quotes and spaces what it writes may change with its version.
struct NormalSQL {
    /// The text, with single blanks between its tokens.
    let text: String
    /// The first word, in capital letters; nil if the statement is empty or a comment.
    let firstWord: String?

    init(_ sql: String) {
        let bytes = Array(sql.utf8)
        let tokens = SQLLexer(bytes).map { token in
            let text = String(decoding: bytes[token.range], as: UTF8.self)
            return token.kind == .quotedName && text.hasPrefix("\"") ? Self.unquoted(text) : text
        }
        var text = ""
        for token in tokens where token != ";" {
            let isTight =
                text.isEmpty || text.hasSuffix("(") || [",", ")", "."].contains(token) || text.hasSuffix(".")
            text += isTight ? token : " \(token)"
        }
        // A text may hold line breaks, and each statement has one line.
        self.text = text.replacing("\\", with: "\\\\").replacing("\r", with: "\\r").replacing(
            "\n", with: "\\n")
        firstWord = tokens.first.map { $0.uppercased() }
    }

    private static func unquoted(_ quoted: String) -> String {
        let name = quoted.dropFirst().dropLast()
        let isPlain =
            name.first.map { $0.isLetter || $0 == "_" } == true
            && name.utf8.allSatisfy {
                $0 == 0x5F || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
                    || UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20
            }
        return isPlain ? String(name) : quoted
    }
}
