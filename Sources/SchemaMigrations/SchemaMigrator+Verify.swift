package import GRDB
import MigrationDiagnostics

extension SchemaMigrator {
    /// Runs the migrations that a database has had on an empty database in memory.
    ///
    /// The database in memory has the configuration of the other one, with the functions and collations that migrations use.
    /// A schema that is worked out when the app is built could not be compared: migrations in Swift do not run there, and
    /// another version of SQLite writes other SQL for a renamed table.
    ///
    /// - Returns: nil, if the database has had a migration that is not known.
    package func replica(of db: Database) throws -> DatabaseQueue? {
        let ledger = try Ledger(db)
        guard ledger.applied.isSubset(of: versions) else { return nil }
        let queue = try DatabaseQueue(configuration: db.configuration.forCopying())
        // Migrations up to the floor were applied before the ledger was created.
        let migrations = migrations.filter {
            ledger.applied.contains($0.version) || $0.version <= ledger.floor ?? .min
        }
        if !migrations.isEmpty { try SchemaMigrator(migrations: migrations).migrate(queue) }
        return queue
    }

    /// Compares the schema with the one that the migrations make, if the options ask for that.
    func verify(_ db: Database, _ report: inout SchemaReport) throws {
        guard let policy = options.verify.onDifference, !report.applied.isEmpty,
            let replica = try replica(of: db)
        else { return }
        let drift = try replica.unsafeReentrantRead { try SchemaDrift(of: db, from: $0) }
        try replica.close()
        guard !drift.sentences.isEmpty else { return }
        let problem =
            "The schema is not the one that the migrations make: \(drift.sentences.joined(separator: "; "))"
        switch policy {
        case .allow: report.warnings.append(problem)
        case .refuse:
            var error = SchemaMigrationError(
                .differentSchema, problem,
                remedy: """
                    The migrations are applied. Find out what else changes the schema, or which migration was edited: \
                    compare a copy of the database with `app-migrations drift`.
                    """)
            error.committed = report.applied
            throw error
        }
    }
}
