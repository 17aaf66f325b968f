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
        // GRDB asks for the columns of every table to do so.
        case .anything: try notifyChanges(in: .fullDatabase)
        }
    }
}
