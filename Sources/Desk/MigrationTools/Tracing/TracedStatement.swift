import Foundation
package import SchemaMigrations

/// A statement that a migration has run.
package struct TracedStatement: Hashable, Sendable {
    /// The effect that a statement can have.
    package enum Kind: Sendable {
        /// It may change the schema, rows or a setting.
        case change
        /// It only reads: rows, the list of tables, or a number of the app's in the file.
        case read
        /// It begins or ends a transaction, asks for a setting or the columns of a table, is the comment with which
        /// SQLite reports what triggers run, or what the module of a virtual table reads.
        case other
    }

    /// The text, with parameters.
    package let sql: String
    /// The text, with the arguments in the place of the parameters.
    package let expanded: String

    /// Creates a statement.
    package init(sql: String, expanded: String) {
        self.sql = sql
        self.expanded = expanded
    }

    /// The effect, by the statement's words.
    package var kind: Kind {
        let bytes = Array(sql.utf8)
        var lexer = SQLLexer(bytes)
        func word(_ token: SQLLexer.Token?) -> String {
            token.map { String(decoding: bytes[$0.range], as: UTF8.self).uppercased() } ?? ""
        }
        let first = word(lexer.next())
        switch first {
        case "SELECT": return isOfModule ? .other : .read
        case "VALUES", "EXPLAIN": return .read
        case "PRAGMA":
            let words = lexer.map(word)
            let name = words.prefix { $0 != "=" && $0 != "(" }.last
            let isNumber = name.map { Self.numbers.contains(SQLName($0)) } ?? false
            if words.contains("=") || isNumber && words.contains("(") { return .change }
            return isNumber ? .read : .other
        case "WITH":
            let isChange = lexer.contains { ["INSERT", "REPLACE", "UPDATE", "DELETE"].contains(word($0)) }
            return isChange ? .change : .read
        default: return Self.changes.contains(first) ? .change : .other
        }
    }

    /// True if the statement names a table of a schema by two texts, as SQLite's own modules do.
    private var isOfModule: Bool {
        let bytes = Array(sql.utf8)
        let tokens = Array(SQLLexer(bytes))
        return tokens.indices.dropLast(2).contains { index in
            tokens[index].kind == .string && tokens[index + 2].kind == .string
                && bytes[tokens[index + 1].range].elementsEqual(".".utf8)
        }
    }

    /// The numbers that an app keeps in the file (pragma.html), by their pragmas.
    private static let numbers: Set<SQLName> = ["user_version", "application_id"]

    /// True if the statement reads such a number, by its pragma or as a table, and changes nothing.
    package var readsNumber: Bool {
        guard kind == .read else { return false }
        // A statement about a column of such a name is no pragma.
        return sql.drop(while: \.isWhitespace).prefix(6).uppercased() == "PRAGMA"
            || mentions(Set(Self.numbers.map { SQLName("pragma_\($0.text)") }))
    }

    /// Returns whether the statement reads one of the tables or such a number, and changes nothing.
    package func reads(_ tables: Set<SQLName>) -> Bool { kind == .read && mentions(tables) || readsNumber }

    /// Returns whether one of the names stands in the statement.
    package func mentions(_ names: Set<SQLName>) -> Bool {
        let bytes = Array(sql.utf8)
        return SQLLexer(bytes).contains { token in
            (token.kind == .word || token.kind == .quotedName)
                && names.contains(SQLName(token: String(decoding: bytes[token.range], as: UTF8.self)))
        }
    }

    private static let changes: Set<String> = [
        "ALTER", "ANALYZE", "ATTACH", "CREATE", "DELETE", "DETACH", "DROP", "INSERT", "REINDEX", "REPLACE",
        "UPDATE", "VACUUM",
    ]
}

extension TracedStatement {
    /// The table that the statement creates, or to which it gives a name.
    package var namedTable: SQLName? {
        guard kind == .change, let script = try? SQLScript(Data(sql.utf8), fileName: "") else { return nil }
        let statement = ScriptOutline(script).statements.first
        return statement?.createdTable ?? statement?.rename?.to
    }
}
