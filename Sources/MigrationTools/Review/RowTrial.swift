import GRDB
import SchemaMigrations

/// Runs one migration over generated rows, in a copy of a database in memory.
struct RowTrial {
    /// A database that has every migration before this one.
    let database: DatabaseQueue
    let migrator: SchemaMigrator
    let migration: any SchemaMigration
    /// The tables that the migration rebuilds.
    let rebuilt: Set<SQLName>
    /// The tables that get rows.
    let tables: Set<SQLName>

    private static let rowsPerTable = 24
    /// The number of deleted rows to suppose in each table with `AUTOINCREMENT`.
    private static let deletedRows: Int64 = 1_000

    /// Runs the migration, and returns what it did to the rows.
    ///
    /// - Throws: `SchemaMigrationError`, if the migration fails over these rows.
    func run(over style: TableFilling.Style) throws -> RowFacts {
        let copy = try DatabaseQueue()
        defer { try? copy.close() }
        try database.backup(to: copy)
        try copy.write { db in
            try TableFilling.fillAll(
                db, rowsPerTable: Self.rowsPerTable, seed: 1, style: style, tables: tables)
            try AutoincrementSequences.raise(db, by: Self.deletedRows)
        }
        let before = try copy.writeWithoutTransaction { try Look($0, at: tables, rebuilt: rebuilt) }
        try migrator.migrate(copy, upTo: migration.version)
        let after = try copy.writeWithoutTransaction { try Look($0, at: tables, rebuilt: rebuilt) }
        return RowFacts(from: before, to: after)
    }
}

/// The rows of a database at one moment.
private struct Look {
    let counts: [SQLName: Int]
    let sequences: AutoincrementSequences
    /// Whether each full-text table matches the table whose texts it indexes.
    let isInSync: [SQLName: Bool]
    let tables: [SQLName: TableLayout]
    let rows: [SQLName: StoredRows]

    /// Reads a database, on a connection that may write.
    init(_ db: Database, at wanted: Set<SQLName>, rebuilt: Set<SQLName>) throws {
        db.clearSchemaCache()
        tables = try Dictionary(
            TableLayout.fetchAll(db, of: wanted).map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        counts = try tables.mapValues {
            try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0.name.inMain)") ?? 0
        }
        sequences = try AutoincrementSequences(db)
        isInSync = try Dictionary(
            DatabaseSchema(db).externalFullTextTables.map { ($0.name, try $0.table.isInSync(db)) },
            uniquingKeysWith: { $1 })
        rows = try Dictionary(
            tables.keys.filter(rebuilt.contains).map { ($0, try StoredRows(db, table: $0)) },
            uniquingKeysWith: { $1 })
    }
}

extension RowFacts {
    fileprivate init(from old: Look, to new: Look) {
        before = old.counts
        after = new.counts
        lostSequences = Set(
            new.sequences.differences(from: old.sequences)
                .filter { $0.number < $0.other && new.tables[$0.table]?.hasSequence == true }.map(\.table))
        staleFullText = Set(new.isInSync.filter { !$0.value && old.isInSync[$0.key] != false }.keys)
        mergedValues = old.rows.keys.sorted { $0.text < $1.text }.flatMap { table -> [MergedValues] in
            guard let oldTable = old.tables[table], let newTable = new.tables[table],
                let oldRows = old.rows[table], let newRows = new.rows[table]
            else { return [] }
            let changed = oldTable.columns.filter { column in
                newTable.column(named: column.name).map { $0.affinity != column.affinity } ?? false
            }.map(\.name)
            // The rows are recognized by what keeps its type.
            let kept = oldRows.columns.filter { newRows.columns.contains($0) && !changed.contains($0) }
            return changed.compactMap { Self.merged($0, of: table, kept, oldRows, newRows) }
        }
    }

    /// Returns two values of a column that a migration made the same.
    private static func merged(
        _ column: SQLName, of table: SQLName, _ kept: [SQLName], _ old: StoredRows, _ new: StoredRows
    ) -> MergedValues? {
        func values(_ rows: StoredRows) -> [[StoredValue]: Set<StoredValue>] {
            let key = kept.compactMap { rows.columns.firstIndex(of: $0) }
            guard let position = rows.columns.firstIndex(of: column) else { return [:] }
            return rows.rows.reduce(into: [:]) { values, row in
                values[key.map { row[$0] }, default: []].insert(row[position])
            }
        }
        let after = values(new)
        var sources: [StoredValue: StoredValue] = [:]
        let pairs = values(old).compactMap { key, values -> (StoredValue, StoredValue)? in
            guard values.count == 1, let first = values.first, first != .null, let found = after[key],
                found.count == 1, let result = found.first
            else { return nil }
            return (first, result)
        }
        for (value, result) in pairs.sorted(by: { $0.0.sql < $1.0.sql }) {
            if let other = sources[result], other != value {
                return MergedValues(
                    table: table, column: column, first: other, second: value, result: result)
            }
            sources[result] = value
        }
        return nil
    }
}
