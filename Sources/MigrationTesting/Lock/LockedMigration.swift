import Foundation
import GRDB
import MigrationDiagnostics
import MigrationTools
import SchemaMigrations

/// The effects that a migration had when it shipped, as text.
struct LockedMigration: Equatable {
    /// The migration's identifier, or its file name; as a literal, where that is no line of its own.
    let title: String
    /// A line for each statement, one for each object of the schema that it created, changed or dropped, and the effects
    /// on rows that Swift reads.
    let lines: [LockLine]
    /// The identifiers that it takes the place of; none in a file.
    var merged: [String] = []

    /// Runs migrations on a new database, twice, and describes what each of them does.
    static func all(of source: some MigrationSource, _ configuration: Configuration) throws
        -> [LockedMigration]
    {
        let stable = StableStatements(time: Date())
        let (first, second) = (
            try LockRun.all(of: source, configuration, seed: 1),
            try LockRun.all(of: source, configuration, seed: 2)
        )
        let rows = try LockedRows.all(of: source, configuration, first)
        return zip(zip(first, second), rows).map { runs, rows in
            LockedMigration(
                title: line(runs.0.title), lines: lines(runs.0, runs.1, rows, stable),
                merged: runs.0.merged.map(line))
        }
    }

    private static func line(_ title: String) -> String {
        let isLine =
            !title.isEmpty && !title.hasPrefix("  ") && !title.utf8.contains { [10, 13].contains($0) }
        return isLine ? title : title.debugDescription
    }

    private static func lines(
        _ one: LockRun, _ other: LockRun, _ rows: [String], _ stable: StableStatements
    ) -> [LockLine] {
        /// Returns the lines of statements on a database without rows, and of the others that run over rows.
        func lines(_ statements: (LockRun.Statements) -> [TracedStatement]) -> ([String], [String]) {
            let lines = stable.lines(of: statements(one.statements), again: statements(other.statements))
            let known = Set(statements(one.statements).map(\.sql))
            let overRows = stable.lines(
                over: statements(one.overRows).map(\.sql).filter { !known.contains($0) },
                and: statements(other.overRows).map(\.sql))
            return (lines, overRows.filter { !lines.contains($0) })
        }
        let (changes, changesOverRows) = lines(\.changes)
        let (reads, readsOverRows) = lines(\.reads)
        let statements = changes + changesOverRows.map { "over rows: \($0)" }
        let all = statements + (reads + readsOverRows).map { "reads: \($0)" } + one.schema + rows
        return (settings(of: one) + all).map(LockLine.init)
    }

    /// Returns lines about what no statement of the migration shows.
    private static func settings(of run: LockRun) -> [String] {
        var lines: [String] = []
        if let foreignKeys = run.foreignKeys, foreignKeys != .deferred {
            lines.append("foreign keys: \(foreignKeys)")
        }
        if !run.merged.isEmpty {
            let merged = run.merged.map { StoredValue($0.databaseValue).sql }.joined(separator: ", ")
            lines.append("merges: \(NormalSQL(merged).text)")
            lines.append("unprotected: what it does in a database that has had any of these")
        }
        if (run.statements.reads + run.overRows.reads).contains(where: \.readsNumber) {
            lines.append("unprotected: what it does with another user_version or application_id")
        }
        return lines
    }

    // MARK: Text

    private static let format = "# Format 4."
    private static let header =
        "# What each shipped migration does. MigrationLock writes this file: commit it.\n\(format)\n"

    /// Returns the text of a file.
    static func text(of migrations: [LockedMigration]) -> String {
        header
            + migrations.map { "\n\($0.title)\n" + $0.lines.map { "  \($0.text)\n" }.joined() }.joined()
    }

    /// Reads the text of a file; returns nil if it has another format.
    static func read(_ text: String) -> [LockedMigration]? {
        // Git may have changed how lines end. A text in a statement may hold what Unicode calls a line's end.
        let all = text.replacingOccurrences(of: "\r\n", with: "\n").split(
            separator: "\n", omittingEmptySubsequences: false
        ).map(String.init)
        let header = all.prefix { !$0.isEmpty }
        guard header.contains(format) else { return nil }
        var migrations: [(title: String, lines: [LockLine])] = []
        for line in all[header.endIndex...] where !line.isEmpty {
            if line.hasPrefix("  ") {
                guard !migrations.isEmpty else { continue }
                migrations[migrations.count - 1].lines.append(LockLine(String(line.dropFirst(2))))
            } else {
                migrations.append((line, []))
            }
        }
        return migrations.map { LockedMigration(title: $0.title, lines: $0.lines) }
    }
}
