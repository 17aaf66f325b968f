import GRDB
import SchemaMigrations

/// The number of columns that `ALTER TABLE` has added to each table since it was created, by the statements that are run.
///
/// Rows from before are shorter (lang_altertable.html, section 4). They stay so when the table is renamed, and are gone once
/// another table takes its place.
final class AddedColumns {
    private var counts: [SQLName: Int] = [:]

    /// Counts the columns that a connection adds.
    init(on database: DatabaseQueue) {
        database.inDatabase { db in
            db.trace(options: .statement) { [weak self] event in
                if case .statement(let statement) = event { self?.note(statement.sql) }
            }
        }
    }

    func count(_ table: SQLName) -> Int { counts[table] ?? 0 }

    private func note(_ sql: String) {
        let bytes = Array(sql.utf8)
        var words = SQLLexer(bytes).prefix(10).map {
            SQLName(token: String(decoding: bytes[$0.range], as: UTF8.self))
        }[...]
        guard let verb = words.popFirst(), ["alter", "drop"].contains(verb), words.popFirst() == "table"
        else {
            return
        }
        if words.starts(with: ["if", "exists"]) { words = words.dropFirst(2) }
        if words.dropFirst().first == "." { words = words.dropFirst(2) }
        guard let table = words.popFirst() else { return }
        if verb == "drop" {
            counts[table] = nil
        } else if words.first == "add" {
            counts[table, default: 0] += 1
        } else if words.starts(with: ["rename", "to"]), let name = words.dropFirst(2).first {
            counts[name] = counts.removeValue(forKey: table)
        }
    }
}
