public import SchemaMigrations

/// How many rows the tables must have after an upgrade.
public struct RowCounts: Sendable {
    /// A change in the number of a table's rows that a migration makes on purpose.
    ///
    /// It counts for upgrades that run the migration, and not for those that begin at its version or above.
    public struct Change: Sendable {
        let version: SchemaVersion
        /// Changes the numbers by table; a table that is not to be counted has none.
        let apply: @Sendable (inout [String: Int]) -> Void

        /// A table is dropped, with its rows.
        public static func dropped(_ table: String, by version: SchemaVersion) -> Change {
            Change(version: version) { $0[table] = nil }
        }

        /// A table has another name.
        public static func renamed(_ table: String, to name: String, by version: SchemaVersion) -> Change {
            merged([table], into: name, by: version)
        }

        /// The rows of several tables go into one, which may be one of them.
        public static func merged(
            _ tables: [String], into name: String, by version: SchemaVersion
        ) -> Change {
            Change(version: version) { counts in
                let found = tables.compactMap { counts.removeValue(forKey: $0) }
                guard !found.isEmpty else { return }
                counts[name, default: 0] += found.reduce(0, +)
            }
        }

        /// A table loses all of its rows.
        public static func emptied(_ table: String, by version: SchemaVersion) -> Change {
            changed(table, by: version) { _ in 0 }
        }

        /// A table has another number of rows, which the closure tells from the number before.
        public static func changed(
            _ table: String, by version: SchemaVersion, _ count: @escaping @Sendable (Int) -> Int
        ) -> Change {
            Change(version: version) { $0[table] = $0[table].map(count) }
        }

        /// How many rows a table has afterwards cannot be told.
        public static func uncounted(_ table: String, by version: SchemaVersion) -> Change {
            Change(version: version) { $0[table] = nil }
        }
    }

    /// Ascending by version.
    let changes: [Change]

    /// Every table that was there has as many rows as before.
    public static let unchanged = RowCounts(changes: [])

    /// Every table that was there has as many rows as before, but for these changes.
    public static func unchanged(except changes: [Change]) -> RowCounts {
        RowCounts(changes: changes.sorted { $0.version < $1.version })
    }

    /// The numbers that must be there after migrations, by table; of tables that have none nothing is expected.
    func expected(after applied: Set<SchemaVersion>, from before: [String: Int]) -> [String: Int] {
        var counts = before
        for change in changes where applied.contains(change.version) { change.apply(&counts) }
        return counts
    }
}
