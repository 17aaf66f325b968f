import GRDB

/// A change of the schema to report to GRDB's observers, because SQLite reports only changes of rows.
enum SchemaChange {
    /// Only new tables, views, indexes or triggers.
    case additions
    /// Any change, including changed or dropped tables, views, indexes or triggers.
    case anything
}

extension Database {
    /// Notifies the app's observers that the schema has changed.
    func notifyObservers(of change: SchemaChange) throws {
        switch change {
        // No observer can observe a new table yet, except observers of everything, which includes the ledger.
        case .additions: try notifyChanges(in: Table("schema_migrations"))
        case .anything: try notifyObserversOfAllTables()
        }
    }

    /// Notifies the observers of each table that the connection can read.
    ///
    /// GRDB's region of the full database fails if one table has a quote in its name, or needs a module or a
    /// tokenizer that is not registered. Nobody can observe such a table.
    private func notifyObserversOfAllTables() throws {
        for schema in try SQLName.fetchAll(self, sql: "SELECT name FROM pragma_database_list") {
            let master = "\(schema.sql).sqlite_master"
            for table in try SQLName.fetchAll(self, sql: "SELECT name FROM \(master) WHERE type = 'table'") {
                do {
                    let statement = try makeStatement(sql: "SELECT * FROM \(schema.sql).\(table.sql)")
                    try notifyChanges(in: statement.databaseRegion)
                } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
                    continue
                }
            }
        }
    }
}
