import AppMigrations
import Foundation
import GRDB

/// Brings a database to a migration, run by GRDB's `DatabaseMigrator`.
struct GRDBSchemaStep: DatabaseSchemaStep {
    let migrator: DatabaseMigrator
    /// The identifier of the migration to go to; nil for the latest.
    let target: String?
    let newerDatabases: SchemaOptions.NewerDatabaseRule
    let database: any DatabaseWriter

    var goesToLatest: Bool { target == nil }

    /// The default timeout, since GRDB's migrator has no such option.
    var busyTimeout: Duration { .defaultBusyTimeout }

    func look(_ db: Database) throws -> (pending: PendingSchema, newer: [String]) {
        let applied = try Self.applied(db)
        let newer = try unknownIdentifiers(among: applied).sorted()
        if !newer.isEmpty, newerDatabases != .allow {
            throw SchemaMigrationError(
                .newerDatabase, "The database has had migrations that GRDB's migrator does not know.",
                remedy: "A newer version of the app has migrated it: update the app. Nothing was changed.")
        }
        return (PendingSchema(apply: covered.filter { !applied.contains($0) }), newer)
    }

    func perform(_ context: MigrationContext) throws -> SchemaStepOutcome {
        let before = try database.readSnapshot(waitingUpTo: busyTimeout, Self.applied)
        try database.withDurableCommits(waitingUpTo: busyTimeout) {
            if let furthest = furthest(of: before) {
                try migrator.migrate(database, upTo: furthest)
            } else {
                try migrator.migrate(database)
            }
        }
        let after = try database.readSnapshot(waitingUpTo: busyTimeout, Self.applied)
        return SchemaStepOutcome(
            applied: migrator.migrations.filter { after.contains($0) && !before.contains($0) },
            databaseSize: database.fileSize)
    }

    /// Reads the identifiers of the applied migrations.
    ///
    /// GRDB's own method looks for the table only after it has failed to read it, and throws if another process has
    /// created it in between. Here one state of the database answers both questions.
    private static func applied(_ db: Database) throws -> Set<String> {
        try db.readSnapshot {
            guard try db.hasTable(OwnTables.ofGRDB) else { return [] }
            return try String.fetchSet(db, sql: "SELECT identifier FROM \(OwnTables.ofGRDB.inMain)")
        }
    }

    /// Returns the applied migrations that the migrator neither has nor has merged into another one.
    ///
    /// GRDB does not say which migrations are merged, but it forgets them once the migration that merges them is
    /// applied: in an empty database that takes all migrations for applied, those that stay are unknown.
    private func unknownIdentifiers(among applied: Set<String>) throws -> Set<String> {
        let unknown = applied.subtracting(migrator.migrations)
        guard !unknown.isEmpty else { return [] }
        var migrator = migrator
        migrator.eraseDatabaseOnSchemaChange = false
        let trial = try DatabaseQueue()
        try trial.write { db in
            try db.execute(sql: "CREATE TABLE \(OwnTables.ofGRDB)(identifier TEXT NOT NULL PRIMARY KEY)")
            for identifier in unknown.union(migrator.migrations) {
                try db.execute(
                    sql: "INSERT INTO \(OwnTables.ofGRDB) VALUES (?)", arguments: [identifier])
            }
        }
        try migrator.migrate(trial)
        return try trial.read { try migrator.appliedIdentifiers($0).subtracting(migrator.migrations) }
    }

    /// Returns the migration to go to: the target, or the last applied one if that is later.
    ///
    /// GRDB refuses to migrate up to a migration if a later one has run. Going up to the later one also runs
    /// those that are out of order.
    private func furthest(of applied: Set<String>) -> String? {
        guard let target else { return nil }
        let all = migrator.migrations
        return [all.firstIndex(of: target), all.lastIndex(where: applied.contains)].compactMap { $0 }.max()
            .map { all[$0] }
    }

    func mistakes(in schemaSteps: [any SchemaStepWork]) -> [SchemaStepMistake] {
        let rollingBack = schemaSteps.enumerated().filter {
            ($1 as? GRDBSchemaStep)?.newerDatabases == .rollBack
        }.map {
            SchemaStepMistake(
                index: $0.offset, problem: "asks GRDB's migrator to roll back, which it cannot",
                remedy: "Pass newerDatabases: .refuse or .allow.")
        }
        return rollingBack
            + SchemaStepReview(
                set: migrator.migrations, database: { database.displayName }, title: { $0 }
            ).mistakes(
                in: schemaSteps.map { schemaStep in
                    (schemaStep as? GRDBSchemaStep).map { (set: $0.migrator.migrations, target: $0.target) }
                })
    }

    /// The migrations up to the target, in the order in which they run.
    private var covered: ArraySlice<String> {
        let all = migrator.migrations
        guard let target, let index = all.firstIndex(of: target) else { return all[...] }
        return all[...index]
    }
}
