import GRDB
import SchemaMigrations
import TextOutput

/// The losses of a generated migration that the wanted schema asks for, as comments that allow them.
///
/// `check` cannot know that a rebuild leaves out a constraint because the schema no longer has it. The generator asks
/// about everything that loses data, and leaves it out, so that these are no losses of data.
struct AllowedLosses {
    private let findings: [ReviewFinding]
    /// The line of the first statement, above which a comment allows what concerns the whole file.
    private let firstLine: Int

    /// Reviews a migration that follows others.
    init(_ sql: String, after migrator: SchemaMigrator?, _ configuration: Configuration) throws {
        let before = migrator?.migrations ?? []
        let version = min(before.last?.version ?? 0, .max - 1) + 1
        let migration = SQLMigration(version: version, name: "generated", sql: sql)
        let outline = ScriptOutline(try migration.script())
        firstLine = outline.script.statements.first?.line ?? 1
        let all = try SchemaMigrator(migrations: before + [migration])
        let database = try configuration.scratchDatabase()
        defer { try? database.close() }
        try migrator?.migrate(database)
        var run = MigrationRun(all, database)
        let found = run.apply(migration.version, outline)
        let file = outline.script.fileName
        let review = StatementReview(
            outline, parents: [], schema: run.schemas[file], judged: run.judged[file])
        findings =
            (found + review.findings)
            .filter { (Self.rules.contains($0.rule) || Self.refusals[$0.rule] != nil) && !outline.allows($0) }
    }

    private static let rules: Set<ReviewRule> = [
        .lostIndex, .lostTrigger, .lostForeignKey, .lostCheck, .lostNotNull, .lostUnique, .lostPrimaryKey,
        .lostDefault, .dropTable, .dropColumn, .lostCollation, .lostGenerated, .lostAutoincrement,
        .lostStrict, .lostWithoutRowID,
    ]

    /// The rules about rows that do not fit: the migration fails over them, and loses nothing.
    private static let refusals: [ReviewRule: String] = [
        .newUnique: "fails where rows break a new UNIQUE",
        .newNotNull: "fails where a new NOT NULL finds a null",
        .newCheck: "fails where rows break a new CHECK", .orphans: "fails where rows refer to missing rows",
        .didNotRun: "fails where rows do not fit",
    ]

    /// Returns the statements with comments above those that lose something.
    func allow(in sql: String, askedForBy name: String) -> String {
        // By scalars: to Swift, the line ends that a schema from Windows has are other characters.
        var lines = sql.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map(
            String.init)
        let places = Dictionary(grouping: findings) { $0.rule.scope == .file ? firstLine : $0.line }
        for (line, found) in places.sorted(by: { $0.key > $1.key }) {
            let rules = Set(found.map(\.rule.name)).sorted().joined(separator: ", ")
            let reasons = found.map { finding in
                Self.refusals[finding.rule].map { "\($0)." } ?? finding.problem
            }
            let comments = Set(reasons.map(\.firstInLowerCase)).sorted().map { "-- As in \(name): \($0)" }
            lines.insert(contentsOf: (comments + ["-- allow: \(rules)"]).map(\.inOneLine), at: line - 1)
        }
        return lines.joined(separator: "\n")
    }
}

extension String {
    fileprivate var firstInLowerCase: String { prefix(1).lowercased() + dropFirst() }
}
