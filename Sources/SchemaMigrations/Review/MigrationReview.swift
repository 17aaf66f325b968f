package import Foundation
package import GRDB
import MigrationDiagnostics
import MigrationFiles

/// Reads a folder of migrations as a reviewer would, and runs them on an empty database in memory.
///
/// Findings that a comment allows are left out: `-- allow: drop-table`, with one rule or several, on the line above
/// the statement; for what concerns the whole file, before its first statement.
package struct MigrationReview: Sendable {
    /// What was found, by file and line.
    package private(set) var findings: [ReviewFinding] = []
    /// How many migrations were looked through.
    package let count: Int

    private var scripts: [String: SQLScript] = [:]

    /// Reviews the migrations of a folder.
    ///
    /// - Parameters:
    ///   - database: a database to compare them with.
    ///   - now: the date after which a version lies in the future.
    /// - Throws: ``SchemaMigrationError``, when the folder cannot be read or is empty, or the database is not one
    ///   of these migrations.
    package init(directory: URL, database: (any DatabaseReader)? = nil, now: Date = Date()) throws {
        let names = try MigrationFolder.names(in: directory)
        let set = MigrationFileSet(names: names, .sqlAndSwift)
        count = set.entries.count
        if set.entries.isEmpty, set.problems.isEmpty { _ = try MigrationFolder.files(in: directory) }

        for problem in set.problems { add(problem) }
        for entry in set.entries {
            if entry.parsed.kind == .up { read(entry.fileName, in: directory) }
            if let down = entry.down { read(down, in: directory) }
        }
        reviewVersions(set, now: now)
        reviewDowns(set)
        reviewStatements(of: set.entries.map(\.fileName))
        // Only names that are in order make a set that can be run.
        if let migrator = try? SchemaMigrator(sourcesIn: directory) {
            if !findings.contains(where: { [.unreadableFile, .refusedStatement].contains($0.rule) }) {
                run(migrator)
            }
            if let database { try compare(migrator, with: database) }
        }
        findings = findings.filter { !isAllowed($0) }
        reviewComments()
        findings.sort { ($0.file, $0.line, $0.rule.rawValue) < ($1.file, $1.line, $1.rule.rawValue) }
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
            let script = try SQLScript(data, fileName: name)
            scripts[name] = script
            if script.statements.isEmpty {
                add(
                    .noStatement, name,
                    "It holds no statement: once it is applied, what is written into it later never runs.")
            }
        } catch let error as SchemaMigrationError {
            add(
                error.code == .refusedStatement ? .refusedStatement : .unreadableFile, name,
                line: error.line ?? 1, error.diagnostic.sentence)
        } catch {
            add(.unreadableFile, name, "It cannot be read: \(error.localizedDescription)")
        }
    }

    private mutating func reviewVersions(_ set: MigrationFileSet, now: Date) {
        // Clocks differ, and a version may have been written in local time.
        let limit = now.addingTimeInterval(24 * 60 * 60)
        for entry in set.entries {
            guard let date = entry.parsed.version.asTimestamp, date > limit else { continue }
            add(
                .futureVersion, entry.fileName,
                """
                Version \(entry.parsed.version) lies in the future: until then every new migration comes before it. \
                Name it after the time at which it was written.
                """)
        }
    }

    private mutating func reviewDowns(_ set: MigrationFileSet) {
        // Older ones were written before the project had ways back.
        let withSQL = set.entries.filter { $0.parsed.kind == .up }.drop { $0.down == nil }
        for entry in withSQL where entry.down == nil {
            add(
                .missingDown, entry.fileName,
                "There is no \(entry.fileName.dropLast(4)).down.sql, where older migrations have one.")
        }
    }

    private mutating func reviewStatements(of files: [String]) {
        // On the way back, what was made is dropped again.
        let scripts = files.compactMap { self.scripts[$0] }
        let parents = scripts.reduce(into: Set<String>()) { $0.formUnion(StatementReview.parents(in: $1)) }
        for script in scripts { findings += StatementReview(script, parents: parents).findings }
    }

    // MARK: Running

    /// Runs everything on an empty database, as far as it goes without code, and back again.
    private mutating func run(_ migrator: SchemaMigrator) {
        guard let database = try? DatabaseQueue() else { return }
        let migrations = migrator.migrations.prefix { $0 is any SQLSource }
        guard let last = migrations.last else { return }
        var rule = ReviewRule.doesNotApply
        var title = last.title
        do {
            try migrator.migrate(database, upTo: last.version)
            rule = .downDoesNotApply
            // The newest ones that can be taken back.
            for migration in migrations.reversed() {
                guard let source = migration as? any SQLSource, source.hasDown else { break }
                title = "\(source.fileName.dropLast(4)).down.sql"
                let below = migrations.last { $0.version < migration.version }?.version ?? 0
                try migrator.rollback(database, to: below)
            }
        } catch let error as SchemaMigrationError {
            let file = rule == .downDoesNotApply ? title : error.file ?? title
            add(rule, file, line: error.line ?? 1, error.diagnostic.sentence)
        } catch {
            add(rule, title, "\(error)")
        }
    }

    private mutating func compare(_ migrator: SchemaMigrator, with database: any DatabaseReader) throws {
        let status = try SchemaMigrationError.mapErrors { try database.read(migrator.status) }
        func file(_ version: SchemaVersion) -> String {
            migrator.migration(version: version)?.title ?? "\(version)"
        }
        for version in status.edited {
            add(
                .edited, file(version),
                "It was edited after it had been applied to this database. Take the edit back, and write a new migration; or, if it was meant, take it as it is: app-migrations accept."
            )
        }
        for version in status.unknown {
            add(
                .unknownVersion, "\(version)",
                "The database has had version \(version), and there is no file of it. Was it removed or renamed?"
            )
        }
        guard let current = status.currentVersion else { return }
        for version in status.pendingVersions where version < current {
            add(
                .lateVersion, file(version),
                "It is pending, and older than \(current), which the database has had: it will run after that."
            )
        }
    }

    // MARK: Comments

    private func isAllowed(_ finding: ReviewFinding) -> Bool {
        guard let script = scripts[finding.file] else { return false }
        let lines = Dictionary(grouping: script.comments, by: \.line)
        switch finding.rule {
        case .dropTable, .dropColumn, .deleteWithoutWhere, .rebuildForeignKeys:
            // The comments directly above the statement.
            var line = finding.line - 1
            while let comments = lines[line] {
                if comments.contains(where: { $0.allowedRules.contains(finding.rule.rawValue) }) {
                    return true
                }
                line -= 1
            }
            return false
        default:
            return script.comments.contains {
                $0.precedesStatements && $0.allowedRules.contains(finding.rule.rawValue)
            }
        }
    }

    /// A misspelt rule would allow nothing, in silence.
    private mutating func reviewComments() {
        for (file, script) in scripts {
            for comment in script.comments {
                for rule in comment.allowedRules where ReviewRule(rawValue: rule) == nil {
                    let known = ReviewRule.allCases.map(\.rawValue).joined(separator: ", ")
                    add(
                        .unknownRule, file, line: comment.line,
                        "There is no rule \(rule). There are \(known).")
                }
            }
        }
    }
}

extension SQLReader.Comment {
    /// The rules that it allows to be broken: `-- allow: drop-table, drop-column`.
    fileprivate var allowedRules: [String] {
        guard text.hasPrefix("--") else { return [] }
        let words = text.dropFirst(2).split(whereSeparator: { $0.isWhitespace || $0 == "," })
        return words.first == "allow:" ? words.dropFirst().map(String.init) : []
    }
}

extension SchemaVersion {
    /// The time that the version tells, if it is one: `yyyyMMddHHmmss`, with or without milliseconds, or `yyyyMMdd`.
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
