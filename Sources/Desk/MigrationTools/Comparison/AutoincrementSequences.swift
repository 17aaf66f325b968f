package import GRDB
package import SchemaMigrations

/// The highest ids that tables with `AUTOINCREMENT` ever had (autoinc.html, 3).
package struct AutoincrementSequences: Sendable {
    /// The numbers, by table.
    package let numbers: [SQLName: Int64]

    /// Reads the sequences of a database.
    package init(_ db: Database) throws {
        guard
            try Bool.fetchOne(
                db, sql: "SELECT EXISTS (SELECT 1 FROM main.sqlite_master WHERE name = 'sqlite_sequence')")
                == true
        else {
            numbers = [:]
            return
        }
        numbers = try Dictionary(
            Row.fetchAll(db, sql: "SELECT name, seq FROM main.sqlite_sequence WHERE typeof(seq) = 'integer'")
                .map { ($0["name"], $0["seq"]) }, uniquingKeysWith: max)
    }

    /// Returns the tables whose numbers differ, by name; a table that never had a row is at 0.
    package func differences(
        from other: AutoincrementSequences
    ) -> [(table: SQLName, number: Int64, other: Int64)] {
        Set(numbers.keys).union(other.numbers.keys).sorted { $0.text < $1.text }
            .map { (table: $0, number: numbers[$0, default: 0], other: other.numbers[$0, default: 0]) }
            .filter { $0.number != $0.other }
    }

    /// Raises the numbers, as if rows with higher ids had been inserted and deleted.
    package static func raise(_ db: Database, by count: Int64) throws {
        for (table, number) in try AutoincrementSequences(db).numbers where number <= .max - count {
            try db.execute(
                sql: "UPDATE main.sqlite_sequence SET seq = ? WHERE name = ?",
                arguments: [number + count, table])
        }
    }
}
