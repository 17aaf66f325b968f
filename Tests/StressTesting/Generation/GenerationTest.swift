import AppMigrations
import Foundation
import GRDB
import MigrationTesting
import MigrationTools
import SchemaMigrations

/// A generated migration makes the schema that is asked for, and keeps every row.
public struct GenerationTest: StressTest {
    /// Selects it on the command line.
    public let name = "generate"
    /// As Documentation/StressTests.md words it.
    public let promise = "A generated migration makes the wanted schema, and keeps every row and reference"

    /// Makes the test.
    public init() {}

    /// Tries ten thousand pairs of schemas, or twenty.
    public func run(_ size: StressSize) throws -> StressOutcome {
        run(seeds: size.seeds(short: 20, long: 10_000))
    }

    /// Tries a pair of schemas for each seed.
    public func run(seeds: Range<UInt64>) -> StressOutcome {
        seeds.tryEach(unit: "pairs of schemas") { seed in
            var random = RandomNumbers(seed: seed)
            let old = RandomSchema.random(&random)
            let new = RandomSchema.changed(old, &random)
            let parts = old.map { Side(isOld: true, part: $0) } + new.map { Side(isOld: false, part: $0) }
            guard let first = deviation(parts) else { return nil }
            // A shorter pair may fail in other ways.
            func kind(_ failure: String) -> Substring {
                (failure.range(of: "rows: ").map { failure[$0.upperBound...] } ?? failure[...]).prefix(20)
            }
            let shortest = parts.shrunk(simpler: { side in
                side.part.simpler.map { Side(isOld: side.isOld, part: $0) }
            }) { deviation($0).map { kind($0) == kind(first) } ?? false }
            func text(_ isOld: Bool) -> String {
                shortest.filter { $0.isOld == isOld }.map(\.part.sql).joined(separator: "; ")
            }
            return "seed \(seed). From: \(text(true)). To: \(text(false)). \(deviation(shortest) ?? "")"
        }
    }

    private struct Side: Sendable {
        let isOld: Bool
        let part: RandomSchema.Part
    }

    private func deviation(_ parts: [Side]) -> String? {
        do {
            let old = try RandomSchema.statements(parts.filter(\.isOld).map(\.part))
            let new = try RandomSchema.statements(parts.filter { !$0.isOld }.map(\.part))
            guard !old.isEmpty, !new.isEmpty else { return nil }
            return try GenerationCase(old, new).deviation()
        } catch {
            return "error: \(error)"
        }
    }
}

/// One pair of schemas.
private struct GenerationCase {
    let first: SQLMigration
    let old: String
    let wanted: String

    init(_ old: [String], _ new: [String]) {
        self.old = old.map { "\($0);\n" }.joined()
        first = SQLMigration(version: 1, name: "first", sql: self.old)
        wanted = new.map { "\($0);\n" }.joined()
    }

    /// Returns what is wrong with the migration from one schema to the other; nil if nothing is.
    func deviation() throws -> String? {
        let before = try SchemaMigrator(migrations: [first])
        let schema = try SchemaFile(Data(wanted.utf8), name: "schema.sql")
        let generator: MigrationGenerator
        let trial: MigrationGenerator.Trial
        do {
            let (made, tried) = try MigrationGenerator.tried(goingBack: true) {
                try MigrationGenerator(before, to: schema, renaming: SchemaRenames(), redefining: $0)
            } fill: {
                try TableFilling.fillAll($0, rowsPerTable: 16, seed: 1, style: .awkward)
            }
            guard let tried else { return nil }
            (generator, trial) = (made, tried)
        } catch {
            return "check: \(error)"
        }
        // The check above is the generator's own. Look at the result with other eyes.
        let isListed = !generator.tightened.isEmpty || trial.misfits > 0
        for style in [TableFilling.Style.awkward, .distinct] {
            if let problem = try result(of: generator, over: style, mayFail: isListed) {
                return "result: \(problem) \(generator.sql)"
            }
        }
        return try review(generator).map { "review: \($0) \(generator.sql)" }
    }

    /// Returns what `check` finds in the migration, and not in the schema that it was asked for.
    private func review(_ generator: MigrationGenerator) throws -> String? {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "generate-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(old.utf8).write(to: folder.appendingPathComponent("1_first.sql"))
        for (index, file) in generator.files.enumerated() {
            try Data(file.sql.utf8).write(
                to: folder.appendingPathComponent("\(index + 2)_generated.sql"))
        }
        return try FolderReview.review(directory: folder).findings
            .first { finding in
                finding.file != "1_first.sql" && finding.rule.severity != .note
                    && !Self.schemaRules.contains(finding.rule.name)
            }
            .map { "\($0.rule.name): \($0.reason)" }
    }

    /// The rules about tables and indexes, however a migration makes them.
    private static let schemaRules: Set<String> = ["duplicate-index", "int-primary-key", "misspelt-type"]

    private func result(
        of generator: MigrationGenerator, over style: TableFilling.Style, mayFail isListed: Bool
    ) throws -> String? {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let queue = try DatabaseQueue(configuration: configuration)
        try SchemaMigrator(migrations: [first]).migrate(queue)
        let before = try queue.writeWithoutTransaction { db in
            try TableFilling.fillAll(db, rowsPerTable: 12, seed: 7, style: style)
            try AutoincrementSequences.raise(db, by: 1_000)
            return (
                orphans: try self.orphans(db), rows: try self.counts(db),
                values: try DatabaseValues(db, keepingValues: false),
                sequences: try AutoincrementSequences(db)
            )
        }
        do {
            try SchemaMigrator(migrations: [first] + generator.files.migrations(from: 2)).migrate(queue)
        } catch let error as MigrationError {
            // Rows may break a new constraint; then nothing changes.
            guard isConstraint(error) else { return "\(error)" }
            return isListed ? nil : "fails unlisted over \(style) rows: \(error)"
        }
        return try queue.read { db in
            if try orphans(db) > before.orphans { return "rows refer to missing rows" }
            let after = try counts(db)
            for (table, count) in before.rows where after[table] != count {
                return "table \(table) has \(after[table].map(String.init) ?? "no") rows, and had \(count)"
            }
            let values = try DatabaseValues(db, keepingValues: false)
            let renames = try ScriptRenames(
                generator.files.map { try SQLScript(Data($0.sql.utf8), fileName: "2") })
            for change in ValueComparison(from: before.values, to: values, renames).changes
            where change.lost > 0 {
                return
                    "column \(change.table).\(change.column) has lost \(change.lost) values over \(style) rows"
            }
            for (table, number, other) in try AutoincrementSequences(db).differences(from: before.sequences)
            where number < other {
                // A table that is no longer AUTOINCREMENT has no sequence.
                let sql = try String.fetchOne(
                    db, sql: "SELECT sql FROM sqlite_master WHERE name = ? COLLATE NOCASE", arguments: [table]
                )
                if sql?.uppercased().contains("AUTOINCREMENT") == true {
                    return "the sequence of table \(table) is at \(number), and was at \(other)"
                }
            }
            guard generator.questions.isEmpty else { return nil }
            let expected = try DatabaseQueue(configuration: configuration)
            try expected.writeWithoutTransaction { try $0.execute(sql: wanted) }
            let differences = try DatabaseSchema(db).difference(to: expected.read(DatabaseSchema.init))
                .changes
                .filter { !$0.subject.hasSuffix("order of the columns") }
            return differences.isEmpty ? nil : differences.map(\.sentence).joined(separator: "; ")
        }
    }

    private func isConstraint(_ error: MigrationError) -> Bool {
        ["constraint", "refer", "mismatch", "cannot store"].contains { error.message.contains($0) }
    }

    private func orphans(_ db: Database) throws -> Int {
        try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").count
    }

    private func counts(_ db: Database) throws -> [SQLName: Int] {
        let tables = try SQLName.fetchAll(
            db,
            sql: """
                SELECT name FROM pragma_table_list
                WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'schema%'
                """)
        return try Dictionary(
            tables.map { ($0, try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0.sql)") ?? 0) },
            uniquingKeysWith: max)
    }
}
