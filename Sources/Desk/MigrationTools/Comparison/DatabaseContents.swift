package import GRDB
import SchemaMigrations
import TextOutput

/// A database's schema and rows, for comparing them with another's.
package struct DatabaseContents {
    private let schema: DatabaseSchema
    private let rows: [SQLName: [[StoredValue]]]
    /// The indexes of full-text tables.
    private let indexes: [SQLName: [[StoredValue]]]
    private let sequences: AutoincrementSequences

    /// Reads a database, on a connection that may write.
    package init(_ db: Database) throws { try self.init(db, isWritable: false) }

    /// Reads a database.
    ///
    /// - Parameter isWritable: whether to leave out what SQLite computes from the rest: generated columns, and full-text tables over
    ///   the rows of others.
    init(_ db: Database, isWritable: Bool) throws {
        schema = try DatabaseSchema(db)
        var rows: [SQLName: [[StoredValue]]] = [:]
        var indexes: [SQLName: [[StoredValue]]] = [:]
        for object in schema.objects.values where object.type == "table" {
            let fullText = FullTextTable(object)
            if isWritable, fullText?.content == .external { continue }
            rows[object.name] = try StoredRows(db, table: object.name, isWritable: isWritable).rows
            if let fullText {
                let settings = try fullText.settings(db).map { [StoredValue($0.databaseValue)] }
                indexes[object.name] = try fullText.index(db) + settings
            }
        }
        self.rows = rows
        self.indexes = indexes
        sequences = try AutoincrementSequences(db)
    }

    /// Returns the differences between two databases, a sentence each.
    package func differences(
        from other: DatabaseContents, calling here: String, _ there: String
    ) -> [String] {
        var differences = schema.difference(to: other.schema).changes.map { $0.sentence(after: here, there) }
        for (table, found) in rows.sorted(by: { $0.key.text < $1.key.text }) {
            guard let others = other.rows[table] else { continue }
            if others != found {
                differences.append(
                    "table \(table.text.quoted) has \(found.count.counting("row")) after \(here), \(others.count) after \(there)"
                        + (found.count == others.count ? ", with other values" : ""))
            } else if indexes[table] != other.indexes[table] {
                differences.append(
                    "the full-text index of table \(table.text.quoted) differs between \(here) and \(there)"
                )
            }
        }
        return differences
            + sequences.differences(from: other.sequences).map { table, number, otherNumber in
                """
                the AUTOINCREMENT sequence of table \(table.text.quoted) is at \(number) after \(here), \(otherNumber) \
                after \(there)
                """
            }
    }
}
