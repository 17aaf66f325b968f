package import SchemaMigrations

extension ValueComparison {
    /// Returns the number of a table's rows that are gone, and of those that are new; nil if the table is not there before and after.
    ///
    /// A row is another one if it has another key, unless its values show that a migration gave it that key. In a table without a
    /// key, a row is its values.
    package func exchangedRows(of table: SQLName) -> (gone: Int, new: Int)? {
        guard let pair = pairs.first(where: { $0.old.layout.name == table }) else { return nil }
        let key = pair.old.positions(of: pair.old.layout.primaryKey) ?? []
        let ofKey = pair.columns.filter { key.contains($0.old) }
        let identity = key.isEmpty || ofKey.count < key.count ? pair.columns : ofKey
        let kept = Set(pair.rows.map(\.old))
        let found = Set(pair.rows.map(\.new))
        var rest: [[Int]: Int] = [:]
        for row in 0..<pair.new.count where !found.contains(row) {
            rest[identity.map { pair.new.meaning(row, $0.new) }, default: 0] += 1
        }
        var gone = 0
        for row in 0..<pair.old.count where !kept.contains(row) {
            let values = identity.map { pair.old.meaning(row, $0.old) }
            if let count = rest[values], count > 0 { rest[values] = count - 1 } else { gone += 1 }
        }
        return (gone, rest.values.reduce(0, +))
    }
}
