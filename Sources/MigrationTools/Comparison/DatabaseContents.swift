import GRDB
import SchemaMigrations
import TextOutput

/// A database's schema and rows, for comparing them with another's.
struct DatabaseContents {
    private let schema: DatabaseSchema
    private let rows: [SQLName: [[DatabaseValue]]]

    init(_ db: Database) throws {
        schema = try DatabaseSchema(db)
        var rows: [SQLName: [[DatabaseValue]]] = [:]
        for object in schema.objects.values where object.type == "table" {
            let cursor = try Row.fetchCursor(db, sql: "SELECT * FROM \(object.name.inMain)")
            var found: [[DatabaseValue]] = []
            while let row = try cursor.next() { found.append(Array(row.databaseValues)) }
            rows[object.name] = found
        }
        self.rows = rows
    }

    /// Returns the differences between two databases, a sentence each.
    func differences(from other: DatabaseContents, calling here: String, _ there: String) -> [String] {
        var differences = schema.difference(to: other.schema).changes.map { $0.sentence(after: here, there) }
        for (table, found) in rows.sorted(by: { $0.key.text < $1.key.text }) {
            guard let others = other.rows[table], others != found else { continue }
            differences.append(
                "table \(table.text.quoted) has \(found.count.counting("row")) after \(here), \(others.count) after \(there)"
                    + (found.count == others.count ? ", with other values" : ""))
        }
        return differences
    }
}
