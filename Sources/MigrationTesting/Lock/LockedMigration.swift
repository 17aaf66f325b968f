import Foundation
import GRDB
import MigrationDiagnostics
import MigrationTools
import SchemaMigrations

/// The effects that a migration had when it shipped, as text.
struct LockedMigration: Equatable {
    /// The migration's identifier, or its file name.
    let title: String
    /// A line for each statement, and one for each object of the schema that it created, changed or dropped.
    let lines: [String]

    /// Runs migrations on a new database, twice, and describes what each of them does.
    static func all(of source: some MigrationSource, _ configuration: Configuration) throws
        -> [LockedMigration]
    {
        let stable = StableStatements(time: Date())
        let (first, second) = (
            try run(source, configuration, seed: 1), try run(source, configuration, seed: 2)
        )
        return zip(first, second).map { one, other in
            let statements = stable.lines(of: one.statements, again: other.statements)
            let known = Set(one.statements.map(\.sql))
            let overRows = stable.lines(
                over: one.overRows.filter { !known.contains($0) }, and: other.overRows
            ).filter { !statements.contains($0) }
            return LockedMigration(
                title: one.title,
                lines: statements.map { "  \($0)" } + overRows.map { "  over rows: \($0)" } + one.schema)
        }
    }

    private struct Run {
        let title: String
        let statements: [TracedStatement]
        /// The statements of a run over generated rows; none if the migration fails over them.
        let overRows: [String]
        let schema: [String]
    }

    private static func run(
        _ source: some MigrationSource, _ configuration: Configuration, seed: UInt64
    ) throws -> [Run] {
        let runner = source.orderedMigrations.runner
        let database = try DatabaseQueue(configuration: configuration)
        var before: Set<String> = []
        return try runner.titles.map { title in
            let filled = try runner.trace(
                title, after: database, rowsPerTable: rowsPerTable, seed: seed)
            let trace = try runner.trace(title, in: database)
            if let error = trace.error { throw error }
            let after = try database.read { db in
                Set(try SchemaObject.fetchAll(db).map { NormalSQL($0.sql).text })
            }
            defer { before = after }
            let isNamedAlone = runner is SchemaMigrator && trace.script == nil
            return Run(
                title: isNamedAlone ? "\(title.version) \(title.title)" : title.title,
                statements: trace.changes,
                // Rows that a migration refuses say nothing about it.
                overRows: filled.error == nil ? filled.changes.map(\.sql) : [],
                schema: before.subtracting(after).sorted().map { "  - \($0)" }
                    + after.subtracting(before).sorted().map { "  + \($0)" })
        }
    }

    private static let rowsPerTable = 4

    // MARK: Text

    private static let header =
        "# What each shipped migration does. MigrationLock writes this file: commit it.\n"

    /// Returns the text of a file.
    static func text(of migrations: [LockedMigration]) -> String {
        header
            + migrations.map { "\n\($0.title)\n" + $0.lines.map { "\($0)\n" }.joined() }.joined()
    }

    /// Reads the text of a file.
    static func read(_ text: String) -> [LockedMigration] {
        var migrations: [(title: String, lines: [String])] = []
        for line in text.split(whereSeparator: \.isNewline).map(String.init) where !line.hasPrefix("#") {
            if line.hasPrefix("  ") {
                guard !migrations.isEmpty else { continue }
                migrations[migrations.count - 1].lines.append(line)
            } else {
                migrations.append((line, []))
            }
        }
        return migrations.map { LockedMigration(title: $0.title, lines: $0.lines) }
    }
}
