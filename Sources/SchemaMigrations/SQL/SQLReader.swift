import AppMigrations
import MigrationDiagnostics

/// A reader that collects a file's statements, its comments and a checksum in one pass over the tokens.
struct SQLReader {
    private let bytes: [UInt8]
    private let fileName: String
    private(set) var statements: [SQLScript.Statement] = []
    private(set) var comments: [SQLScript.Comment] = []
    /// True if to look for the name of the ledger in the tokens: in a large file, that takes long.
    private let mayNameLedger: Bool
    /// True if a token holds the name of the ledger.
    private(set) var namesLedger = false

    // The checksum has to notice edits, not withstand attacks.
    private var hash = FNV1a.start
    private var lineOffset = 0
    private var lineNumber = 1

    /// The reader's position in a statement.
    ///
    /// A trigger ends with `; END ;`, as in SQLite's complete.c.
    private enum State { case plain, trigger, triggerSemicolon, triggerEnd }
    private var state = State.plain
    /// True if the last statement has not ended yet.
    private var isInStatement = false

    init(bytes: [UInt8], fileName: String) {
        self.bytes = bytes
        self.fileName = fileName
        mayNameLedger = bytes.containsIgnoringCase(Array(OwnTables.ledger.utf8))
    }

    var checksum: String {
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    mutating func read() throws {
        guard bytes.contains(where: { !" \t\r\n".utf8.contains($0) }) else {
            throw MigrationError(
                .invalidMigration, at: .file(fileName), "is empty",
                remedy: "If it is meant to do nothing, write a comment into it.")
        }
        if let nul = bytes.firstIndex(of: 0) {
            throw refusal(
                "holds a NUL byte", at: nul,
                remedy: "Remove it: SQLite would silently ignore the rest of the file.")
        }
        var lexer = SQLLexer(bytes)
        var commentCount = 0
        while let token = lexer.next() {
            try note(lexer.comments[commentCount...])
            commentCount = lexer.comments.count
            try take(token)
        }
        try note(lexer.comments[commentCount...])
        finishStatement()
    }

    private mutating func take(_ token: SQLLexer.Token) throws {
        let start = token.range.lowerBound
        switch token.kind {
        case .unterminated:
            throw refusal(
                "a comment, text or quoted name begins here and does not end", at: start,
                remedy: "Close it: SQLite would silently ignore the rest of the file.")
        case .parameter:
            throw refusal(
                "\(text(token.range)) is a parameter, and a file has no arguments", at: start,
                remedy: "Write the value itself.")
        case .semicolon:
            state = state == .plain || state == .triggerEnd ? .plain : .triggerSemicolon
            mix(token)
            if state == .plain { finishStatement() }
        case .word, .quotedName, .string, .symbol:
            mix(token)
            extend(token)
            if mayNameLedger, token.range.count >= OwnTables.ledger.utf8.count {
                namesLedger = namesLedger || SQLName(text(token.range)).folded.contains(OwnTables.ledger)
            }
        }
    }

    private mutating func extend(_ token: SQLLexer.Token) {
        if !isInStatement {
            statements.append(
                SQLScript.Statement(range: token.range, line: line(at: token.range.lowerBound)))
            isInStatement = true
        }
        // In its place, since a copy would copy all words with each added one.
        let last = statements.count - 1
        statements[last].range = statements[last].range.lowerBound..<token.range.upperBound
        var word = ""
        let isOpening = statements[last].opening.count < statements[last].openingLimit
        if isOpening || state != .plain {
            let token = SQLScript.Token(token.kind, text(token.range))
            word = token.keyword
            if isOpening { statements[last].opening.append(token) }
        }

        switch state {
        case .plain:
            guard word == "TRIGGER" else { break }
            let create = statements[last].opening.map(\.keyword)
                .drop { $0 == "EXPLAIN" || $0 == "QUERY" || $0 == "PLAN" }
                .filter { $0 != "TEMP" && $0 != "TEMPORARY" }
            if create == ["CREATE", "TRIGGER"] { state = .trigger }
        case .trigger:
            break
        case .triggerSemicolon:
            state = word == "END" ? .triggerEnd : .trigger
        case .triggerEnd:
            state = .trigger
        }
    }

    private mutating func finishStatement() {
        isInStatement = false
        state = .plain
    }

    private mutating func note(_ ranges: ArraySlice<Range<Int>>) throws {
        for range in ranges {
            var text = text(range)
            // Of a line that ends with CR LF, the comment has the CR.
            if text.hasPrefix("--"), text.utf8.last == UInt8(ascii: "\r") { text.removeLast() }
            if text.hasPrefix("--"), text.utf8.contains(UInt8(ascii: "\r")) {
                throw refusal(
                    "a comment holds a carriage return without a line feed", at: range.lowerBound,
                    remedy:
                        "Save the file with ordinary line ends: the comment reaches to the next line feed.")
            }
            comments.append(
                SQLScript.Comment(
                    text: text, line: line(at: range.lowerBound),
                    precedesStatements: statements.isEmpty))
        }
    }

    private mutating func mix(_ token: SQLLexer.Token) {
        hash = bytes[token.range].fnv1a(after: hash)
        mix(0)
    }

    private mutating func mix(_ byte: UInt8) {
        hash = CollectionOfOne(byte).fnv1a(after: hash)
    }

    private func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }

    /// Returns the line of an offset, from 1.
    ///
    /// Offsets must come in ascending order.
    private mutating func line(at offset: Int) -> Int {
        while lineOffset < offset {
            if bytes[lineOffset] == UInt8(ascii: "\n") { lineNumber += 1 }
            lineOffset += 1
        }
        return lineNumber
    }

    private mutating func refusal(_ problem: String, at offset: Int, remedy: String) -> MigrationError {
        MigrationError(
            .invalidMigration, at: .file(fileName, line: line(at: offset)), problem, remedy: remedy)
    }
}

extension [UInt8] {
    /// Returns whether the bytes contain a word in ASCII, in lower or upper case.
    fileprivate func containsIgnoringCase(_ word: [UInt8]) -> Bool {
        guard let first = word.first else { return true }
        return indices.contains { start in
            self[start] | 0x20 == first && count - start >= word.count
                && word.indices.allSatisfy {
                    self[start + $0] == word[$0] || self[start + $0] | 0x20 == word[$0]
                }
        }
    }
}
