import Foundation
import GRDB
import MigrationDiagnostics
import MigrationTools
import SchemaMigrations

/// What a migration did when it shipped, as text.
struct LockedMigration: Equatable {
    /// The migration's identifier, or its file name.
    let title: String
    /// A line for each statement, and one for each object of the schema that it created, changed or dropped.
    let lines: [String]

    /// Runs migrations on a new database, and describes what each of them does.
    ///
    /// Arguments that differ between two runs, or name the present day, stay parameters.
    static func all(
        of source: some MigrationSource, _ configuration: Configuration, now: Date = Date()
    ) throws -> [LockedMigration] {
        let first = try run(source, configuration)
        let second = try run(source, configuration)
        let days = [TimeZone.current, TimeZone(secondsFromGMT: 0) ?? .current].map { zone in
            let parts = Calendar(identifier: .gregorian).dateComponents(in: zone, from: now)
            func digits(_ number: Int?) -> String {
                (number ?? 0) < 10 ? "0\(number ?? 0)" : "\(number ?? 0)"
            }
            return "\(parts.year ?? 0)-\(digits(parts.month))-\(digits(parts.day))"
        }
        return zip(first, second).map { one, other in
            let statements = one.statements.enumerated().map { index, statement in
                let isSame =
                    index < other.statements.count && other.statements[index].expanded == statement.expanded
                let isStable = isSame && !days.contains(where: statement.expanded.contains)
                return "  " + NormalSQL(isStable ? statement.expanded : statement.sql).text
            }
            return LockedMigration(title: one.title, lines: statements + one.schema)
        }
    }

    private typealias Run = (title: String, statements: [TracedStatement], schema: [String])

    private static func run(
        _ source: some MigrationSource, _ configuration: Configuration
    ) throws -> [Run] {
        let trace = MigrationTrace()
        var configuration = configuration
        trace.prepare(&configuration)
        let database = try DatabaseQueue(configuration: configuration)
        var runs: [Run] = []
        var before: Set<String> = []
        try source.replay(on: database, tracing: trace) { title in
            let statements = trace.changes
            let after = try database.read { db in
                Set(
                    try SchemaObject.fetchAll(db).filter { $0.table != OwnTables.ofGRDB }
                        .map { NormalSQL($0.sql).text })
            }
            let schema =
                before.subtracting(after).sorted().map { "  - \($0)" }
                + after.subtracting(before).sorted().map { "  + \($0)" }
            runs.append((title, statements, schema))
            before = after
        }
        return runs
    }

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
