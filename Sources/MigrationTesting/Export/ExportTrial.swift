import AppMigrations
import Foundation
import GRDB
import MigrationDiagnostics
import MigrationTools
import SchemaMigrations
import TextOutput

/// Finds out what a migration runs over different rows, and whether a file can do the same.
struct ExportTrial {
    let runner: GRDBRunner
    /// A database that has every migration before this one.
    let database: DatabaseQueue

    private static let rowsPerTable = 8
    private static let seeds: [UInt64] = [1, 2]

    /// Traces the migration, and writes a file if what it runs depends on nothing.
    ///
    /// - Throws: the error with which the migration fails on a database without rows.
    func export(_ title: MigrationTitle, as version: SchemaVersion) throws -> ExportedMigration {
        let empty = try runner.trace(title, after: database, rowsPerTable: 0)
        if let error = empty.error { throw error }
        let again = try runner.trace(title, after: database, rowsPerTable: 0)
        let filled = try Self.seeds.map {
            try runner.trace(title, after: database, rowsPerTable: Self.rowsPerTable, seed: $0)
        }
        // Rows that a constraint refuses say nothing about the others.
        let traces = [empty, again] + filled.filter { $0.error == nil }
        var exported = ExportedMigration(
            title: title, version: version, foreignKeys: empty.foreignKeys, merged: empty.merged,
            form: .code(reason: ""))
        if let reason = try reason(traces) {
            exported.form = .code(reason: reason)
            return exported
        }
        exported.form = .file(text: Self.text(of: empty))
        if let reason = try mistake(in: exported) { exported.form = .code(reason: reason) }
        return exported
    }

    // MARK: Reasons

    /// Returns why the statements cannot stand for the migration; nil if they can.
    private func reason(_ traces: [MigrationTrace]) throws -> String? {
        let empty = traces[0]
        let names = try database.read { db in
            try SchemaObject.fetchAll(db).filter { ["table", "view"].contains($0.type) }.map(\.name)
        }
        for trace in traces {
            if let read = trace.firstRead(of: names) {
                return "reads rows between its statements: \(read.shortened)"
            }
            if let statement = trace.statements.first(where: { $0.sql.uppercased().hasPrefix("ROLLBACK") }) {
                return "takes statements back: \(statement.shortened)"
            }
            if let statement = trace.changes.first(where: PresentTime.isWritten) {
                return "writes the time at which it runs: \(statement.shortened)"
            }
        }
        if empty.changes.isEmpty, traces.allSatisfy(\.changes.isEmpty) {
            return "runs no statement: what it does, it does in Swift"
        }
        if let statement = traces[1].firstOther(than: empty) {
            return "writes other values each time: \(statement.shortened)"
        }
        if let statement = traces.lazy.compactMap({ $0.firstOther(than: empty) }).first {
            return "runs other statements over other rows: \(statement.shortened)"
        }
        return nil
    }

    private static func text(of trace: MigrationTrace) -> String {
        let header =
            trace.foreignKeys == .deferred ? "" : "-- migrations: foreign-keys=\(trace.foreignKeys)\n"
        return header
            + trace.changes.map { statement in
                // A comment at the end must not swallow the semicolon.
                statement.expanded + (statement.expanded.contains("--") ? "\n;\n" : ";\n")
            }.joined()
    }

    // MARK: Verification

    /// Runs the file beside the migration, over the same rows.
    ///
    /// - Returns: why it does not do the same; nil if it does.
    private func mistake(in exported: ExportedMigration) throws -> String? {
        let file: SchemaMigrator
        do {
            // What comes before counts as applied.
            let before = exported.version - 1
            file = try SchemaMigrator(
                migrations: [CodeMigration(before, "before") { _ in }, exported.migration],
                adopting: SchemaAdoption { _ in before })
            _ = try (exported.migration as? any SQLSource)?.script()
        } catch let error as MigrationError {
            return "does what a file cannot: \(error.diagnostic.problem)"
        }
        for (count, seed) in [(0, 1)] + Self.seeds.map({ (Self.rowsPerTable, $0) }) {
            let copies = try (0..<2).map { _ in
                try database.filledCopy(rowsPerTable: count, seed: seed)
            }
            let migrated = Result { try runner.run(copies[0], upTo: exported.title.version) }
            let replayed = Result { try file.migrate(copies[1]) }
            switch (migrated, replayed) {
            case (.failure, .failure): continue
            case (.failure(let error), .success):
                return "fails over rows over which a file would not: \(Diagnostic(error, remedy: "").problem)"
            case (.success, .failure(let error)):
                return "does what a file cannot: \(Diagnostic(error, remedy: "").problem)"
            case (.success, .success):
                let differences = try ExportComparison.differences(of: copies[1], from: copies[0]) {
                    let again = try database.filledCopy(rowsPerTable: count, seed: seed)
                    _ = try runner.run(again, upTo: exported.title.version)
                    return again
                }
                if !differences.isEmpty {
                    return "does something else than its statements: \(differences.asList)"
                }
            }
        }
        return nil
    }
}

extension MigrationTrace {
    /// Returns the first statement that another run of the migration does not have, or that only that one has.
    fileprivate func firstOther(than other: MigrationTrace) -> TracedStatement? {
        let (mine, others) = (changes, other.changes)
        let place = zip(mine, others).prefix { $0.expanded == $1.expanded }.count
        return place < mine.count ? mine[place] : place < others.count ? others[place] : nil
    }
}

extension TracedStatement {
    /// The statement in a line, without its end if it is long.
    fileprivate var shortened: String { sql.withSingleSpaces.shortened(to: 100) }
}
