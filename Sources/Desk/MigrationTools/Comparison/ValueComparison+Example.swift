import SchemaMigrations

extension ValueComparison {
    /// A row in which a value changes.
    package struct Example: Sendable {
        /// The condition that selects the row, such as `id = 3`.
        package let row: String
        package let before: StoredValue
        package let after: StoredValue

        /// The change in a sentence, such as `where id = 3, 'a' becomes NULL`.
        package var sentence: String {
            before == after
                ? "where \(row), \(before.excerpt) is the key of another row now"
                : "where \(row), \(before.excerpt) becomes \(after.excerpt)"
        }

        /// Chooses a row that shows the change well: a value that is lost, and short.
        init?(
            of change: Change, in pair: Pair, _ column: (old: Int, new: Int), isExchange: Bool = false
        ) {
            func old(_ row: (old: Int, new: Int)) -> StoredValue { pair.old.rows[row.old][column.old] }
            func new(_ row: (old: Int, new: Int)) -> StoredValue { pair.stored.rows[row.new][column.new] }
            func rank(_ row: (old: Int, new: Int)) -> Int {
                (old(row) == .null ? 4 : 0) + ((new(row) == .null) == isExchange ? 2 : 0)
                    + (old(row).isPlain && new(row).isPlain ? 0 : 1)
            }
            guard !pair.old.rows.isEmpty else { return nil }
            let ranks = change.rows.prefix(10_000).map { (rank: rank($0), row: $0) }
            guard let best = ranks.min(by: { $0.rank < $1.rank })?.row else { return nil }
            let key = pair.old.positions(of: pair.old.layout.primaryKey) ?? []
            let names = key.isEmpty ? Array(pair.old.columns.indices.prefix(3)) : key
            row = names.map {
                let value = pair.old.rows[best.old][$0]
                return "\(pair.old.columns[$0].plain) \(value == .null ? "IS" : "=") \(value.excerpt)"
            }.joined(separator: " AND ")
            before = old(best)
            after = new(best)
        }
    }

    /// Returns a row in which a column changes; nil if only numbers were kept.
    package func example(of change: Change) -> Example? {
        guard let pair = pairs.first(where: { $0.old.layout.name == change.table }),
            let position = pair.old.columns.firstIndex(of: change.column),
            let column = pair.columns.first(where: { $0.old == position })
        else { return nil }
        return Example(of: change, in: pair, column)
    }
}

extension StoredValue {
    /// True if a sentence can show the value: it is neither empty nor long, and has no line break.
    var isPlain: Bool {
        let text = sql
        return text.utf8.count <= 20 && text != "''" && !text.contains(where: \.isNewline)
    }
}
