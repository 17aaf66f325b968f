/// A lexer that splits SQL into tokens, by SQLite's rules (tokenize.c).
///
/// It does just enough to check a file before it runs, and to tell an edit that matters from one that does
/// not.
///
/// While a file runs, SQLite itself finds the ends of statements. The text must hold no NUL, because SQLite
/// takes it for the end, wherever it stands.
package struct SQLLexer: Sequence, IteratorProtocol {
    /// The kind of a token.
    package enum Kind: Hashable {
        /// A keyword, a bare name, or a number.
        case word
        /// A name in double quotes, backticks or brackets.
        case quotedName
        /// A text or blob literal.
        case string
        /// `?`, `:name`, `@name`, `$name` or `#name`.
        case parameter
        case semicolon
        /// Any other character.
        case symbol
        /// A comment, string or quoted name that is still open where the text ends.
        case unterminated
    }

    /// A part of the text.
    package struct Token: Equatable {
        /// The token's kind.
        package let kind: Kind
        /// The token's place in the bytes.
        package let range: Range<Int>
    }

    private let bytes: [UInt8]
    private var position = 0
    /// The comments that were skipped, in order.
    private(set) var comments: [Range<Int>] = []

    /// Creates a lexer for a text in UTF-8.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Returns the next token, skipping white space and comments.
    @inline(never)
    package mutating func next() -> Token? {
        if let open = skipBlanks() { return Token(kind: .unterminated, range: open..<bytes.count) }
        guard position < bytes.count else { return nil }
        let start = position
        let kind = scan()
        return Token(kind: kind, range: start..<position)
    }

    /// Skips white space and comments.
    ///
    /// - Returns: the start of an unterminated comment, or nil if there is none.
    private mutating func skipBlanks() -> Int? {
        while position < bytes.count {
            let start = position
            if Self.isSpace(bytes[position]) {
                position += 1
            } else if bytes[position] == Self.byteOrderMark[0],
                bytes[position...].starts(with: Self.byteOrderMark)
            {
                position += Self.byteOrderMark.count
            } else if starts("--") {
                while position < bytes.count, bytes[position] != UInt8(ascii: "\n") { position += 1 }
                comments.append(start..<position)
            } else if starts("/*") {
                position += 2
                while position < bytes.count, !starts("*/") { position += 1 }
                guard position < bytes.count else { return start }
                position += 2
                comments.append(start..<position)
            } else {
                return nil
            }
        }
        return nil
    }

    private mutating func scan() -> Kind {
        let byte = bytes[position]
        switch byte {
        case UInt8(ascii: ";"):
            position += 1
            return .semicolon
        case UInt8(ascii: "'"):
            return quoted(by: byte) ? .string : .unterminated
        case UInt8(ascii: "\""), UInt8(ascii: "`"):
            return quoted(by: byte) ? .quotedName : .unterminated
        case UInt8(ascii: "["):
            while position < bytes.count, bytes[position] != UInt8(ascii: "]") { position += 1 }
            guard position < bytes.count else { return .unterminated }
            position += 1
            return .quotedName
        case UInt8(ascii: "?"):
            repeat { position += 1 } while position < bytes.count && Self.isDigit(bytes[position])
            return .parameter
        case UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "$"), UInt8(ascii: "#"):
            position += 1
            return skipWord() ? .parameter : .symbol
        default:
            return scanWord(byte)
        }
    }

    private mutating func scanWord(_ byte: UInt8) -> Kind {
        if byte | 0x20 == UInt8(ascii: "x"), position + 1 < bytes.count,
            bytes[position + 1] == UInt8(ascii: "'")
        {
            position += 1
            return quoted(by: UInt8(ascii: "'")) ? .string : .unterminated
        }
        if skipWord() { return .word }
        position += 1
        return .symbol
    }

    /// Skips a quoted text, in which a doubled quote stands for one.
    private mutating func quoted(by quote: UInt8) -> Bool {
        position += 1
        while position < bytes.count {
            let isQuote = bytes[position] == quote
            position += 1
            guard isQuote else { continue }
            guard position < bytes.count, bytes[position] == quote else { return true }
            position += 1
        }
        return false
    }

    private mutating func skipWord() -> Bool {
        let start = position
        while position < bytes.count, Self.isWord(bytes[position]) { position += 1 }
        return position > start
    }

    private func starts(_ text: StaticString) -> Bool {
        let first = text.utf8Start[0]
        let second = text.utf8Start[1]
        return position + 1 < bytes.count && bytes[position] == first && bytes[position + 1] == second
    }

    /// A byte order mark, which SQLite takes for a blank where a token may begin, as in joined files.
    private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0d).contains(byte) && byte != 0x0b
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte)
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        isDigit(byte) || (0x61...0x7a).contains(byte | 0x20) || byte == UInt8(ascii: "_") || byte >= 0x80
            || byte == UInt8(ascii: "$")
    }
}
