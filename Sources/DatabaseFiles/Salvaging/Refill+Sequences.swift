import GRDB
import SchemaMigrations

extension Refill {
    /// Keeps ids of deleted rows from being given again (autoinc.html), and counts the tables' last ids that are lost.
    mutating func raiseSequences() throws {
        let sequences: SQLName = "sqlite_sequence"
        guard try db.hasTable(sequences) else { return }
        var table = SalvageReport.Table(name: sequences.text)
        if let tree = damaged.tree(of: sequences), tree.isTable {
            table.missingPages = tree.missing.count
            for leaf in tree.leaves {
                var others = 0
                let unreadable = try damaged.forEachRow(in: leaf) { _, record in
                    guard let name = record.text(0), let number = record.integer(1) else {
                        others += 1
                        return
                    }
                    try raise(SQLName(name), to: number)
                }
                table.unreadable += unreadable + others
            }
        } else if damaged.mayHave(sequences) {
            table.missingPages = 1
        }
        tables[sequences] = table
    }

    private func raise(_ table: SQLName, to number: Int64) throws {
        guard number >= 0 else { return }
        try db.execute(
            sql: "UPDATE main.sqlite_sequence SET seq = max(seq, ?) WHERE name = ?",
            arguments: [number, table])
        if db.changesCount == 0, layouts.contains(where: { $0.name == table && !$0.isIndex }) {
            try db.execute(
                sql: "INSERT INTO main.sqlite_sequence(name, seq) VALUES (?, ?)", arguments: [table, number])
        }
    }
}
