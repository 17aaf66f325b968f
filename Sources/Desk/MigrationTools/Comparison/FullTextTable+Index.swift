package import GRDB
package import SchemaMigrations

extension FullTextTable {
    /// Returns the full-text tables that index the texts of other tables.
    package static func fetchAllExternal(_ db: Database) throws -> [FullTextTable] {
        try SchemaObject.fetchAll(db).compactMap(FullTextTable.init)
            .filter { $0.content == .external }.sorted { $0.name.text < $1.name.text }
    }

    /// The statement that indexes the texts of another table again.
    package var rebuilding: String { "INSERT INTO \(name.sql)(\(name.sql)) VALUES ('rebuild');" }

    /// Returns whether the index agrees with the texts, on a connection that may write.
    ///
    /// It does not if the texts cannot be read, because their table or one of its columns is gone.
    package func isInSync(_ db: Database) throws -> Bool {
        let (columns, values) = isFTS5 ? (", rank", ", 1") : ("", "")
        do {
            // fts5.html, 6.4: a rank of 1 has the index compared with another table's texts as well.
            try db.execute(
                sql: "INSERT INTO \(name.inMain)(\(name.sql)\(columns)) VALUES ('integrity-check'\(values))")
            return true
        } catch let error as DatabaseError
            where [.SQLITE_CORRUPT, .SQLITE_ERROR].contains(error.resultCode)
        {
            return false
        }
    }

    /// Returns the statements that give the table the settings that it has (fts5.html, 6), which its definition does not name.
    ///
    /// - Parameter spelling: how the statements name the table.
    func settings(_ db: Database, _ spelling: (SQLName) -> String = \.sql) throws -> [String] {
        let table = SQLName("\(name)_config")
        guard isFTS5, try db.tableExists(table.text) else { return [] }
        return try Row.fetchAll(db, sql: "SELECT k, v FROM \(table.inMain) WHERE k <> 'version' ORDER BY k")
            .map {
                let values = $0.databaseValues.map { StoredValue($0).sql }
                let table = spelling(name)
                return "INSERT INTO \(table)(\(table), rank) VALUES (\(values.joined(separator: ", ")));"
            }
    }

    /// Returns the index, row by row, on a connection that may write.
    ///
    /// A query of the table itself shows only the texts, not whether they are indexed.
    package func index(_ db: Database) throws -> [[StoredValue]] {
        let table = "temp.migration_tools_vocabulary"
        let arguments =
            isFTS5 ? "fts5vocab('main', \(name.sql), 'instance')" : "fts4aux(main, \(name.sql))"
        try db.execute(sql: "CREATE VIRTUAL TABLE \(table) USING \(arguments)")
        let terms = try Row.fetchAll(db, sql: "SELECT * FROM \(table)")
        try db.execute(sql: "DROP TABLE \(table)")
        let sizes = SQLName("\(name)_docsize")
        let documents =
            try db.tableExists(sizes.text) ? Row.fetchAll(db, sql: "SELECT * FROM \(sizes.inMain)") : []
        return (documents + terms).map { $0.databaseValues.map(StoredValue.init) }
    }
}
