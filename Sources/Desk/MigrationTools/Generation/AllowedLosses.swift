import GRDB
import SchemaMigrations
import TextOutput

/// The losses of a generated migration that the wanted schema asks for, as comments that allow them.
///
/// `check` cannot know that a rebuild leaves out a constraint because the schema no longer has it. The generator asks
/// about everything that loses data, and leaves it out, so that these are no losses of data.
struct AllowedLosses {
    private let findings: [ReviewFinding]

    /// Reviews a migration that follows others.
    init(_ sql: String, after migrator: SchemaMigrator?) throws {
        let before = migrator?.migrations ?? []
        let version = min(before.last?.version ?? 0, .max - 1) + 1
        let migration = SQLMigration(version: version, name: "generated", sql: sql)
        let outline = ScriptOutline(try migration.script())
        let all = try SchemaMigrator(migrations: before + [migration])
        let database = try DatabaseQueue()
        defer { try? database.close() }
        try migrator?.migrate(database)
        var run = MigrationRun(all, database)
        let found = run.apply(migration.version, outline)
        let file = outline.script.fileName
        let review = StatementReview(
            outline, parents: [], schema: run.schemas[file], judged: run.judged[file])
        findings =
            (found + review.findings)
            .filter { Self.rules.contains($0.rule) }
    }

    private static let rules: Set<ReviewRule> = [
        .lostIndex, .lostTrigger, .lostForeignKey, .lostCheck, .lostNotNull, .lostUnique, .lostPrimaryKey,
        .lostDefault, .dropTable, .dropColumn, .lostCollation, .lostGenerated, .lostAutoincrement,
        .lostStrict, .lostWithoutRowID,
    ]

    /// Returns the statements with comments above those that lose something.
    func allow(in sql: String, askedForBy name: String) -> String {
        var lines = sql.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        for (line, found) in Dictionary(grouping: findings, by: \.line).sorted(by: { $0.key > $1.key }) {
            let rules = Set(found.map(\.rule.name)).sorted().joined(separator: ", ")
            let comments = found.map(\.problem.firstInLowerCase).sorted().map { "-- As in \(name): \($0)" }
            lines.insert(contentsOf: (comments + ["-- allow: \(rules)"]).map(\.inOneLine), at: line - 1)
        }
        return lines.joined(separator: "\n")
    }
}

extension String {
    fileprivate var firstInLowerCase: String { prefix(1).lowercased() + dropFirst() }
}
