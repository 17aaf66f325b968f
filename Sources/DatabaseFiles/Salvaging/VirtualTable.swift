import Foundation
import GRDB
import SchemaMigrations

/// A full-text table: its words are found again from its rows (fts5.html, 4.4; fts3.html, 6.2).
struct VirtualTable {
    let name: SQLName
    /// The tables in which SQLite keeps it.
    let shadows: [SQLName]
    /// The table that has its rows; nil if another table of the app has them, or none, or if they are compressed.
    let content: SQLName?
    /// True if it is built again from another table.
    let isExternal: Bool
    let columns: [SQLName]

    static func fetchAll(_ db: Database) throws -> [VirtualTable] {
        let tables = try Row.fetchAll(
            db,
            sql:
                "SELECT name, sql FROM main.sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL%'"
        )
        // By its name alone, SQLite calls an app's own table a shadow, too.
        let own = try ShadowTables(db)
        return try tables.map { row in
            let name: SQLName = row["name"]
            let shadows = try SQLName.fetchAll(
                db,
                sql: """
                    SELECT name FROM pragma_table_list
                    WHERE schema = 'main' AND type = 'shadow' AND name LIKE ? || '\\_%' ESCAPE '\\'
                    """, arguments: [name.text.replacingOccurrences(of: "_", with: "\\_")]
            ).filter(own.contains)
            let text = FullTextTable(
                SchemaObject(type: "table", name: name, table: name, sql: row["sql"]))
            let hasRows = text?.content == .own && text?.isCompressed == false
            let content = shadows.first { hasRows && $0.folded == name.folded + "_content" }
            let columns = try SQLName.fetchAll(
                db, sql: "SELECT name FROM pragma_table_xinfo(?, 'main') WHERE hidden = 0", arguments: [name])
            return VirtualTable(
                name: name, shadows: shadows, content: content, isExternal: text?.content == .external,
                // Its place is after the others in the table with the rows.
                columns: columns + [text?.language].compactMap(\.self))
        }
    }

    /// Returns the layout of the rows, with the columns named as in the table itself.
    func layout(of content: TableLayout) -> TableLayout { content.renamed(columns: ["rowid"] + columns) }

    /// Builds the words again, from the rows that are there by then.
    ///
    /// - Returns: false if the other table is not there, or lacks a column.
    @discardableResult
    func rebuild(_ db: Database) throws -> Bool {
        do {
            try db.execute(sql: "INSERT INTO \(name.inMain)(\(name.sql)) VALUES ('rebuild')")
            return true
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            return false
        }
    }
}
