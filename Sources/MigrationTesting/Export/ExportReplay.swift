import AppMigrations
import GRDB
import MigrationDiagnostics
import MigrationTools
import SchemaMigrations
import TextOutput

/// Replays exported files on databases of different versions, beside GRDB's migrator.
struct ExportReplay {
    let runner: GRDBRunner
    let migrations: [ExportedMigration]
    let adoption: SchemaAdoption

    private static let rowsPerTable = 8
    /// The number of old versions: each file alone has been compared already.
    private static let starts = 8

    /// Compares what the files make with what the migrator makes: of a new database, and of old ones.
    ///
    /// - Throws: `MigrationError`, if they differ.
    func check(_ configuration: Configuration) throws {
        let ladder = try configuration.scratchDatabase()
        try compare(ladder, from: 0, "a new database")
        let distance = max(1, migrations.count / Self.starts)
        for (index, migration) in migrations.enumerated() {
            _ = try runner.run(ladder, upTo: migration.title.version)
            guard (index + 1).isMultiple(of: distance) else { continue }
            try compare(ladder, from: index + 1, "a database at \(migration.title.name)")
        }
    }

    private func compare(_ database: DatabaseQueue, from index: Int, _ name: String) throws {
        func copy() throws -> DatabaseQueue {
            try database.filledCopy(rowsPerTable: Self.rowsPerTable, seed: 1)
        }
        func migrated() throws -> DatabaseQueue {
            let migrated = try copy()
            _ = try runner.run(migrated, upTo: nil)
            return migrated
        }
        // Rows that the migrator does not take, no file has to take.
        guard let expected = try? migrated() else { return }
        let replayed = try copy()
        try replay(replayed, from: index)
        let differences = try ExportComparison.differences(of: replayed, from: expected, again: migrated)
        guard !differences.isEmpty else { return }
        throw MigrationError(
            .differentSchema, "The exported files do not bring \(name) where the migrator does",
            remedy: "\(differences.asList). Keep the migrator, and report this.")
    }

    /// Applies the files from one of the migrations on, and has GRDB run those that stay in Swift.
    private func replay(_ database: DatabaseQueue, from index: Int) throws {
        let schema = try SchemaMigrator(migrations: migrations.map(\.migration), adopting: adoption)
        var pending = migrations[index...]
        while let next = pending.first {
            let run = pending.prefix { $0.text != nil }
            if let last = run.last {
                try schema.migrate(database, upTo: last.version)
                try database.write { db in try Self.forget(run, db) }
                pending = pending.dropFirst(run.count)
            } else {
                _ = try runner.run(database, upTo: next.title.version)
                pending = pending.dropFirst()
            }
        }
    }

    /// Records files as migrations of GRDB's, and removes the ledger, so that the database is adopted again.
    private static func forget(_ run: ArraySlice<ExportedMigration>, _ db: Database) throws {
        let records = OwnTables.ofGRDB
        try db.execute(
            sql: "CREATE TABLE IF NOT EXISTS \(records) (identifier TEXT NOT NULL PRIMARY KEY)")
        for migration in run {
            try db.execute(
                sql: "INSERT OR IGNORE INTO \(records) VALUES (?)", arguments: [migration.title.name])
        }
        for table in try String.fetchAll(
            db, sql: "SELECT name FROM main.sqlite_master WHERE type = 'table'")
        where OwnTables.contains(SQLName(table)) {
            try db.drop(table: table)
        }
    }
}
