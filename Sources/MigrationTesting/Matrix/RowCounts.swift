public import SchemaMigrations

/// The number of rows that each table must have after an upgrade.
public struct RowCounts: Sendable {
    /// An intended change by a migration in the number of a table's rows.
    ///
    /// It applies to upgrades that run the migration, not to upgrades that begin at its version or above.
    public struct Change: Sendable {
        let version: SchemaVersion
        /// Changes the numbers by table; removes that of a table that is dropped or not to be counted.
        let apply: @Sendable (inout [SQLName: Int]) -> Void

        /// Expects that a migration drops a table and its rows.
        ///
        /// - Parameters:
        ///   - table: the table.
        ///   - version: the version of the migration.
        public static func dropped(_ table: String, by version: SchemaVersion) -> Change {
            Change(version: version) { $0[SQLName(table)] = nil }
        }

        /// Expects that a migration renames a table.
        ///
        /// - Parameters:
        ///   - table: the table.
        ///   - name: its new name.
        ///   - version: the version of the migration.
        public static func renamed(_ table: String, to name: String, by version: SchemaVersion) -> Change {
            merged([table], into: name, by: version)
        }

        /// Expects that a migration moves the rows of several tables into one, which may be one of them.
        ///
        /// - Parameters:
        ///   - tables: the tables.
        ///   - name: the table that gets their rows.
        ///   - version: the version of the migration.
        public static func merged(
            _ tables: [String], into name: String, by version: SchemaVersion
        ) -> Change {
            Change(version: version) { counts in
                let found = tables.compactMap { counts.removeValue(forKey: SQLName($0)) }
                guard !found.isEmpty else { return }
                counts[SQLName(name), default: 0] += found.reduce(0, +)
            }
        }

        /// Expects that a migration deletes all rows of a table.
        ///
        /// - Parameters:
        ///   - table: the table.
        ///   - version: the version of the migration.
        public static func emptied(_ table: String, by version: SchemaVersion) -> Change {
            changed(table, by: version) { _ in 0 }
        }

        /// Expects that a migration changes a table's number of rows, which the closure computes from the
        /// number before.
        ///
        /// - Parameters:
        ///   - table: the table.
        ///   - version: the version of the migration.
        ///   - count: returns the number after the migration from the number before.
        public static func changed(
            _ table: String, by version: SchemaVersion, _ count: @escaping @Sendable (Int) -> Int
        ) -> Change {
            Change(version: version) { $0[SQLName(table)] = $0[SQLName(table)].map(count) }
        }

        /// Accepts any number of rows in a table after a migration.
        ///
        /// - Parameters:
        ///   - table: the table.
        ///   - version: the version of the migration.
        public static func uncounted(_ table: String, by version: SchemaVersion) -> Change {
            Change(version: version) { $0[SQLName(table)] = nil }
        }
    }

    /// The changes, in ascending order of their versions.
    let changes: [Change]

    /// Expects that every table that existed before has as many rows as before.
    public static let unchanged = RowCounts(changes: [])

    /// Expects that every table that existed before has as many rows as before, except for these changes.
    ///
    /// - Parameter changes: the changes that are intended.
    public static func unchanged(except changes: [Change]) -> RowCounts {
        RowCounts(changes: changes.sorted { $0.version < $1.version })
    }

    /// Returns the expected numbers of rows after migrations, by table; a table without a number may have
    /// any.
    func expected(after applied: Set<SchemaVersion>, from before: [SQLName: Int]) -> [SQLName: Int] {
        var counts = before
        for change in changes where applied.contains(change.version) { change.apply(&counts) }
        return counts
    }
}
