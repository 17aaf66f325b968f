public import GRDB
import MigrationTools
import SchemaMigrations
import TextOutput

/// Reads migrations as a reviewer would, and runs them in memory over generated rows.
///
/// `app-migrations check` reviews files. This is the same review for migrations in Swift, GRDB's too: rows tell what is
/// lost, and the statements that ran explain it. Review them in a test:
///
/// ```swift
/// let migrator = DatabaseMigrator()    // the app's
/// let review = try MigrationReview(of: migrator)
/// #expect(review.findings == [])
/// ```
///
/// It finds rows and values that are lost, constraints that existing rows break, rows that refer to missing rows, foreign
/// keys without an index, what an older build cannot use, and more: `app-migrations help check` lists the rules.
///
/// What has shipped can no longer be changed, so name the last migration that has: `after: "addShelf"`. Allow what is
/// intended, by the rule that the finding names: `allowing: ["dropDrafts": ["drop-table"]]`. A comment in the SQL that the
/// migration runs does it as well: `-- allow: drop-table`.
public struct MigrationReview: Sendable {
    /// A problem of a migration.
    public struct Finding: Sendable, Hashable {
        /// How serious a problem is.
        public enum Severity: String, Sendable {
            /// The migration should not be shipped as it is.
            case error
            /// The author should have a second look.
            case warning
            /// The author may want to know.
            case note
        }

        /// The migration's identifier, or its file.
        public let migration: String
        /// The statement; nil if the finding concerns no statement.
        public let statement: String?
        /// The rule that the migration breaks.
        public let rule: String
        /// How serious it is.
        public let severity: Severity
        /// The problem and the remedy.
        public let reason: String
    }

    /// The findings, in the order of the migrations.
    public let findings: [Finding]

    /// Reviews migrations.
    ///
    /// - Parameters:
    ///   - source: the migrations, which run on databases in memory.
    ///   - shipped: the last migration that has shipped; nil to review all.
    ///   - allowances: the rules that a migration may break, by their names.
    ///   - tables: the tables that a sync engine such as SQLiteData's mirrors, for which there are more rules.
    ///   - configuration: how the app opens its database, with the functions and collations that migrations use.
    /// - Throws: SQLite's errors, if no database can be made.
    public init(
        of source: some MigrationSource, after shipped: MigrationKey? = nil,
        allowing allowances: [MigrationKey: [String]] = [:], synchronizing tables: Set<String> = [],
        configuration: Configuration = Configuration()
    ) throws {
        let runner = source.orderedMigrations.runner
        let last = shipped.flatMap(runner.version) ?? .min
        var allowed: [SchemaVersion: Set<String>] = [:]
        for (key, rules) in allowances {
            if let version = runner.version(key) { allowed[version] = Set(rules) }
        }
        let found = try TracedReview(
            of: runner, synchronizing: Set(tables.map { SQLName($0) }), configuration: configuration
        ).findings
        findings =
            Self.mistakes(in: allowances, after: shipped, runner)
            + found.filter { finding in
                let rules = allowed[finding.title.version] ?? []
                return finding.title.version > last && !rules.contains(finding.finding.rule.name)
            }.map(Finding.init)
    }

    /// Returns a finding for each name that is passed and that nothing has.
    private static func mistakes(
        in allowances: [MigrationKey: [String]], after shipped: MigrationKey?, _ runner: any MigrationRunner
    ) -> [Finding] {
        let keys = Array(allowances.keys) + (shipped.map { [$0] } ?? [])
        let unknown = keys.filter { runner.version($0) == nil }.map { "\($0)" }
        let rules = Set(ReviewRule.all.map(\.name))
        let misspelt = allowances.flatMap { key, names in
            names.filter { !rules.contains($0) }.map { ("\(key)", $0) }
        }
        return Set(unknown).sorted().map {
            Finding($0, .unknownRule, "The review names \($0), which is no migration.")
        }
            + misspelt.map { key, name in
                Finding(
                    key, .unknownRule, "There is no rule \(name). \(ReviewRule.unknownRule.remedy)")
            }
    }
}

extension MigrationReview.Finding {
    fileprivate init(_ found: TracedReview.Finding) {
        migration = found.title.title
        statement = found.statement
        rule = found.finding.rule.name
        severity = Severity(rawValue: found.finding.severity.rawValue) ?? .error
        reason = found.finding.reason
    }

    fileprivate init(_ migration: String, _ rule: ReviewRule, _ reason: String) {
        self.init(
            migration: migration, statement: nil, rule: rule.name, severity: .error, reason: reason)
    }
}

extension MigrationReview.Finding: CustomStringConvertible {
    /// The migration, the problem and the remedy, and the statement in a line of its own.
    public var description: String {
        let sentence = "\(migration): \(severity.rawValue): \(reason) [\(rule)]"
        guard let statement else { return sentence }
        return "\(sentence)\n    \(statement.withSingleSpaces.shortened(to: 200))"
    }
}

extension MigrationReview: CustomStringConvertible {
    /// The findings, each with its statement.
    public var description: String {
        findings.isEmpty
            ? "nothing found" : findings.map(\.description).joined(separator: "\n")
    }
}
