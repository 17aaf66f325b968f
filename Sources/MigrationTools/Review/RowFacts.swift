import SchemaMigrations

/// What a migration did to generated rows.
struct RowFacts {
    /// Two values of a column that a migration made the same.
    struct MergedValues {
        let table: SQLName
        let column: SQLName
        let first: StoredValue
        let second: StoredValue
        let result: StoredValue
    }

    /// The number of rows of each table before.
    var before: [SQLName: Int] = [:]
    /// The number of rows of each table after.
    var after: [SQLName: Int] = [:]
    /// The tables with `AUTOINCREMENT` that may give ids of deleted rows again.
    var lostSequences: Set<SQLName> = []
    /// The full-text tables that no longer match the table whose texts they index.
    var staleFullText: Set<SQLName> = []
    /// One pair of values for each column whose type changed, if different values became the same.
    var mergedValues: [MergedValues] = []
}
