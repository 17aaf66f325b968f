package import GRDB
package import SchemaMigrations

/// The rows of a table, value by value, as SQLite stores them.
package struct StoredRows: Sendable {
    /// The rows, in the order in which SQLite returns them: their values, and for texts their bytes.
    package private(set) var rows: [[StoredValue]] = []
    /// The columns that the values belong to; `rowid` first, where it is not a column of the table.
    package let columns: [SQLName]

    /// Reads a table.
    ///
    /// - Parameter isWritable: whether to read only what an INSERT can write, which leaves out generated columns.
    package init(_ db: Database, table: SQLName, isWritable: Bool = false) throws {
        let infos = try Row.fetchAll(
            db, sql: "SELECT name, hidden, pk, type FROM pragma_table_xinfo(?, 'main')", arguments: [table])
        var columns = infos.filter { $0["hidden"] == 0 || !isWritable && $0["hidden"] as Int > 1 }
            .map { $0["name"] as SQLName }
        let hasRowID =
            try Bool.fetchOne(
                db,
                sql:
                    "SELECT NOT wr AND type <> 'virtual' FROM pragma_table_list(?) WHERE schema = 'main'",
                arguments: [table]) ?? false
        let keys = infos.filter { $0["pk"] as Int > 0 }
        let isAlias = keys.count == 1 && SQLName(keys[0]["type"] as String) == "integer"
        if hasRowID, !isAlias, !infos.contains(where: { $0["name"] as SQLName == "rowid" }) {
            columns.insert("rowid", at: 0)
        }
        self.columns = columns
        var rows: [[StoredValue]] = []
        try Self.forEach(db, table, columns) { rows.append($0) }
        self.rows = rows
    }

    /// Calls a closure with the values of each row in some columns.
    static func forEach(
        _ db: Database, _ table: SQLName, _ columns: [SQLName], _ body: ([StoredValue]) -> Void
    ) throws {
        try forEach(db.makeStatement(sql: "SELECT \(columns.sql) FROM \(table.inMain)"), body)
    }

    /// Calls a closure with the values of each row that a statement returns.
    static func forEach(_ statement: Statement, _ body: ([StoredValue]) -> Void) throws {
        let cursor = try Row.fetchCursor(statement)
        let columns = 0..<statement.columnCount
        while try cursor.next() != nil { body(columns.map { StoredValue(statement, column: $0) }) }
    }
}
