import AppMigrations
import GRDB
import MigrationTesting
import MigrationTools
import SchemaMigrations

/// An older build undoes a migration by the ledger alone.
public struct UndoTest: StressTest {
    /// Selects it on the command line.
    public let name = "undo"
    /// As Documentation/StressTests.md words it.
    public let promise =
        "An older build undoes a migration by the ledger alone: the schema is as before, and every row is there"

    /// Makes the test.
    public init() {}

    /// Tries ten thousand pairs of schemas, or twenty.
    public func run(_ size: StressSize) throws -> StressOutcome {
        run(seeds: size.seeds(short: 20, long: 10_000))
    }

    /// Tries a pair of schemas for each seed.
    public func run(seeds: Range<UInt64>) -> StressOutcome {
        let kept = Locked(0)
        var outcome = seeds.tryEach(unit: "migrations undone") { seed in
            do {
                let pair = try SchemaPair(seed: seed, change: RandomSchema.changed)
                guard !pair.sql.isEmpty, !pair.downSQL.isEmpty, pair.isReversible else { return nil }
                return try deviation(pair, seed: seed) { kept.withLock { $0 += 1 } }
                    .map { "seed \(seed): \($0); \(pair.sql) -- back: \(pair.downSQL)" }
            } catch {
                return "seed \(seed): error: \(error)"
            }
        }
        outcome.notes.append(
            "\(kept.withLock { $0 }) databases stay as they are, because a row fits only one of the schemas")
        return outcome
    }

    private func deviation(_ pair: SchemaPair, seed: UInt64, kept: () -> Void) throws -> String? {
        let queue = try DatabaseQueue()
        try pair.older().migrate(queue)
        try queue.write { _ = try TableFilling.fillAll($0, rowsPerTable: 8, seed: seed) }
        func look() throws -> Look { try queue.writeWithoutTransaction(Look.init) }
        let before = try look()
        do {
            try pair.newer().migrate(queue)
        } catch is MigrationError {
            kept()
            return nil
        }
        let between = try look()
        do {
            let report = try pair.older(.rollBack).migrate(queue)
            guard report.undone == [2] else { return "undone: \(report.undone)" }
        } catch let error as MigrationError {
            guard error.code == .stepFailed,
                error.message.contains("onstraint") || error.message.contains("refer")
                    || error.message.contains("cannot store")
            else {
                return "\(error)"
            }
            let after = try look()
            kept()
            return after.schema.differences(from: between.schema).isEmpty
                && lost(between, after).isEmpty ? nil : "a failed undo changes the database"
        }
        let after = try look()
        let differences = after.schema.differences(from: before.schema)
        guard differences.isEmpty else { return "the schema differs: \(differences)" }
        // What the migration itself drops or changes, the author was asked about.
        let lostBefore = Set(lost(before, between))
        let lostNow = lost(before, after).filter { !lostBefore.contains($0) }
        return lostNow.isEmpty ? nil : "values are lost: \(lostNow)"
    }

    private struct Look {
        let schema: SchemaDescription
        let values: DatabaseValues
        let counts: [SQLName: Int]

        init(_ db: Database) throws {
            db.clearSchemaCache()
            schema = try SchemaDescription(db)
            values = try DatabaseValues(db, keepingValues: false)
            counts = try Dictionary(
                TableLayout.fetchAll(db).map {
                    ($0.name, try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0.name.sql)") ?? 0)
                }, uniquingKeysWith: max)
        }
    }

    /// Returns the columns that lose values, and the tables that lose rows.
    private func lost(_ before: Look, _ after: Look) -> [String] {
        let columns = ValueComparison(from: before.values, to: after.values, ScriptRenames([SQLScript]()))
            .changes.filter { $0.count > 0 }.map { "\($0.table).\($0.column)" }
        let tables = before.counts.filter { $0.value > after.counts[$0.key] ?? 0 }.map { "rows of \($0.key)" }
        return columns + tables
    }
}
