package import GRDB

/// A table, index, view or trigger of a database, as SQL.
package struct SchemaObject: Hashable, Sendable {
    package let type: String
    package let name: SQLName
    package let table: SQLName
    package let sql: String

    package init(type: String, name: SQLName, table: SQLName, sql: String) {
        self.type = type
        self.name = name
        self.table = table
        self.sql = sql
    }

    package var isVirtual: Bool { sql.uppercasedASCII.hasPrefix("CREATE VIRTUAL TABLE") }

    /// The SQL with a semicolon, which stands on its own line if a comment could swallow it.
    package var statement: String { sql.contains("--") ? "\(sql)\n;" : "\(sql);" }

    /// Reads the objects of a database in the order of creation.
    ///
    /// It leaves out SQLite's own, this package's, and the tables that a virtual table creates for itself.
    package static func fetchAll(_ db: Database) throws -> [SchemaObject] {
        let shadows = try ShadowTables(db)
        return try Row.fetchAll(
            db,
            sql: """
                SELECT type, name, tbl_name, sql FROM main.sqlite_master
                WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid
                """
        ).map { SchemaObject(type: $0["type"], name: $0["name"], table: $0["tbl_name"], sql: $0["sql"]) }
            .filter { !Ledger.isOwn(table: $0.table) && !shadows.contains($0.table) }
    }

    /// The tokens of the SQL, so that white space, comments, and the case and quotes of names make no difference.
    ///
    /// SQLite quotes a table's name when it renames the table. But a word in double quotes that names nothing is
    /// a text (quirks.html, 8), and so is a word after `DEFAULT`: these compare as they are.
    ///
    /// - Parameter names: the names that the SQL may mean.
    package func comparable(_ names: Set<SQLName>) -> [[UInt8]] {
        let bytes = Array(sql.utf8)
        let tokens = Array(SQLLexer(bytes))
        var previous = SQLName("")
        return tokens.indices.map { index in
            let token = tokens[index]
            let text = String(decoding: bytes[token.range], as: UTF8.self)
            defer { previous = SQLName(text) }
            switch token.kind {
            case .quotedName:
                let name = SQLName(token: text)
                let isQualifier =
                    index + 1 < tokens.count && bytes[tokens[index + 1].range] == [UInt8(ascii: ".")]
                let isName =
                    bytes[token.range.lowerBound] != UInt8(ascii: "\"") || isQualifier || names.contains(name)
                    || Self.precedesName.contains(previous)
                return isName && previous != "default"
                    ? Array(name.folded.utf8) : Array("\"\(name.text)\"".utf8)
            case .word where previous == "default" && !Self.isKeywordOrNumber(text): return Array(text.utf8)
            case .word: return Array(SQLName(text).folded.utf8)
            default: return Array(text.utf8)
            }
        }
    }

    private static let precedesName: Set<SQLName> = [
        "constraint", "collate", "table", "index", "view", "trigger", "exists", "references", "on", "into",
        "from",
        "update", ".",
    ]

    /// Returns whether a word after `DEFAULT` is no text, so that its case makes no difference.
    private static func isKeywordOrNumber(_ word: String) -> Bool {
        let keywords: Set<SQLName> = [
            "true", "false", "null", "current_time", "current_date", "current_timestamp",
        ]
        return keywords.contains(SQLName(word)) || word.utf8.first.map { (0x30...0x39).contains($0) } == true
    }
}
