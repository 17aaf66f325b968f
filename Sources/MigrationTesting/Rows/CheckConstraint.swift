import Foundation
import GRDB
import SchemaMigrations

/// A `CHECK` constraint of a table, read for values that may satisfy it.
struct CheckConstraint: Sendable {
    /// The constraint's words, which include the columns that it mentions.
    let names: Set<SQLName>

    /// The values that the constraint mentions.
    let literals: [DatabaseValue]

    /// Returns the constraints in a table's SQL, in order.
    static func all(in sql: String) -> [CheckConstraint] {
        let bytes = Array(sql.utf8)
        let tokens = SQLLexer(bytes).map {
            (kind: $0.kind, text: String(decoding: bytes[$0.range], as: UTF8.self))
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
            constraints.append(CheckConstraint(Array(tokens[min(start, end)..<end])))
        }
        return constraints
    }

    private init(_ tokens: [(kind: SQLLexer.Kind, text: String)]) {
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
    var examples: [DatabaseValue] {
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

    private static func matching(like pattern: String) -> String {
        pattern.replacingOccurrences(of: "_", with: "1").replacingOccurrences(of: "%", with: "a")
    }

    private static func matching(glob pattern: String) -> String {
        pattern.replacing(#/\[([^\]^])[^\]]*\]/#) { String($0.output.1) }
            .replacing(#/\[\^[^\]]*\]/#, with: "~")
            .replacingOccurrences(of: "*", with: "a").replacingOccurrences(of: "?", with: "a")
    }
}
