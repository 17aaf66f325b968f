import SchemaMigrations

/// The effects of a migration on generated rows.
struct RowFacts {
    /// The number of rows of each table before.
    var before: [SQLName: Int] = [:]
    /// The number of rows of each table after.
    var after: [SQLName: Int] = [:]
    /// The tables with `AUTOINCREMENT` that may give ids of deleted rows again.
    var lostSequences: Set<SQLName> = []
    /// The full-text tables that no longer match the table whose texts they index.
    var staleFullText: Set<SQLName> = []
    /// The columns whose values change.
    var changedColumns: [ChangedColumn] = []
}
