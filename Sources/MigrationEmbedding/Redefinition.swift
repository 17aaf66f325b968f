import Foundation

/// A file that begins with `-- migrations: redefine`: it holds the definitions that tables are to have.
///
/// The migrator replaces the definitions and looks at the rows. Here, the few rows that migrations insert are copied into
/// tables of the new definitions, which comes to the same.
enum Redefinition {
    /// Gives tables of a database the definitions that a file holds.
    ///
    /// Foreign keys are off, so dropping a table deletes no row of another one.
    static func run(_ sql: String, in database: SystemSQLite) throws(SystemSQLite.Refusal) {
        guard let scratch = SystemSQLite() else { return }
        try scratch.run(sql)
        let definitions = try scratch.run(
            "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
        )
        for definition in definitions {
            do throws(SystemSQLite.Refusal) {
                try define(definition[0], as: definition[1], in: database)
            } catch {
                throw SystemSQLite.Refusal(message: error.message, offset: 0)
            }
        }
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
        // DROP TABLE forgets the last key of AUTOINCREMENT (autoinc.html). Only a database with such a key has the table.
        let keys = try? database.run(
            "SELECT quote(seq) FROM sqlite_sequence WHERE name = \(literal) COLLATE NOCASE")
        // No table is renamed: that would rewrite what names it.
        let copy = quoted("\(table) before", "\"")
        try database.run("CREATE TABLE \(copy) AS SELECT \(columns) FROM \(name); DROP TABLE \(name)")
        try database.run(sql)
        try database.run("INSERT OR ABORT INTO \(name)(\(columns)) SELECT * FROM \(copy); DROP TABLE \(copy)")
        if let key = keys?.first?.first {
            try database.run(
                "DELETE FROM sqlite_sequence WHERE name = \(literal); INSERT INTO sqlite_sequence VALUES (\(literal), \(key))"
            )
        }
        for object in objects { try database.run(object[0]) }
    }

    private static func quoted(_ text: String, _ quote: String) -> String {
        quote + text.replacingOccurrences(of: quote, with: quote + quote) + quote
    }
}
