package import SchemaMigrations

/// The texts and the numbers that statements name, with the neighbours of the numbers, each once.
package struct SQLLiterals {
    private static let limit = 500

    package private(set) var texts: [String] = []
    package private(set) var numbers: [Int64] = []

    /// Reads the literals of a file.
    package init(_ script: SQLScript) {
        self.init(script.statements.map(script.wholeText))
    }

    /// Reads the literals of statements.
    package init(_ statements: [String]) {
        for statement in statements {
            let bytes = Array(statement.utf8)
            for token in SQLLexer(bytes) {
                add(token.kind, String(decoding: bytes[token.range], as: UTF8.self))
                if texts.count > Self.limit || numbers.count > Self.limit { return }
            }
        }
    }

    private mutating func add(_ kind: SQLLexer.Kind, _ token: String) {
        if kind == .string, token.hasPrefix("'") {
            let text = SQLName(token: token).text
            if !texts.contains(text) { texts.append(text) }
        } else if kind == .word, let number = Int64(token), number < 1 << 40 {
            for other in [number, number + 1, number - 1] where !numbers.contains(other) {
                numbers.append(other)
            }
        }
    }

    /// Returns the literals from a place on, and then those before it.
    package func starting(at place: Int) -> SQLLiterals {
        var copy = self
        copy.texts = texts.rotated(by: place)
        copy.numbers = numbers.rotated(by: place)
        return copy
    }

    /// The literals without negative numbers, which code may not expect.
    package var withoutNegatives: SQLLiterals {
        var copy = self
        copy.numbers.removeAll { $0 < 0 }
        return copy
    }
}

extension Array {
    fileprivate func rotated(by count: Int) -> [Element] {
        isEmpty ? [] : Array(self[(count % self.count)...] + self[..<(count % self.count)])
    }
}
