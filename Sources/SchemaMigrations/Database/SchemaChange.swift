import GRDB

/// A change of the schema, of which GRDB's observers have to be told: SQLite tells them of rows only.
enum SchemaChange {
    /// There are new tables, views, indexes or triggers.
    case additions
    /// Something was changed or dropped.
    case anything
}

extension Database {
    /// Tells the app's observers that the schema has changed.
    func notifyObservers(of change: SchemaChange) throws {
        switch change {
        // Nobody can observe a new table yet, except those who observe everything, the ledger included.
        case .additions: try notifyChanges(in: Table("schema_migrations"))
        // GRDB asks for the columns of every table to do so.
        case .anything: try notifyChanges(in: .fullDatabase)
        }
    }
}
