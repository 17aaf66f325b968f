package import GRDB
package import SchemaMigrations

/// A table, index, view or trigger of a database, as SQL.
package struct SchemaObject: Hashable, Sendable {
    package let type: String
    package let name: SQLName
    package let table: SQLName
    package let sql: String

    package var isVirtual: Bool { sql.uppercasedASCII.hasPrefix("CREATE VIRTUAL TABLE") }

    /// The SQL with a semicolon, which stands on its own line if a comment could swallow it.
    package var statement: String { sql.contains("--") ? "\(sql)\n;" : "\(sql);" }

    /// Reads the objects of a database in the order of creation.
    ///
    /// It leaves out SQLite's own, this package's, and the tables that a virtual table creates for itself.
    package static func fetchAll(_ db: Database) throws -> [SchemaObject] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT type, name, tbl_name, sql FROM main.sqlite_master
                WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                    AND tbl_name NOT IN (SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'shadow')
                ORDER BY rowid
                """
        ).map { SchemaObject(type: $0["type"], name: $0["name"], table: $0["tbl_name"], sql: $0["sql"]) }
            .filter { !Ledger.isOwn(table: $0.table) }
    }

    /// The tokens of the SQL, so that white space, comments and the quotes of names make no difference.
    ///
    /// SQLite quotes a table's name when it renames the table.
    var comparable: [String] {
        let bytes = Array(sql.utf8)
        return SQLLexer(bytes).map { token in
            let text = String(decoding: bytes[token.range], as: UTF8.self)
            switch token.kind {
            case .quotedName: return SQLName(token: text).folded
            case .word: return SQLName(text).folded
            default: return text
            }
        }
    }
}
