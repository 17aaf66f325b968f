import GRDB
import SchemaMigrations
import TextOutput

/// The columns and foreign keys of a table, in words that can be compared.
struct TableShape: Sendable {
    /// The columns, in order: a name, and a definition such as `INTEGER NOT NULL`.
    let columns: [(name: String, definition: String)]
    /// The foreign keys: the columns, and what they refer to.
    let foreignKeys: [(columns: String, reference: String)]

    /// Reads a table.
    init(_ db: Database, table: SQLName) throws {
        columns = try Row.fetchAll(db, sql: "SELECT * FROM pragma_table_xinfo(?, 'main')", arguments: [table])
            .map { row in
                var words: [String] = [row["type"]]
                if row["pk"] as Int > 0 { words.append("PRIMARY KEY") }
                if row["notnull"] as Int != 0 { words.append("NOT NULL") }
                if let value = row["dflt_value"] as String? { words.append("DEFAULT \(value)") }
                // pragma.html, table_xinfo: 2 and 3 are generated columns.
                if row["hidden"] as Int > 1 { words.append("GENERATED") }
                let definition = words.filter { !$0.isEmpty }.joined(separator: " ")
                return (row["name"], definition.isEmpty ? "without a type" : definition)
            }
        let rows = try Row.fetchAll(
            db, sql: "SELECT * FROM pragma_foreign_key_list(?, 'main') ORDER BY id, seq", arguments: [table])
        foreignKeys = Dictionary(grouping: rows) { $0["id"] as Int }.sorted { $0.key < $1.key }
            .map { _, rows in Self.foreignKey(rows) }.sorted { $0 < $1 }
    }

    private static func foreignKey(_ rows: [Row]) -> (columns: String, reference: String) {
        let parent: String = rows[0]["table"]
        let columns = rows.map { $0["from"] as String }.joined(separator: ", ")
        let targets = rows.compactMap { $0["to"] as String? }
        var reference = parent.quoted
        if !targets.isEmpty { reference += "(\(targets.joined(separator: ", ")))" }
        return (columns, ([reference] + rows[0].foreignKeyActions).joined(separator: " "))
    }
}
