import AppMigrations
import Foundation
import GRDB
import GRDBMigrations
import MigrationTesting
import MigrationTools
import SchemaMigrations
import TestSupport

/// Exported migrations do what GRDB's migrator did.
public struct MigratorsTest: StressTest {
    /// Selects it on the command line.
    public let name = "migrators"
    /// As Documentation/StressTests.md words it.
    public let promise =
        "Files exported from a DatabaseMigrator make the same schema and values, on new and on existing databases"

    /// Makes the test.
    public init() {}

    /// Tries a thousand migrators, or eight.
    public func run(_ size: StressSize) throws -> StressOutcome {
        run(seeds: size.seeds(short: 8, long: 1_000))
    }

    /// Tries the migrator of each seed.
    public func run(seeds: Range<UInt64>) -> StressOutcome {
        let counts = Locked((files: 0, code: 0, databases: 0))
        var outcome = seeds.tryEach(unit: "migrators") { seed in
            do {
                let trial = try MigratorsTrial(seed: seed)
                let failures = try trial.failures()
                counts.withLock {
                    $0.files += trial.export.fileNames.count
                    $0.code += trial.export.code.count
                    $0.databases += trial.migrations.count + 1
                }
                return failures.isEmpty ? nil : "seed \(seed): \(failures.joined(separator: "; "))"
            } catch {
                return "seed \(seed): error: \(error)"
            }
        }
        let (files, code, databases) = counts.withLock { $0 }
        outcome.notes.append(
            "\(files) migrations became files, \(code) stay in Swift; \(databases) databases were compared")
        return outcome
    }
}

/// One random migrator, exported.
private struct MigratorsTrial {
    let migrations: [(identifier: String, isImmediate: Bool, body: RandomMigrator.Body)]
    let export: MigrationExport
    private let migrator: DatabaseMigrator
    private let schema: SchemaMigrator
    private let seed: UInt64

    init(seed: UInt64) throws {
        let random = try RandomMigrator(seed: seed)
        self.seed = seed
        migrations = random.migrations
        migrator = random.migrator
        let export = try MigrationExport(of: migrator, startingAt: 1)
        self.export = export
        let folder = try TemporaryFolder()
        try export.write(to: folder.url)
        // The closures that stay are those of the app.
        let code = zip(1..., migrations).filter { export.code[$1.identifier] != nil }.map {
            CodeMigration(
                $0, $1.identifier, foreignKeys: $1.isImmediate ? .immediate : .deferred, migrate: $1.body)
        }
        let versions = zip(1..., migrations).map { ($1.identifier, SchemaVersion($0)) }
        let files = export.fileNames.isEmpty ? [] : [folder.url]
        schema = try SchemaMigrator(
            directories: files, migrations: code,
            adopting: .grdbMigrations(means: Dictionary(versions, uniquingKeysWith: { $1 })))
        // The files are read when they run.
        self.folder = folder
    }

    private let folder: TemporaryFolder

    /// Returns how databases differ: a new one, and one at each migration with rows.
    func failures() throws -> [String] {
        let ladder = try DatabaseQueue()
        var failures = try compare(ladder, "a new database")
        for migration in migrations {
            try migrator.migrate(ladder, upTo: migration.identifier)
            failures += try compare(ladder, "from \(migration.identifier)")
        }
        return failures
    }

    private func compare(_ database: DatabaseQueue, _ name: String) throws -> [String] {
        func copy() throws -> DatabaseQueue {
            let copy = try DatabaseQueue()
            try database.backup(to: copy)
            try copy.write { _ = try TableFilling.fillAll($0, rowsPerTable: 10, seed: seed) }
            return copy
        }
        func migrated() throws -> DatabaseQueue {
            let copy = try copy()
            try migrator.migrate(copy)
            return copy
        }
        // Rows that the migrator refuses are no promise.
        guard let expected = try? migrated() else { return [] }
        let found = try copy()
        try schema.migrate(found)
        return try ExportComparison.differences(of: found, from: expected, again: migrated).map {
            "\(name): \($0)"
        }
    }
}
