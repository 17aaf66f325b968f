import AppMigrations
package import Foundation
package import GRDB
import MigrationDiagnostics
import SchemaMigrations
import TextOutput

/// Reviews a folder of migrations, and runs them on an empty database in memory.
///
/// Each file runs between two looks at the schema, and over generated rows. ``MigrationComparison`` judges what it
/// changes.
///
/// A comment can allow findings of one or several rules: `-- allow: drop-table`. It stands on the line above
/// the statement, or before the file's first statement if the finding concerns the whole file.
package struct FolderReview: Sendable {
    /// The findings, by file and line.
    package private(set) var findings: [ReviewFinding] = []
    /// The number of migrations.
    package let count: Int
    /// The files of the migrations that did not run: those that fail or cannot be read, and those that come after the
    /// first in Swift.
    package private(set) var notRun: [String] = []

    private var outlines: [String: ScriptOutline] = [:]
    /// The contents of the files that have been read, by name.
    private var contents: [String: Data] = [:]

    /// Reviews the migrations of a folder.
    ///
    /// - Parameters:
    ///   - database: a database to compare them with.
    ///   - branch: a branch to compare them with.
    ///   - oldest: the oldest SQLite on which the migrations run; nil if it is not known.
    ///   - severity: the severity of what could not be tried, unless the project gives it another one.
    ///   - now: the date after which a version is in the future.
    /// - Throws: `MigrationError`, if the folder cannot be read or is empty, or if the database belongs to other
    ///   migrations.
    package static func review(
        directory: URL, database: (any DatabaseReader)? = nil, branch: BranchMigrations? = nil,
        oldest: SQLiteVersion? = nil, untried severity: ReviewRule.Severity = .note, now: Date = Date()
    ) throws -> FolderReview {
        let names = try MigrationFolder.names(in: directory)
        let set = MigrationFileSet(names: names, .sqlAndSwift)
        if set.entries.isEmpty, set.problems.isEmpty { _ = try MigrationFolder.files(in: directory) }

        var review = FolderReview(count: set.entries.count)
        try review.review(set, in: directory, database, branch, oldest: oldest, severity, now: now)
        return review
    }

    private init(count: Int) { self.count = count }

    private mutating func review(
        _ set: MigrationFileSet, in directory: URL, _ database: (any DatabaseReader)?,
        _ branch: BranchMigrations?,
        oldest: SQLiteVersion?, _ untried: ReviewRule.Severity, now: Date
    ) throws {
        for problem in set.problems { add(problem) }
        for entry in set.entries {
            if entry.parsed.kind == .up { read(entry.fileName, in: directory) }
            if let down = entry.down { read(down, in: directory) }
        }
        let rules = try? CodeRules(in: directory)
        if let branch {
            findings += branch.findings(
                in: contents(of: set, in: directory),
                configuration: (rules?.standIns ?? StandIns()).configuration)
        }
        reviewVersions(set, now: now)
        reviewDowns(set)
        for outline in outlines.values { findings += SQLiteFeature.findings(in: outline, oldest: oldest) }
        // The set can run only if all names are valid.
        let migrator = try? SchemaMigrator(sourcesIn: directory)
        if let migrator {
            let run = run(migrator, rules)
            reviewGaps(migrator, in: directory)
            reviewStatements(of: set.entries.map(\.fileName), run)
            if let database { try compare(migrator, with: database) }
            if let rules { reviewStandIns(rules.standIns) }
            // What fails to run has a finding of its own, and so has a mistake in the rules.
            if rules == nil || notRun.allSatisfy({ $0.hasSuffix(".swift") }) {
                findings += GeneratedCodeReview(of: migrator, in: directory).findings
            }
        } else {
            reviewStatements(of: set.entries.map(\.fileName), nil)
            notRun = set.entries.map(\.fileName)
        }
        findings = findings.filter { outlines[$0.file]?.allows($0) != true }
        reviewComments()
        let severities = try ReviewSeverities(in: directory)
        // An error about the names says enough.
        let isSaid = severities.apply(to: findings).contains { finding in
            [.malformedName, .doubleVersion].contains(finding.rule) && finding.severity == .error
        }
        if migrator == nil, !isSaid {
            add(
                .untried, (set.problems.first?.fileName ?? notRun.first) ?? "",
                "No file was tried, because the names are not in order. Correct malformed names and double versions."
            )
        }
        let found = findings.map { $0.rule.isAboutGap ? $0.with(untried) : $0 }
        findings = severities.apply(to: found) + severities.findings
        findings.sort { ($0.file, $0.line, $0.rule.name) < ($1.file, $1.line, $1.rule.name) }
    }

    private mutating func add(_ rule: ReviewRule, _ file: String, line: Int = 1, _ reason: String) {
        findings.append(ReviewFinding(file: file, line: line, rule: rule, reason: reason))
    }

    private mutating func add(_ problem: MigrationFileProblem) {
        add(
            problem.kind == .doubleVersion ? .doubleVersion : .malformedName, problem.fileName,
            problem.diagnostic.explanation)
    }

    // MARK: Files

    private mutating func read(_ name: String, in directory: URL) {
        do {
            let data = try Data(contentsOf: directory.appendingPathComponent(name))
            contents[name] = data
            let script = try SQLScript(data, fileName: name)
            outlines[name] = ScriptOutline(script)
            if script.statements.isEmpty {
                add(
                    .noStatement, name,
                    "It has no statement. Once it is applied, statements that are added later never run.")
            }
            let check =
                script.settings.foreignKeys == .deferred ? ", which are checked before the commit" : ""
            for line in script.settings.ignoredPragmas {
                add(
                    .ignoredPragma, name, line: line,
                    """
                    PRAGMA foreign_keys is left out here: this file runs without enforcing foreign keys\(check). \
                    Remove it.
                    """)
            }
        } catch let error as MigrationError {
            add(
                error.detail == .refusedStatement ? .refusedStatement : .unreadableFile, name,
                line: error.line ?? 1, error.diagnostic.sentence)
        } catch {
            add(.unreadableFile, name, "It cannot be read: \(error.localizedDescription)")
        }
    }

    /// Returns the contents of the migrations, by name.
    private func contents(of set: MigrationFileSet, in directory: URL) -> [String: Data] {
        Dictionary(
            set.entries.map { entry in
                // An unreadable file has a finding of its own; those in Swift have not been read for a review.
                let file = directory.appendingPathComponent(entry.fileName)
                return (entry.fileName, contents[entry.fileName] ?? (try? Data(contentsOf: file)) ?? Data())
            }, uniquingKeysWith: { $1 })
    }

    private mutating func reviewVersions(_ set: MigrationFileSet, now: Date) {
        // Clocks differ, and a version may have been written in local time.
        let limit = now.addingTimeInterval(24 * 60 * 60)
        for entry in set.entries {
            guard let date = entry.parsed.version.asTimestamp, date > limit else { continue }
            add(
                .futureVersion, entry.fileName,
                """
                Version \(entry.parsed.version) is in the future, so every new migration until then is out of order. \
                Name it after the time at which it was written.
                """)
        }
    }

    private mutating func reviewDowns(_ set: MigrationFileSet) {
        // Older ones were written before the project had down migrations.
        let withSQL = set.entries.filter { $0.parsed.kind == .up }.drop { $0.down == nil }
        for entry in withSQL where entry.down == nil {
            add(
                .missingDown, entry.fileName,
                "There is no \(entry.fileName.dropLast(4)).down.sql, but older migrations have one.")
        }
    }

    private mutating func reviewStatements(of files: [String], _ run: MigrationRun?) {
        // A down migration drops what its migration created.
        let outlines = files.compactMap { self.outlines[$0] }
        let parents = outlines.reduce(into: Set<SQLName>()) { $0.formUnion(StatementReview.parents(in: $1)) }
        for outline in outlines {
            let file = outline.script.fileName
            findings +=
                StatementReview(
                    outline, parents: parents, schema: run?.schemas[file], after: run?.schema(after: file),
                    judged: run?.judged[file]
                ).findings
        }
    }

    // MARK: Running

    /// Runs the migrations before the first in Swift on an empty database, and rolls them back.
    ///
    /// - Returns: what was found out about each file that ran.
    private mutating func run(_ migrator: SchemaMigrator, _ rules: CodeRules?) -> MigrationRun? {
        let standIns = rules?.standIns ?? StandIns()
        guard let database = try? standIns.configuration.scratchDatabase() else { return nil }
        defer { try? database.close() }
        let unreadable = Set(
            findings.filter { [.unreadableFile, .refusedStatement].contains($0.rule) }.map(\.file))
        let first = migrator.migrations.prefix { $0 is any SQLSource }
        let migrations = first.filter { migration in
            outlines[migration.title] != nil && !unreadable.contains(migration.title)
                && !unreadable.contains(migration.downFile)
        }
        // An empty file counts for nothing, but is no reason not to run the others.
        guard let readable = try? SchemaMigrator(migrations: migrations) else {
            notRun = migrator.migrations.map(\.title)
            return nil
        }
        var run = MigrationRun(
            readable, database, synchronized: SynchronizedTables(rules?.synchronized ?? []),
            standIns: standIns)
        var schemas: [SchemaVersion: SchemaDescription] = [:]
        for migration in migrations {
            guard let outline = outlines[migration.title] else { continue }
            if (migration as? any SQLSource)?.hasDown == true {
                schemas[migration.version] = try? database.read { try SchemaDescription($0) }
            }
            findings += run.apply(migration.version, outline)
        }
        let ran = Set(run.migrator.titles.map(\.version))
        notRun = migrator.migrations.filter { !ran.contains($0.version) || run.failed.contains($0.title) }
            .map(\.title)
        guard run.failed.isEmpty, unreadable.isEmpty else { return run }
        // A migration in Swift may create an index that is missing here.
        if migrations.count == migrator.migrations.count { findings += run.unindexedForeignKeys }
        rollBack(first, readable, database, to: schemas)
        return run
    }

    /// Reports the first migration in Swift, without which none of the later ones can be tried.
    private mutating func reviewGaps(_ migrator: SchemaMigrator, in directory: URL) {
        let rest = migrator.migrations.drop { $0 is any SQLSource }
        guard let code = rest.first else { return }
        let text = try? String(contentsOf: directory.appendingPathComponent(code.title), encoding: .utf8)
        let rules = text?.split(whereSeparator: \.isNewline).flatMap { $0.allowedRules(after: "//") } ?? []
        guard !rules.contains(ReviewRule.untried.name) else { return }
        let count = rest.count - 1
        let later = count == 1 ? "migration after it was tried" : "\(count) migrations after it were tried"
        add(
            .untried, code.title,
            """
            Only the app can run it, so \(count == 0 ? "it was not tried" : "neither it nor the \(later)"). \
            \(ReviewRule.untried.remedy) Then write `// allow: \(ReviewRule.untried.name)` into a line of its own.
            """)
    }

    private mutating func reviewStandIns(_ standIns: StandIns) {
        for standIn in standIns.known {
            add(
                .knownStandIn, CodeRules.fileName, line: standIn.line,
                "SQLite has a \(standIn.title) itself, which is used. \(ReviewRule.knownStandIn.remedy)")
        }
    }

    /// Rolls back the newest migrations that are reversible.
    ///
    /// - Parameter schemas: the schema before each of them.
    private mutating func rollBack(
        _ migrations: ArraySlice<any SchemaMigration>, _ migrator: SchemaMigrator, _ database: DatabaseQueue,
        to schemas: [SchemaVersion: SchemaDescription]
    ) {
        for migration in migrations.reversed() {
            guard let source = migration as? any SQLSource, source.hasDown else { return }
            // Below 0, which may be a file's version.
            let below = migrations.last { $0.version < migration.version }?.version ?? -1
            let file = "\(source.fileName.dropLast(4)).down.sql"
            do {
                _ = try StepLimit.watch(database, millions: StepLimit.millionsWithoutRows) {
                    try migrator.rollback(database, to: below)
                }
                let others = try database.read { db in
                    try schemas[migration.version].map { try SchemaDescription(db).differences(from: $0) }
                }
                // What one leaves, the ones before it leave as well.
                if let others, !others.isEmpty {
                    return add(
                        .downDiffers, file,
                        "After it, \(others.asList) \(others.count == 1 ? "is" : "are") not as before the migration. \(ReviewRule.downDiffers.remedy)"
                    )
                }
            } catch let error as MigrationError {
                return add(.downDoesNotApply, file, line: error.line ?? 1, error.diagnostic.sentence)
            } catch {
                return add(
                    .downDoesNotApply, file, line: (error as? StepLimit.Reached)?.line ?? 1, "\(error)")
            }
        }
    }

    private mutating func compare(_ migrator: SchemaMigrator, with database: any DatabaseReader) throws {
        let status = try MigrationError.mapErrors { try database.read(migrator.status) }
        func file(_ version: SchemaVersion) -> String {
            migrator.migration(version: version)?.title ?? "\(version)"
        }
        for version in status.editedVersions {
            add(
                .edited, file(version),
                "It was edited after it was applied to this database. Undo the edit and write a new migration, or accept it with `app-migrations accept`."
            )
        }
        for version in status.unknownVersions {
            add(
                .unknownVersion, "\(version)",
                "Version \(version) was applied to the database, but it has no file. Was it removed or renamed?"
            )
        }
        guard let current = status.currentVersion else { return }
        for version in status.pendingVersions where version < current {
            add(
                .outOfOrder, file(version),
                "It is pending, but older than \(current), which was already applied: it will run out of order."
            )
        }
    }

    // MARK: Comments

    /// Reports misspelt rules, which would silently allow nothing.
    private mutating func reviewComments() {
        let names = ReviewRule.all.map(\.name)
        for (file, outline) in outlines {
            for comment in outline.script.comments {
                for rule in comment.allowedRules where !names.contains(rule) {
                    add(
                        .unknownRule, file, line: comment.line,
                        "There is no rule \(rule). The rules are \(names.joined(separator: ", ")).")
                }
            }
        }
    }
}

extension SchemaMigration {
    /// The name of the down migration's file, if there is one.
    fileprivate var downFile: String { title.hasSuffix(".sql") ? "\(title.dropLast(4)).down.sql" : title }
}

extension SchemaVersion {
    /// The version's time, if it is a timestamp: `yyyyMMddHHmmss`, with or without milliseconds, or
    /// `yyyyMMdd`.
    fileprivate var asTimestamp: Date? {
        let text = "\(self)"
        guard [8, 14, 17].contains(text.count) else { return nil }
        let digits = Array(text.padding(toLength: 14, withPad: "0", startingAt: 0))
        func number(_ range: Range<Int>) -> Int? { Int(String(digits[range])) }
        var parts = DateComponents()
        parts.year = number(0..<4)
        parts.month = number(4..<6)
        parts.day = number(6..<8)
        parts.hour = number(8..<10)
        parts.minute = number(10..<12)
        parts.second = number(12..<14)
        guard (1970...9999).contains(parts.year ?? 0), (1...12).contains(parts.month ?? 0),
            (1...31).contains(parts.day ?? 0)
        else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar.date(from: parts)
    }
}
