package import GRDB
import SchemaMigrations

/// The rows of a table that a generated type cannot read, because of the values in one of its columns.
package struct UnreadableRows: Sendable, Hashable {
    /// The version of the schema.
    package let version: String
    package let table: String
    package let column: String
    /// The Swift type of the column.
    package let type: String
    /// The number of rows.
    package private(set) var count = 0
    /// The key of the first row, as `id = 17`; empty if the table has none.
    package private(set) var firstKey = ""

    /// Finds such rows in the tables of a database.
    ///
    /// - Parameter schema: the types, for the schema that the database has.
    package static func find(_ db: Database, _ schema: TypedSchema) throws -> [UnreadableRows] {
        try schema.tables.filter { $0.kind == .table }.flatMap { try find(db, $0, schema.version) }
    }

    private static func find(_ db: Database, _ table: TypedTable, _ version: String) throws
        -> [UnreadableRows]
    {
        var found = table.columns.map {
            UnreadableRows(
                version: version, table: table.name.text, column: $0.name.text, type: $0.coding.swiftType)
        }
        let checks = table.columns.map { CodingCheck($0.coding) }
        let suspicions = zip(table.columns, checks).compactMap { column, check in
            check.suspicion(of: column.name.sql)
        }
        guard !suspicions.isEmpty else { return [] }
        let values = table.columns.map { column in
            let name = column.name.sql
            return column.coding == .plain("String")
                ? "CASE WHEN instr(\(name), char(0)) THEN x'00' ELSE \(name) END" : name
        }
        let key = table.key.map(\.sql)
        // A query of its own for each column would read a large table as often as it has columns.
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT \((values + key).joined(separator: ", ")) FROM \(table.name.inMain)
                WHERE \(suspicions.joined(separator: " OR "))
                """)
        while let row = try rows.next() {
            for index in table.columns.indices {
                let stored: DatabaseValue = row[index]
                let isRead =
                    stored.isNull
                    ? table.columns[index].isOptional || table.columns[index].coding == .any
                    : checks[index].reads(stored)
                if isRead { continue }
                if found[index].count == 0 {
                    found[index].firstKey = table.key.indices.map { number in
                        "\(table.key[number]) = \(row[values.count + number] as DatabaseValue)"
                    }.joined(separator: ", ")
                }
                found[index].count += 1
            }
        }
        return found.filter { $0.count > 0 }
    }
}
