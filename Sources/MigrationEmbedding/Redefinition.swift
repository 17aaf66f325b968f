import Foundation

/// A file that begins with `-- migrations: redefine`: it holds the definitions that tables are to have.
///
/// The migrator replaces the definitions and looks at the rows. Here, the few rows that migrations insert are copied into
/// tables of the new definitions, which comes to the same.
enum Redefinition {
    /// Returns whether the header of a file asks for it.
    static func isAsked(by sql: String) -> Bool { sql.asks(for: "redefine") }

    /// Gives tables of a database the definitions that a file holds.
    static func run(_ sql: String, in database: SystemSQLite) throws(SystemSQLite.Refusal) {
        guard let scratch = SystemSQLite() else { return }
        try scratch.run(sql)
        let definitions = try scratch.run(
            "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
        )
        let foreignKeys = try database.run("PRAGMA foreign_keys").first?.first ?? "0"
        // So dropping a table deletes no row of another one.
        try database.run("PRAGMA foreign_keys = 0")
        for definition in definitions {
            do throws(SystemSQLite.Refusal) {
                try define(definition[0], as: definition[1], in: database)
            } catch {
                throw SystemSQLite.Refusal(message: error.message, offset: 0)
            }
        }
        try database.run("PRAGMA foreign_keys = \(foreignKeys)")
    }

    private static func define(
        _ table: String, as sql: String, in database: SystemSQLite
    ) throws(SystemSQLite.Refusal) {
        let (literal, name) = (quoted(table, "'"), quoted(table, "\""))
        let columns = try database.run(
            "SELECT name FROM pragma_table_xinfo(\(literal)) WHERE hidden = 0"
        ).map { quoted($0[0], "\"") }.joined(separator: ", ")
        guard !columns.isEmpty else {
            throw SystemSQLite.Refusal(message: "no such table to redefine: \(table)", offset: 0)
        }
        let objects = try database.run(
            """
            SELECT sql FROM sqlite_master
            WHERE tbl_name = \(literal) COLLATE NOCASE AND type IN ('index', 'trigger') AND sql IS NOT NULL
            """)
        // No table is renamed: that would rewrite what names it.
        let copy = quoted("\(table) before", "\"")
        try database.run("CREATE TABLE \(copy) AS SELECT \(columns) FROM \(name); DROP TABLE \(name)")
        try database.run(sql)
        try database.run("INSERT OR ABORT INTO \(name)(\(columns)) SELECT * FROM \(copy); DROP TABLE \(copy)")
        for object in objects { try database.run(object[0]) }
    }

    private static func quoted(_ text: String, _ quote: String) -> String {
        quote + text.replacingOccurrences(of: quote, with: quote + quote) + quote
    }
}

extension String {
    /// Returns whether the header of a file has a setting.
    func asks(for setting: String) -> Bool {
        let lines = split(whereSeparator: \.isNewline).lazy.map { $0.filter { !$0.isWhitespace } }
        return lines.prefix { !$0.uppercased().hasPrefix("CREATE") }.contains { line in
            guard line.hasPrefix("--migrations:") else { return false }
            return line.dropFirst("--migrations:".count).split(separator: ",").contains { $0 == setting }
        }
    }
}
