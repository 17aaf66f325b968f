import GRDB
import SchemaMigrations

/// Runs one migration over generated rows, in a copy of a database in memory.
struct RowTrial {
    /// A database that has every migration before this one.
    let database: DatabaseQueue
    let migrator: any MigrationRunner
    let version: SchemaVersion
    /// The names that the migration gives to tables and columns.
    let renames: ScriptRenames
    /// The tables that get rows.
    let tables: [TableLayout]
    /// The values that may decide the conditions of the migration, or its constraints.
    private(set) var values: ConditionValues

    /// Returns the trial in a database with fewer tables, whose only migration is one that does nothing.
    func inside(_ database: DatabaseQueue, _ migrator: any MigrationRunner) -> RowTrial {
        RowTrial(
            database: database, migrator: migrator, version: version, renames: renames, tables: tables,
            values: values)
    }

    /// Returns the trial of rows that have other values.
    func including(_ values: ConditionValues) -> RowTrial {
        var trial = self
        trial.values = values
        return trial
    }

    private static let rowsPerTable = 32
    /// The number of deleted rows to suppose in each table with `AUTOINCREMENT`.
    private static let deletedRows: Int64 = 1_000

    /// Runs the migration, and returns its effects on the rows.
    ///
    /// - Parameter script: the statements to run instead, whatever the foreign keys say.
    /// - Throws: `MigrationError`, if the migration fails over these rows.
    func run(over style: TableFilling.Style, unchecked script: SQLScript? = nil) throws -> RowFacts {
        let copy = try filledCopy(style)
        defer { try? copy.close() }
        let before = try copy.writeWithoutTransaction { try Look($0, at: tables) }
        if let script {
            try copy.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA foreign_keys = OFF")
                try script.run(db, fixing: "")
            }
        } else {
            _ = try StepLimit.watch(copy) { try migrator.run(copy, upTo: version) }
        }
        let names = tables.flatMap { [$0.name] + [renames.table($0.name)].compactMap(\.self) }
        let after = try copy.writeWithoutTransaction { db in
            db.clearSchemaCache()
            return try Look(db, at: TableLayout.fetchAll(db, of: Set(names)))
        }
        return RowFacts(from: before, to: after, renames)
    }

    /// Returns what the conditions of the migration are of the rows.
    func answers(_ trial: ConditionTrial, over style: TableFilling.Style) throws -> [Int: ConditionTrial
        .Answers]
    {
        let copy = try filledCopy(style)
        defer { try? copy.close() }
        return try StepLimit.watch(copy) { try copy.writeWithoutTransaction(trial.run) }
    }

    /// Fills the full-text indexes that no trigger fills, as the app does.
    private static func indexTexts(_ db: Database) throws {
        let tables = try FullTextTable.fetchAllExternal(db)
        guard !tables.isEmpty else { return }
        let triggers = try SchemaObject.fetchAll(db).filter { $0.type == "trigger" }
        for table in tables where !triggers.contains(where: { $0.names.contains(table.name) }) {
            // A source that lacks a table or a column cannot be indexed.
            try? db.execute(sql: table.rebuilding)
        }
    }

    private func filledCopy(_ style: TableFilling.Style) throws -> DatabaseQueue {
        let copy = try database.configuration.scratchDatabase()
        try database.backup(to: copy)
        try copy.write { db in
            try TableFilling.fill(
                tables, rowsPerTable: Self.rowsPerTable, seed: 1, style: style, including: values, db
            )
            try AutoincrementSequences.raise(db, by: Self.deletedRows)
            try Self.indexTexts(db)
        }
        return copy
    }
}

/// The rows of a database at one moment.
private struct Look {
    let values: DatabaseValues
    let sequences: AutoincrementSequences
    /// True if each full-text table matches the table whose texts it indexes.
    let isInSync: [SQLName: Bool]

    /// Reads a database, on a connection that may write.
    init(_ db: Database, at tables: [TableLayout]) throws {
        values = try DatabaseValues(db, tables, keepingValues: true)
        sequences = try AutoincrementSequences(db)
        isInSync = try Dictionary(
            FullTextTable.fetchAllExternal(db).map { ($0.name, try $0.isInSync(db)) },
            uniquingKeysWith: { $1 })
    }
}

/// The effects of a migration on generated rows.
struct RowFacts {
    /// The tables with `AUTOINCREMENT` that may give ids of deleted rows again.
    let lostSequences: Set<SQLName>
    /// The full-text tables that no longer match the table whose texts they index.
    let staleFullText: Set<SQLName>
    /// The columns whose values change.
    let changedColumns: [ChangedColumn]
    /// The tables that have fewer rows in the end, with the numbers.
    let shrunkTables: [SQLName: (from: Int, to: Int)]

    fileprivate init(from old: Look, to new: Look, _ renames: ScriptRenames) {
        lostSequences = Set(
            new.sequences.differences(from: old.sequences)
                .filter { $0.number < $0.other && new.values.table($0.table)?.layout.hasSequence == true }
                .map(\.table))
        staleFullText = Set(new.isInSync.filter { !$0.value && old.isInSync[$0.key] != false }.keys)
        let comparison = ValueComparison(from: old.values, to: new.values, renames)
        changedColumns = comparison.changes.compactMap { ChangedColumn($0, in: comparison) }
        shrunkTables = old.values.tables.reduce(into: [:]) { shrunk, table in
            let name = renames.table(table.layout.name) ?? table.layout.name
            if let count = new.values.table(name)?.count, count < table.count {
                shrunk[table.layout.name] = (table.count, count)
            }
        }
    }
}
