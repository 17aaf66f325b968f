import Foundation
import GRDB
import MigrationTools
import SchemaMigrations

/// The effects of a migration in Swift on generated rows, of which its statements do not tell everything.
///
/// Some of the rows have the values that the migration's own statements name.
struct LockedRows {
    let runner: any MigrationRunner
    let title: MigrationTitle
    /// A database that has every migration before this one.
    let database: DatabaseQueue
    let run: LockRun

    /// Describes the effects of each migration, in lines.
    static func all(
        of source: some MigrationSource, _ configuration: Configuration, _ runs: [LockRun]
    ) throws -> [[String]] {
        let runner = source.orderedMigrations.runner
        let database = try configuration.scratchDatabase()
        let functions = try functions(after: runner, configuration)
        return try zip(runner.titles, runs).map { title, run in
            let rows = LockedRows(runner: runner, title: title, database: database, run: run)
            let lines = try rows.lines(functions)
            _ = try runner.run(database, upTo: title.version)
            return lines
        }
    }

    private func lines(_ functions: Set<SQLName>) throws -> [String] {
        if run.isFile { return [] }
        if run.isEmpty { return ["\(Self.unprotected) it runs no statement over generated rows"] }
        // Without either, the statements tell everything.
        let hasCode = run.readsRows || run.changes.contains { $0.mentions(functions) }
        return hasCode ? try effects() : []
    }

    private static let unprotected = "unprotected:"

    /// Returns the functions that the app and its migrations add to SQLite's and to GRDB's.
    private static func functions(
        after runner: any MigrationRunner, _ configuration: Configuration
    ) throws -> Set<SQLName> {
        func names(_ database: DatabaseQueue) throws -> Set<SQLName> {
            try database.read { Set(try SQLName.fetchAll($0, sql: "SELECT name FROM pragma_function_list")) }
        }
        let database = try configuration.scratchDatabase()
        _ = try runner.run(database, upTo: nil)
        return try names(database).subtracting(names(DatabaseQueue()))
    }

    // MARK: Runs

    /// A run over rows of one kind.
    private struct Trial {
        let rows: GeneratedRows
        let changes: [TracedStatement]
        let before: StoredTables
        let after: StoredTables
    }

    /// Runs the migration over rows; returns nil if it fails over these.
    private func trial(over rows: GeneratedRows) throws -> Trial? {
        let copy = try database.configuration.scratchDatabase()
        defer { try? copy.close() }
        try database.backup(to: copy)
        let accepted = try rows.insert(into: copy)
        let before = try copy.writeWithoutTransaction(StoredTables.init)
        guard let trace = try? StepLimit.watch(copy, { try runner.trace(title, in: copy) }),
            trace.error == nil
        else { return nil }
        return Trial(
            rows: accepted, changes: trace.changes, before: before,
            after: try copy.writeWithoutTransaction(StoredTables.init))
    }

    private func effects() throws -> [String] {
        var digests: [SQLName: [String]] = [:]
        var trials: [(first: Trial, again: Trial)] = []
        for (number, rows) in try kindsOfRows().enumerated() {
            guard let first = try trial(over: rows), let again = try trial(over: rows) else { continue }
            trials.append((first, again))
            let known = first.before.values
            for (name, table) in first.after.tables where table != first.before.tables[name] {
                let digest = table.digest(besides: again.after.tables[name], knowing: known)
                digests[name, default: []].append("\(number): \(digest)")
            }
        }
        let removesTables = trials.contains { first, _ in
            first.before.tables.keys.contains { first.after.tables[$0] == nil }
        }
        let leaves = digests.sorted { $0.key.folded < $1.key.folded }.map { name, digests in
            "leaves: \(name) \(StoredTables.digest(of: digests))"
        }
        let risk = try unprotected(trials, changesRows: !digests.isEmpty || removesTables)
        return leaves + (risk.map { ["\(Self.unprotected) \($0)"] } ?? [])
    }

    /// Returns rows of several kinds, as many as it takes for every value that the migration or a constraint names.
    private func kindsOfRows() throws -> [GeneratedRows] {
        let names = try database.read(run.tablesTouched)
        let rows = try GeneratedRows(for: names, in: database)
        let literals = SQLLiterals(run.literals).withoutNegatives
        let count = min(
            max(literals.texts.count, literals.numbers.count), Self.mostTurns * GeneratedRows.rowsPerTable)
        let turns = stride(from: 0, to: max(count, 1), by: GeneratedRows.rowsPerTable).map {
            rows.of(.literals, naming: literals.starting(at: $0), isForCode: true)
        }
        let kinds = [GeneratedRows.Kind.numbers, .json].map {
            rows.of($0, naming: literals, isForCode: true)
        }
        return [rows] + (kinds + turns).filter { kind in names.contains { rows.differs(from: kind, in: $0) } }
    }

    private static let mostTurns = 6

    // MARK: Protection

    /// Returns a sentence about the edits that no trial would show; nil if there are none.
    private func unprotected(
        _ trials: [(first: Trial, again: Trial)], changesRows: Bool
    ) throws -> String? {
        if trials.isEmpty { return "it fails over generated rows" }
        let changes = trials.flatMap(\.first.changes)
        if changes.isEmpty { return "it writes nothing over generated rows" }
        // Such as code that trims texts of which none needs it.
        if !changesRows, changes.contains(where: \.isAboutRows) {
            return "it leaves generated rows as they are"
        }
        let columns = try trials[0].first.rows.tables.flatMap { table in
            try run.columnsRead(of: table).filter { column in
                try !trials.contains { try matters(column, of: table.name, in: $0) }
            }.map { "\(table.name).\($0)" }
        }
        guard !columns.isEmpty else { return nil }
        return "over generated rows, nothing depends on \(columns.joined(separator: ", "))"
    }

    /// Returns whether a migration writes something else if the values of a column are in other rows.
    private func matters(
        _ column: SQLName, of table: SQLName, in trial: (first: Trial, again: Trial)
    ) throws -> Bool {
        guard let rows = trial.first.rows.rotating(column, of: table),
            let other = try self.trial(over: rows)
        else { return false }
        let texts = trial.first.changes.map(\.expanded)
        if texts == trial.again.changes.map(\.expanded) { return texts != other.changes.map(\.expanded) }
        // Chance or time fills some of the values.
        guard let again = try self.trial(over: rows) else { return false }
        let stable = StableStatements(time: .now)
        return stable.lines(of: trial.first.changes, again: trial.again.changes)
            != stable.lines(of: other.changes, again: again.changes)
    }
}

extension LockRun {
    fileprivate var changes: [TracedStatement] { statements.changes + overRows.changes }
    fileprivate var reads: [TracedStatement] { statements.reads + overRows.reads }
    fileprivate var isEmpty: Bool { changes.isEmpty && reads.isEmpty }
    fileprivate var readsRows: Bool { !reads.isEmpty }

    /// The statements that name values: those over rows without their arguments, which are the rows' own.
    fileprivate var literals: [String] {
        (statements.changes + statements.reads).map(\.expanded)
            + (overRows.changes + overRows.reads).map(\.sql)
    }

    /// Returns the tables that the statements name, with those that they refer to; all if they name a view.
    fileprivate func tablesTouched(_ db: Database) throws -> Set<SQLName> {
        let objects = try SchemaObject.fetchAll(db)
        let statements = changes + reads
        let hasView = objects.contains { view in
            view.type == "view" && statements.contains { $0.mentions([view.name]) }
        }
        let all = objects.filter { $0.type == "table" }.map(\.name)
        var names = Set(all.filter { name in hasView || statements.contains { $0.mentions([name]) } })
        // The layouts come with parents first.
        for table in try TableLayout.fetchAll(db).reversed() where names.contains(table.name) {
            names.formUnion(table.references.map(\.parent))
        }
        return names
    }

    /// Returns the columns of a table that Swift may read, without the key, by which rows are found.
    fileprivate func columnsRead(of table: GeneratedRows.Table) -> [SQLName] {
        let reading = reads.filter { read in
            // A table that has another name meanwhile.
            let renamed = changes.filter { $0.mentions([table.name]) }.compactMap(\.namedTable)
            return read.mentions(Set([table.name] + renamed))
        }
        return table.columns.indices.filter { !table.key.contains($0) }.map { table.columns[$0] }
            .filter { column in reading.contains { $0.readsAllColumns || $0.mentions([column]) } }
    }
}

extension TracedStatement {
    /// True if the statement is to change rows.
    fileprivate var isAboutRows: Bool {
        NormalSQL(sql).tokens.first.map {
            ["INSERT", "REPLACE", "UPDATE", "DELETE", "WITH"].contains($0.text.uppercased())
        } == true
    }

    /// True if a star stands where columns do.
    fileprivate var readsAllColumns: Bool {
        let tokens = NormalSQL(sql).tokens.map { $0.text.uppercased() }
        return zip(tokens, tokens.dropFirst()).contains { before, token in
            token == "*" && ["SELECT", "DISTINCT", "ALL", ".", ","].contains(before)
        }
    }
}
