import SchemaMigrations

/// A column whose values a migration changes in generated rows.
struct ChangedColumn {
    typealias Example = ValueComparison.Example

    /// Two different values that become the same.
    struct Merge {
        let first: String
        let second: String
        let result: String
    }

    /// The table's name before.
    let table: SQLName
    /// The column's name before.
    let column: SQLName
    /// The table whose rows have got other keys, if that alone makes the column refer to other rows.
    let renumberedParent: SQLName?
    /// A row in which a value is lost.
    let example: Example
    /// The column whose values this one has got, in every row.
    let source: SQLName?
    /// Two values that become the same; nil if all that differ still do.
    let merge: Merge?
    /// True if one value, or `NULL`, replaces all.
    let isEmptied: Bool
    /// True if the new values no longer show which the old ones were, in values of the declared type.
    let isLossy: Bool

    /// - Returns: nil if no value is lost: only nulls change, or another column has got the values.
    init?(_ change: ValueComparison.Change, in comparison: ValueComparison) {
        guard let pair = comparison.pairs.first(where: { $0.old.layout.name == change.table }),
            let position = pair.old.columns.firstIndex(of: change.column),
            let column = pair.columns.first(where: { $0.old == position })
        else { return nil }
        func old(_ row: (old: Int, new: Int)) -> StoredValue { pair.old.rows[row.old][column.old] }
        func new(_ row: (old: Int, new: Int)) -> StoredValue { pair.stored.rows[row.new][column.new] }
        let changed = change.rows.filter { old($0) != .null }
        guard !changed.isEmpty else { return nil }
        let isMoved = pair.new.columns.indices.contains { other in
            !pair.columns.contains { $0.new == other }
                && pair.rows.allSatisfy {
                    pair.old.meaning($0.old, column.old) == pair.new.meaning($0.new, other)
                }
        }
        if isMoved { return nil }
        table = change.table
        self.column = change.column
        renumberedParent = change.renumberedParent
        source = pair.columns.first { other in
            other.old != column.old
                && pair.rows.allSatisfy {
                    pair.old.meaning($0.old, other.old) == pair.new.meaning($0.new, column.new)
                }
        }.map { pair.old.columns[$0.old] }
        let found = Example(of: change, in: pair, column, isExchange: source != nil)
        guard let found else { return nil }
        example = found
        let all = pair.rows.filter { old($0) != .null }.map { (old: old($0), new: new($0)) }
        isEmptied = Set(all.map(\.new)).count == 1
        let affinity = pair.old.layout.columns[position].affinity
        // An empty text says as little as a null.
        let typical = all.filter { affinity.isTypical($0.old) && $0.old != .text([]) }
        let typicalMerge = Self.merge(typical)
        merge = typicalMerge ?? Self.merge(all)
        isLossy =
            typical.contains { $0.new == .null } || typicalMerge != nil
            || Set(typical.map { [$0.old, $0.new] }).count > Set(typical.map(\.old)).count
    }

    private static func merge(_ values: [(old: StoredValue, new: StoredValue)]) -> Merge? {
        var sources: [Int: StoredValue] = [:]
        let sorted = values.sorted {
            ($0.old.isPlain ? 0 : 1, $0.old.sql) < ($1.old.isPlain ? 0 : 1, $1.old.sql)
        }
        for (old, new) in sorted where new != .null {
            if let other = sources[new.meaning], other.meaning != old.meaning {
                return Merge(first: other.excerpt, second: old.excerpt, result: new.excerpt)
            }
            sources[new.meaning] = old
        }
        return nil
    }
}

extension Affinity {
    /// Returns whether a column of the affinity holds a value if an app writes what the type says.
    fileprivate func isTypical(_ value: StoredValue) -> Bool {
        switch (self, value) {
        case (.integer, .integer), (.real, .integer), (.real, .real), (.text, .text), (.blob, _): true
        case (.numeric, .blob): false
        case (.numeric, _): true
        default: false
        }
    }
}
