import SchemaMigrations

/// The rows that a table has before and after a migration, in pairs.
///
/// A row is recognized by the columns in which the most values stay what they are: its key, as a rule, and its other
/// values if the migration gives it another key.
struct RowMatching {
    /// The positions of the rows before and after.
    private(set) var pairs: [(old: Int, new: Int)] = []

    /// - Parameter columns: the positions of the columns that both tables have, before and after.
    init(_ old: TableValues, _ new: TableValues, columns: [(old: Int, new: Int)]) {
        let key = old.layout.primaryKey.compactMap { name in
            columns.first { old.columns[$0.old] == name }
        }
        let others = columns.filter { column in !key.contains { $0.old == column.old } }
        var candidates = columns.map { [$0] }
        if others.count > 1 { candidates.insert(others, at: 0) }
        if !key.isEmpty, key.count == old.layout.primaryKey.count { candidates.insert(key, at: 0) }
        var best = -1
        func consider(_ pairs: [(old: Int, new: Int)]) {
            var kept = 0
            for pair in pairs {
                for column in columns
                where old.meaning(pair.old, column.old) == new.meaning(pair.new, column.new) {
                    kept += 1
                }
            }
            guard kept > best else { return }
            best = kept
            self.pairs = pairs
        }
        for candidate in candidates {
            let news = new.rows(by: candidate.map(\.new))
            consider(
                old.rows(by: candidate.map(\.old)).compactMap { key, row in
                    guard row >= 0, let found = news[key], found >= 0 else { return nil }
                    return (row, found)
                })
            if best == old.count * columns.count { break }
        }
        if best < old.count * columns.count, old.count == new.count {
            let inOrder = (0..<old.count).map { (old: $0, new: $0) }
            // The rest is in order, too, as far as its values show.
            if pairs.allSatisfy({ $0.old == $0.new }) { pairs = inOrder } else { consider(inOrder) }
        }
        pairs.sort { $0.old < $1.old }
    }
}
