package import GRDB
import MigrationDiagnostics
package import SchemaMigrations

/// Reviews migrations by the statements that they run over generated rows, wherever these are written.
package struct TracedReview {
    /// A finding, and the statement that it is about.
    package struct Finding: Hashable, Sendable {
        package let title: MigrationTitle
        package let statement: String?
        package let finding: ReviewFinding
    }

    /// The findings, in the order of the migrations.
    package private(set) var findings: [Finding] = []

    private let runner: any MigrationRunner
    private var outlines: [(title: MigrationTitle, outline: ScriptOutline)] = []

    /// The number of rows of each table when statements are recorded.
    private static let rowsPerTable = 8

    /// Runs the migrations on databases in memory.
    ///
    /// - Parameters:
    ///   - runner: the migrations.
    ///   - synchronized: the tables that a sync engine mirrors.
    ///   - configuration: how the app opens its database.
    /// - Throws: SQLite's errors, if no database can be made.
    package init(
        of runner: any MigrationRunner, synchronizing synchronized: Set<SQLName> = [],
        configuration: Configuration
    ) throws {
        self.runner = runner
        let database = try configuration.scratchDatabase()
        var run = MigrationRun(runner, database, synchronized: SynchronizedTables(synchronized))
        var found: [ReviewFinding] = []
        var stopped: Finding?
        for title in runner.titles {
            let names = try database.read { try SchemaObject.fetchAll($0).map(\.name) }
            let trace: MigrationTrace
            do {
                trace = try self.trace(title, after: database)
            } catch let stop as StepLimit.Reached {
                let finding = ReviewFinding(
                    file: title.title, line: 1, rule: .doesNotApply, reason: "\(stop)")
                stopped = Finding(title: title, statement: nil, finding: finding)
                break
            }
            guard let script = trace.script(of: title) else { continue }
            let outline = ScriptOutline(script)
            outlines.append((title, outline))
            // GRDB ends the process if Swift reads a value as another type, or NULL as something.
            let readsRows = trace.script == nil && trace.firstRead(of: names) != nil
            found += run.apply(title.version, outline, over: readsRows ? .distinct : .awkward)
            guard run.failed.isEmpty else { break }
        }
        if run.failed.isEmpty, stopped == nil { found += run.unindexedForeignKeys }
        found += statementFindings(run)
        for (title, outline) in outlines { findings += described(found, of: title, in: outline) }
        findings += [stopped].compactMap(\.self)
    }

    /// Records a migration over rows, or, if it fails over these or does not end, on a database without any.
    private func trace(_ title: MigrationTitle, after database: DatabaseQueue) throws -> MigrationTrace {
        do {
            let recorded = try runner.trace(title, after: database, rowsPerTable: Self.rowsPerTable)
            if recorded.error == nil { return recorded }
        } catch is StepLimit.Reached {}
        return try runner.trace(title, after: database, rowsPerTable: 0)
    }

    private func statementFindings(_ run: MigrationRun) -> [ReviewFinding] {
        let parents = outlines.reduce(into: Set<SQLName>()) {
            $0.formUnion(StatementReview.parents(in: $1.outline))
        }
        return outlines.flatMap { title, outline in
            StatementReview(
                outline, parents: parents, schema: run.schemas[title.title],
                after: run.schema(after: title.title), judged: run.judged[title.title]
            ).findings + SQLiteFeature.findings(in: outline, oldest: nil)
        }
    }

    /// Returns the findings of a migration with their statements, each once.
    private func described(
        _ findings: [ReviewFinding], of title: MigrationTitle, in outline: ScriptOutline
    ) -> [Finding] {
        var known: Set<String> = []
        let isFile = runner is SchemaMigrator && title.title.hasSuffix(".sql")
        return findings.filter { finding in
            finding.file == title.title && !outline.allows(finding)
                && (isFile || finding.rule != .needlessRebuild)
        }
        .sorted { ($0.line, $0.rule.name) < ($1.line, $1.rule.name) }
        .compactMap { finding in
            guard known.insert(finding.reason).inserted else { return nil }
            let statement = outline.script.statements.last { $0.line <= finding.line }
            return Finding(
                title: title, statement: statement.map(outline.script.wholeText),
                finding: isFile ? finding : finding.withoutFiles)
        }
    }
}

extension ReviewFinding {
    /// The finding with a remedy for code, which has no header.
    fileprivate var withoutFiles: ReviewFinding {
        let words = [
            "`-- migrations: foreign-keys=immediate` runs its ON DELETE":
                "a migration that enforces foreign keys immediately runs its ON DELETE",
            "Remove foreign-keys=immediate": "Let the migration defer foreign keys",
            "at the end of the file": "at the end of the migration",
            "use a file that begins with `-- migrations: redefine`": "rebuild the table",
            ": `-- migrations: redefine` changes constraints of a table.": ".",
        ]
        let reason = words.reduce(reason) { $0.replacing($1.key, with: $1.value) }
        return ReviewFinding(file: file, line: line, rule: rule, problem: problem, reason: reason)
    }
}
