import AppMigrations
import GRDB
import MigrationTools
import SchemaMigrations
import TextOutput

/// The result of upgrading one database of a matrix.
struct MatrixUpgrade {
    /// The schema versions that were applied.
    let applied: [SchemaVersion]
    let warnings: [String]
    /// The errors of deferred steps.
    var failures: [MigrationError] = []
}

extension UpgradeMatrix {
    /// Upgrades a database with the migrator, or as the app does, with all deferred work.
    func upgrade(
        _ database: DatabaseQueue, at version: SchemaVersion, with runner: any MigrationRunner,
        rowsPerBatch: Int = SimulatedProcess.rowsPerBatch
    ) throws -> MatrixUpgrade {
        guard let app else {
            let outcome = try runner.run(database, upTo: nil)
            return MatrixUpgrade(applied: outcome.applied, warnings: outcome.warnings)
        }
        let before = try database.read(runner.standing).pending
        let environment = Environment.changed { $0.observer = FixedBatches(batchSize: rowsPerBatch) }
        return try Environment.$current.withValue(environment) {
            let manager = try app(database, runner.key(version))
            let report = try manager.migrate()
            let failures = try manager.runDeferred().failures
            let after = Set(try database.read(runner.standing).pending)
            if !after.isEmpty, failures.isEmpty {
                throw MigrationError(
                    .misuse,
                    "the launch leaves \(after.sorted().compactMap(runner.title).map(\.title).asList) pending",
                    remedy:
                        "Have the closure passed as launching: migrate the database that it receives, to the end."
                )
            }
            return MatrixUpgrade(
                applied: before.filter { !after.contains($0) },
                warnings: report.schemaSteps.flatMap(\.warnings),
                failures: failures)
        }
    }

    /// Returns a sentence for each statement of an idle launch that reads a whole table of an upgraded database.
    func wholeTableReads(of database: DatabaseQueue, _ runner: any MigrationRunner) throws -> [String] {
        guard let app else { return [] }
        return try WholeTableReads(database) {
            let manager = try app(database, runner.key(runner.titles.last?.version ?? 0))
            guard try manager.migrate().completed.isEmpty else { return false }
            return try manager.runDeferred().completed.isEmpty
        }.sentences
    }
}

/// Gives deferred work batches of one size.
private struct FixedBatches: LaunchObserver {
    let batchSize: Int
    let isTimeOver = false

    func watching(_ store: any RecordStorage) -> any RecordStorage { store }
    func willUse(_ place: any MigrationPlace) {}
    func note(_ event: MigrationEvent) {}
}
