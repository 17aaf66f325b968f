import Foundation
package import GRDB
package import SchemaMigrations

/// A `CHECK` constraint of a table, read for values that may satisfy it.
package struct CheckConstraint: Sendable {
    /// The constraint's words, which include the columns that it mentions.
    package let names: Set<SQLName>

    /// The values that the constraint mentions.
    package let literals: [DatabaseValue]

    /// The constraint's tokens, so that white space and the case of keywords make no difference.
    let tokens: [String]

    /// The constraint as its table spells it, on one line and without comments.
    let sql: String

    /// Returns the constraints in a table's SQL, in order.
    static func all(in sql: String) -> [CheckConstraint] {
        let bytes = Array(sql.utf8)
        let tokens = SQLLexer(bytes).map {
            (kind: $0.kind, text: String(decoding: bytes[$0.range], as: UTF8.self), range: $0.range)
        }
        var constraints: [CheckConstraint] = []
        var index = 0
        while index < tokens.count {
            defer { index += 1 }
            guard tokens[index].kind == .word, tokens[index].text.uppercasedASCII == "CHECK" else { continue }
            var depth = 0
            let start = index + 1
            var end = start
            while end < tokens.count {
                if tokens[end].text == "(" { depth += 1 }
                if tokens[end].text == ")" { depth -= 1 }
                end += 1
                if depth == 0 { break }
            }
            let own = tokens[min(start, end)..<end]
            let text = zip(own, own.dropFirst()).reduce(own.first?.text ?? "") { text, pair in
                text + (pair.0.range.upperBound < pair.1.range.lowerBound ? " " : "") + pair.1.text
            }
            constraints.append(CheckConstraint(own.map { ($0.kind, $0.text) }, sql: "CHECK \(text)"))
        }
        return constraints
    }

    private init(_ tokens: [(kind: SQLLexer.Kind, text: String)], sql: String) {
        self.sql = sql
        self.tokens = tokens.map { token in
            [.word, .quotedName].contains(token.kind) ? SQLName(token: token.text).folded : token.text
        }
        names = Set(
            tokens.filter { $0.kind == .word || $0.kind == .quotedName }
                .map { SQLName(token: $0.text) })
        literals = tokens.flatMap { token -> [DatabaseValue] in
            switch token.kind {
            case .string where token.text.hasPrefix("'"):
                return [SQLName(token: token.text).databaseValue]
            case .word: return Int64(token.text).map { [$0.databaseValue] } ?? []
            default: return []
            }
        }
    }

    /// Values that may satisfy the constraint, besides those that it mentions.
    ///
    /// They are neighbours of a number, texts of that length, and texts that match a pattern.
    package var examples: [DatabaseValue] {
        literals.flatMap { literal -> [DatabaseValue] in
            switch literal.storage {
            case .int64(let number):
                // The number may be a limit or a length, or may follow a sign.
                var values = [number &+ 1, number &- 1, 0 &- number].map(\.databaseValue)
                if (1...64).contains(number) {
                    values.append(String(repeating: "a", count: Int(number)).databaseValue)
                    values.append(String(repeating: "1", count: Int(number)).databaseValue)
                }
                return values
            case .string(let pattern):
                return [Self.matching(like: pattern), Self.matching(glob: pattern)].map(\.databaseValue)
            default: return []
            }
        }
    }

    static func matching(like pattern: String) -> String {
        pattern.replacingOccurrences(of: "_", with: "1").replacingOccurrences(of: "%", with: "a")
    }

    static func matching(glob pattern: String) -> String {
        pattern.replacing(#/\[([^\]^])[^\]]*\]/#) { String($0.output.1) }
            .replacing(#/\[\^[^\]]*\]/#, with: "~")
            .replacingOccurrences(of: "*", with: "a").replacingOccurrences(of: "?", with: "a")
    }
}
