import GRDB
import MigrationTools
import SchemaMigrations

/// Some rows of each table, with the rows that they refer to.
struct FixtureSample {
    /// A row, with its id if it has one.
    struct Row {
        let id: DatabaseValue?
        let values: [DatabaseValue]
    }

    /// The rows by table, in the order in which they were found.
    private(set) var rows: [SQLName: [Row]] = [:]

    private let db: Database
    private let layouts: [SQLName: TableLayout]
    private var seen: Set<Key> = []

    private struct Key: Hashable {
        let table: SQLName
        let values: [StoredValue]
    }

    /// Takes the sample.
    init(_ db: Database, of tables: [TableLayout], rowsPerTable: Int) throws {
        self.db = db
        layouts = Dictionary(tables.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        for table in tables {
            for key in try spread(table, rowsPerTable) { try take(table, key) }
        }
    }

    /// Returns the keys of rows from all parts of a table.
    private func spread(_ table: TableLayout, _ limit: Int) throws -> [[DatabaseValue]] {
        let name = table.name.inMain
        let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM \(name)") ?? 0
        guard limit > 0, count > 0 else { return [] }
        let keys = table.keyColumns.joined(separator: ", ")
        let wanted = min(limit, count)
        return try GRDB.Row.fetchAll(
            db,
            sql: """
                SELECT * FROM (SELECT \(keys), row_number() OVER (ORDER BY \(keys)) AS number FROM \(name))
                WHERE (number - 1) * ? % ? < ?
                """, arguments: [wanted, count, wanted]
        ).map { Array($0.databaseValues.dropLast()) }
    }

    /// Takes a row and the rows that it refers to, unless it was taken before.
    private mutating func take(_ table: TableLayout, _ key: [DatabaseValue]) throws {
        var waiting = [(table, key)]
        while let (table, key) = waiting.popLast() {
            guard seen.insert(Key(table: table.name, values: key.map(StoredValue.init))).inserted else {
                continue
            }
            let names = table.columns.map(\.name.sql)
            let isIt = table.keyColumns.map { "\($0) IS ?" }.joined(separator: " AND ")
            let found = try GRDB.Row.fetchOne(
                db,
                sql: """
                    SELECT \(names.isEmpty ? "NULL" : names.joined(separator: ", "))
                    FROM \(table.name.inMain) WHERE \(isIt)
                    """, arguments: StatementArguments(key))
            guard let found else { continue }
            var values = names.isEmpty ? [] : Array(found.databaseValues)
            for reference in table.references {
                guard let (parent, key, joined) = try parent(of: values, in: table, by: reference) else {
                    continue
                }
                waiting.append((parent, key))
                // Its collation or type may differ, and noise would tell the two values apart.
                for (name, value) in zip(reference.columns, joined) {
                    if let index = table.columns.firstIndex(where: { $0.name == name }) {
                        values[index] = value
                    }
                }
            }
            rows[table.name, default: []].append(
                Row(id: table.rowIDName == nil ? nil : key[0], values: values))
        }
    }

    /// Returns the key of the row that a row refers to, with the values there of the columns that join them.
    ///
    /// - Returns: nil, if a column is null or the row is missing.
    private func parent(
        of values: [DatabaseValue], in table: TableLayout, by reference: TableLayout.Reference
    ) throws -> (TableLayout, key: [DatabaseValue], joined: [DatabaseValue])? {
        guard let parent = layouts[reference.parent] else { return nil }
        let found = reference.columns.map { name in
            table.columns.firstIndex { $0.name == name }.map { values[$0] } ?? .null
        }
        guard !found.contains(.null), found.count == reference.parentColumns.count else { return nil }
        let isIt = reference.parentColumns.map { "\($0.sql) = ?" }.joined(
            separator: " AND ")
        let selected = parent.keyColumns + reference.parentColumns.map(\.sql)
        let row = try GRDB.Row.fetchOne(
            db,
            sql: """
                SELECT \(selected.joined(separator: ", ")) FROM \(parent.name.inMain)
                WHERE \(isIt)
                """, arguments: StatementArguments(found))
        guard let values = row.map({ Array($0.databaseValues) }) else { return nil }
        let count = parent.keyColumns.count
        return (parent, Array(values.prefix(count)), Array(values.dropFirst(count)))
    }
}

extension TableLayout {
    /// The name with which SQL can select the row's id; nil if there is none.
    var rowIDName: String? {
        guard hasRowID else { return nil }
        return ["rowid", "_rowid_", "oid"].first { column(named: SQLName($0)) == nil }
    }

    /// The columns that identify a row, as SQL.
    fileprivate var keyColumns: [String] {
        rowIDName.map { [$0] }
            ?? (primaryKey.isEmpty ? columns.map(\.name) : primaryKey).map(\.sql)
    }
}
