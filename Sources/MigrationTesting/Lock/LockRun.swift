import GRDB
import MigrationTools
import SchemaMigrations

/// A run of a migration on a new database, and over generated rows.
struct LockRun {
    /// The statements of a migration that may change something, and those that read the app's rows.
    struct Statements {
        var changes: [TracedStatement] = []
        var reads: [TracedStatement] = []
    }

    let title: String
    /// True if the migration is a file, whose statements tell all that it does.
    let isFile: Bool
    /// How foreign keys are handled while it runs; nil if the app does not enforce them.
    let foreignKeys: ForeignKeys?
    /// The identifiers that it takes the place of.
    let merged: [String]
    let statements: Statements
    /// The statements of a run over generated rows; none if the migration fails over them.
    let overRows: Statements
    /// The objects of the schema that the migration removes and adds.
    let schema: [String]

    private static let rowsPerTable = 4

    /// Runs all migrations on a new database.
    static func all(
        of source: some MigrationSource, _ configuration: Configuration, seed: UInt64
    ) throws -> [LockRun] {
        let runner = source.orderedMigrations.runner
        let database = try configuration.scratchDatabase()
        var before = try objects(of: database)
        return try runner.titles.map { title in
            let filled = try runner.trace(
                title, after: database, rowsPerTable: rowsPerTable, seed: seed)
            let trace = try runner.trace(title, in: database)
            if let error = trace.error { throw error }
            let after = try objects(of: database)
            defer { before = after }
            let isNamedAlone = runner is SchemaMigrator && trace.script == nil
            return LockRun(
                title: isNamedAlone ? "\(title.version) \(title.title)" : title.title,
                isFile: trace.script != nil,
                foreignKeys: configuration.foreignKeysEnabled ? trace.foreignKeys : nil, merged: trace.merged,
                statements: Statements(trace, over: before.names),
                // Rows that a migration refuses say nothing about it.
                overRows: filled.error == nil ? Statements(filled, over: before.names) : Statements(),
                schema: before.lines.subtracting(after.lines).sorted().map { "- \($0)" }
                    + after.lines.subtracting(before.lines).sorted().map { "+ \($0)" })
        }
    }

    private static func objects(
        of database: DatabaseQueue
    ) throws -> (lines: Set<String>, names: Set<SQLName>) {
        let objects = try database.read(SchemaObject.fetchAll)
        return (
            Set(objects.map { NormalSQL($0.sql).text }),
            Set(objects.filter { ["table", "view"].contains($0.type) }.map(\.name))
        )
    }
}

extension LockRun.Statements {
    fileprivate init(_ trace: MigrationTrace, over names: Set<SQLName>) {
        changes = trace.changes
        // A file reads nothing that Swift could see.
        guard trace.script == nil else { return }
        let known = names.union(trace.changes.compactMap(\.namedTable))
        for read in trace.statements where read.reads(known) {
            if !reads.contains(where: { $0.sql == read.sql && $0.expanded == read.expanded }) {
                reads.append(read)
            }
        }
    }
}
