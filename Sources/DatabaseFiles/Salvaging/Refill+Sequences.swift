import GRDB
import SchemaMigrations

extension Refill {
    /// Keeps ids of deleted rows from being given again (autoinc.html).
    func raiseSequences() throws {
        guard try db.hasTable("sqlite_sequence"), let tree = damaged.tree(of: "sqlite_sequence"), tree.isTable
        else { return }
        for row in try damaged.rows(of: tree) {
            guard let name = row.record.text(0), let number = row.record.integer(1), number >= 0 else {
                continue
            }
            try db.execute(
                sql: "UPDATE main.sqlite_sequence SET seq = max(seq, ?) WHERE name = ?",
                arguments: [number, name])
            if db.changesCount == 0, layouts.contains(where: { $0.name == SQLName(name) && !$0.isIndex }) {
                try db.execute(
                    sql: "INSERT INTO main.sqlite_sequence(name, seq) VALUES (?, ?)",
                    arguments: [name, number])
            }
        }
    }
}
