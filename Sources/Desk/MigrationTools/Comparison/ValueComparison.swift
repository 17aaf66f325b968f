package import SchemaMigrations

/// The values that a migration changes, column by column and row by row.
///
/// A foreign key is compared by the row that it refers to: where a migration gives a row another key and writes that
/// into the rows that refer to it, nothing changes; where it does not, the foreign keys change, though their values
/// stay.
package struct ValueComparison: Sendable {
    /// The rows of a table in which a column changes.
    package struct Change: Sendable {
        /// The table's name before.
        package let table: SQLName
        /// The column's name before.
        package let column: SQLName
        /// The table whose rows have got other keys, if that alone makes the column refer to other rows.
        package let renumberedParent: SQLName?
        /// The number of rows that were compared.
        package let compared: Int
        /// The number of rows in which the value is null, and was not.
        package let nulled: Int
        /// The number of rows in which a value that was not null is another one.
        package let lost: Int
        /// The positions of the changed rows before and after.
        let rows: [(old: Int, new: Int)]

        /// The number of rows in which the value changes.
        package var count: Int { rows.count }
    }

    /// A column that is gone, with values that no other column got, and that no new column of the table stands for.
    package struct LostColumn: Sendable {
        /// The table's name before.
        package let table: SQLName
        package let column: SQLName
        /// The number of rows in which the column had a value.
        package let values: Int
    }

    /// A table before and after a migration.
    struct Pair: Sendable {
        let old: TableValues
        /// The table after, with foreign keys that hold the keys which their rows had before.
        var new: TableValues
        /// The table after, as it is.
        let stored: TableValues
        /// The columns that both have, by their positions.
        let columns: [(old: Int, new: Int)]
        var rows: [(old: Int, new: Int)]
    }

    private(set) var pairs: [Pair] = []
    /// The changed columns, by table and column.
    package private(set) var changes: [Change] = []
    /// The columns that tables have lost, by table and column.
    package private(set) var lostColumns: [LostColumn] = []

    /// Compares the values before and after migrations that rename as they do.
    package init(from before: DatabaseValues, to after: DatabaseValues, _ renames: ScriptRenames) {
        for old in before.tables {
            guard
                let new = renames.table(old.layout.name).flatMap(after.table) ?? after.table(old.layout.name),
                new.layout.name != old.layout.name
                    || !renames.isTaken(old.layout.name, by: before.tables.map(\.layout.name))
            else { continue }
            let columns = old.layout.columns.enumerated().compactMap { position, column in
                new.columns.firstIndex(of: renames.column(column.name, of: old.layout.name)).map {
                    (old: position, new: $0)
                }
            }
            let plain = RowMatching(old, new, columns: columns)
            let translated = translated(new, of: old, columns)
            var pair = Pair(old: old, new: new, stored: new, columns: columns, rows: plain.pairs)
            if let translated {
                let other = RowMatching(old, translated, columns: columns)
                if Self.kept(other.pairs, old, translated, columns)
                    > Self.kept(plain.pairs, old, new, columns)
                {
                    pair.rows = other.pairs
                }
            }
            pairs.append(pair)
        }
        // Tables may refer to each other, so that only now all rows are known.
        pairs = pairs.map { pair in
            var pair = pair
            pair.new = translated(pair.stored, of: pair.old, pair.columns) ?? pair.stored
            return pair
        }
        changes = pairs.flatMap { pair in pair.columns.compactMap { Self.change(of: $0, in: pair) } }
        lostColumns = lostColumns(after)
    }

    private func lostColumns(_ after: DatabaseValues) -> [LostColumn] {
        let gone = pairs.flatMap { pair -> [(pair: Pair, column: Int, values: [Int])] in
            pair.old.layout.columns.indices.filter { position in
                !pair.columns.contains { $0.old == position }
            }.map { (pair, $0, pair.old.values(of: $0)) }
        }.filter { !$0.values.isEmpty }
        guard !gone.isEmpty else { return [] }
        let found = after.tables.flatMap { table in
            table.columns.indices.map { foundValues(of: $0, in: table) }
        }
        return gone.filter { pair, column, values in
            !found.contains { $0.holds(values, of: pair.stored.layout.name) }
                && !isCopied(column, in: pair) && !isConverted(column, in: pair)
        }.map {
            LostColumn(
                table: $0.pair.old.layout.name, column: $0.pair.old.columns[$0.column],
                values: $0.values.count)
        }.sorted { ($0.table, $0.column) < ($1.table, $1.column) }
    }

    /// The values of a column in which those of another one may be.
    private struct FoundValues {
        let table: SQLName
        /// True for a key that SQLite gives to each row: many small numbers.
        let isRowID: Bool
        let all: Set<Int>
        /// The values that rows have which are new, or in which the column has changed.
        let new: Set<Int>

        /// Returns whether the values of a column are among them, which was in a table.
        func holds(_ values: [Int], of other: SQLName) -> Bool {
            if isRowID { return !new.isEmpty && table != other && all == Set(values) }
            // In its own table, rows tell: see `isCopied`.
            return table == other ? new.isSuperset(of: values) : !new.isEmpty && all.isSuperset(of: values)
        }
    }

    private func foundValues(of column: Int, in table: TableValues) -> FoundValues {
        var kept: Set<Int> = []
        if let pair = pairs.first(where: { $0.stored.layout.name == table.layout.name }),
            let old = pair.columns.first(where: { $0.new == column })?.old
        {
            let name = pair.old.columns[old]
            let change = changes.first { $0.table == pair.old.layout.name && $0.column == name }
            kept = Set(pair.rows.map(\.new)).subtracting(change?.rows.map(\.new) ?? [])
        }
        let rows = 0..<table.count
        return FoundValues(
            table: table.layout.name,
            isRowID: table.layout.columns.contains { $0.isRowID && $0.name == table.columns[column] },
            all: Set(rows.map { table.meaning($0, column) }),
            new: Set(rows.filter { !kept.contains($0) }.map { table.meaning($0, column) }))
    }

    /// Returns whether another column of the table has the value of one that is gone in each row, and not always the same.
    private func isCopied(_ column: Int, in pair: Pair) -> Bool {
        let rows = pair.rows.filter { pair.old.meaning($0.old, column) != 0 }
        guard Set(rows.map { pair.old.meaning($0.old, column) }).count > 1 else { return false }
        return pair.stored.columns.indices.contains { new in
            rows.allSatisfy { pair.old.meaning($0.old, column) == pair.stored.meaning($0.new, new) }
        }
    }

    /// Returns whether a new column has a value in each row in which a column that is gone had one, and not always the same.
    private func isConverted(_ column: Int, in pair: Pair) -> Bool {
        let rows = pair.rows.filter { pair.old.meaning($0.old, column) != 0 }
        let isConstant = Set(rows.map { pair.old.meaning($0.old, column) }).count < 2
        return !rows.isEmpty
            && pair.stored.columns.indices.contains { new in
                guard !pair.columns.contains(where: { $0.new == new }) else { return false }
                let values = Set(rows.map { pair.stored.meaning($0.new, new) })
                return !values.contains(0) && (isConstant || values.count > 1)
            }
    }

    /// A number that means no value.
    private static let noRow = -1

    private static func kept(
        _ rows: [(old: Int, new: Int)], _ old: TableValues, _ new: TableValues,
        _ columns: [(old: Int, new: Int)]
    ) -> Int {
        rows.reduce(0) { count, row in
            count
                + columns.count { old.meaning(row.old, $0.old) == new.meaning(row.new, $0.new) }
        }
    }

    /// Returns a table after the migration, with the keys in its foreign keys that the rows had before.
    ///
    /// - Returns: nil, if no such key changes.
    private func translated(
        _ new: TableValues, of old: TableValues, _ columns: [(old: Int, new: Int)]
    ) -> TableValues? {
        var result: TableValues?
        for reference in old.layout.references {
            guard let parent = pairs.first(where: { $0.old.layout.name == reference.parent }),
                let ownOld = old.positions(of: reference.columns),
                let oldKey = parent.old.positions(of: reference.parentColumns)
            else { continue }
            let own = ownOld.compactMap { position in columns.first { $0.old == position }?.new }
            let newKey =
                new.layout.references.first { kept in
                    kept.parent == parent.stored.layout.name
                        && new.positions(of: kept.columns).map(Set.init) == Set(own)
                }.flatMap { parent.stored.positions(of: $0.parentColumns) }
                ?? oldKey.compactMap { position in parent.columns.first { $0.old == position }?.new }
            guard own.count == ownOld.count, newKey.count == oldKey.count,
                parent.rows.contains(where: {
                    parent.old.key($0.old, oldKey) != parent.stored.key($0.new, newKey)
                })
            else { continue }
            let byKey = parent.stored.rows(by: newKey)
            let oldByNew = Dictionary(parent.rows.map { ($0.new, $0.old) }, uniquingKeysWith: { $1 })
            result = (result ?? new).replacing(own) { row in
                guard let key = new.key(row, own) else { return nil }
                // A key that no row has any more refers to nothing.
                guard let target = byKey[key] else { return oldKey.map { _ in Self.noRow } }
                guard let source = oldByNew[target] else { return nil }
                return oldKey.map { parent.old.meaning(source, $0) }
            }
        }
        return result
    }

    private static func change(of column: (old: Int, new: Int), in pair: Pair) -> Change? {
        var rows: [(old: Int, new: Int)] = []
        var nulled = 0
        var lost = 0
        var isStored = false
        for row in pair.rows {
            let (old, new) = (pair.old.meaning(row.old, column.old), pair.new.meaning(row.new, column.new))
            guard old != new else { continue }
            rows.append(row)
            if new == 0 { nulled += 1 }
            if old != 0 { lost += 1 }
            if pair.stored.meaning(row.new, column.new) != old { isStored = true }
        }
        guard !rows.isEmpty else { return nil }
        let name = pair.old.columns[column.old]
        let parent = pair.old.layout.references.first { $0.columns.contains(name) }?.parent
        return Change(
            table: pair.old.layout.name, column: name, renumberedParent: isStored ? nil : parent,
            compared: pair.rows.count, nulled: nulled, lost: lost, rows: rows)
    }
}
