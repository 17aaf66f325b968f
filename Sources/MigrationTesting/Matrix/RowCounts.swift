import SchemaMigrations

/// The number of rows that each table must have after an upgrade.
public struct RowCounts: Sendable {
    /// An intended change by a migration in the number of a table's rows.
    ///
    /// It applies to upgrades that run the migration, not to upgrades that begin at it or later.
    public struct Change: Sendable {
        let migration: MigrationKey
        /// Changes the numbers by table; removes that of a table that is dropped or not to be counted.
        let apply: @Sendable (inout [SQLName: Int]) -> Void

        /// Expects that a migration drops a table and its rows.
        ///
        /// - Parameters:
        ///   - table: the table.
        ///   - migration: the migration's version or identifier.
        public static func dropped(_ table: String, by migration: MigrationKey) -> Change {
            Change(migration: migration) { $0[SQLName(table)] = nil }
        }

        /// Expects that a migration renames a table.
        ///
        /// - Parameters:
        ///   - table: the table.
        ///   - name: its new name.
        ///   - migration: the migration's version or identifier.
        public static func renamed(_ table: String, to name: String, by migration: MigrationKey) -> Change {
            merged([table], into: name, by: migration)
        }

        /// Expects that a migration moves the rows of several tables into one, which may be one of them.
        ///
        /// - Parameters:
        ///   - tables: the tables.
        ///   - name: the table that gets their rows.
        ///   - migration: the migration's version or identifier.
        public static func merged(
            _ tables: [String], into name: String, by migration: MigrationKey
        ) -> Change {
            Change(migration: migration) { counts in
                let found = tables.compactMap { counts.removeValue(forKey: SQLName($0)) }
                guard !found.isEmpty else { return }
                counts[SQLName(name), default: 0] += found.reduce(0, +)
            }
        }

        /// Expects that a migration deletes all rows of a table.
        ///
        /// - Parameters:
        ///   - table: the table.
        ///   - migration: the migration's version or identifier.
        public static func emptied(_ table: String, by migration: MigrationKey) -> Change {
            changed(table, by: migration) { _ in 0 }
        }

        /// Expects that a migration changes a table's number of rows, which the closure computes from the
        /// number before.
        ///
        /// - Parameters:
        ///   - table: the table.
        ///   - migration: the migration's version or identifier.
        ///   - count: returns the number after the migration from the number before.
        public static func changed(
            _ table: String, by migration: MigrationKey, _ count: @escaping @Sendable (Int) -> Int
        ) -> Change {
            Change(migration: migration) { $0[SQLName(table)] = $0[SQLName(table)].map(count) }
        }

        /// Accepts any number of rows in a table after a migration.
        ///
        /// - Parameters:
        ///   - table: the table.
        ///   - migration: the migration's version or identifier.
        public static func uncounted(_ table: String, by migration: MigrationKey) -> Change {
            Change(migration: migration) { $0[SQLName(table)] = nil }
        }
    }

    let changes: [Change]

    /// Expects that every table that existed before has as many rows as before.
    public static let unchanged = RowCounts(changes: [])

    /// Expects that every table that existed before has as many rows as before, except for these changes.
    ///
    /// - Parameter changes: the changes that are intended.
    public static func unchanged(except changes: [Change]) -> RowCounts {
        RowCounts(changes: changes)
    }

    /// Returns the expected numbers of rows after migrations, by table; a table without a number may have
    /// any.
    func expected(after applied: [MigrationKey], from before: [SQLName: Int]) -> [SQLName: Int] {
        var counts = before
        for migration in applied {
            for change in changes where change.migration == migration { change.apply(&counts) }
        }
        return counts
    }
}
