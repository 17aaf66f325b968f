import AppMigrations
import Foundation
import GRDB
import SchemaMigrations

/// Brings a database to a migration, run by GRDB's `DatabaseMigrator`.
struct GRDBSchemaStep: DatabaseSchemaStep {
    let migrator: DatabaseMigrator
    /// The identifier of the migration to go to; nil for the latest.
    let target: String?
    let newerDatabases: SchemaOptions.NewerDatabaseRule
    /// The identifiers of migrations that shipped, and that the migrator no longer has.
    let removed: Set<String>
    let database: any DatabaseWriter

    var goesToLatest: Bool { target == nil }

    /// The default timeout, since GRDB's migrator has no such option.
    var busyTimeout: Duration { .defaultBusyTimeout }

    func look(_ db: Database) throws -> (pending: PendingSchema, newer: [String]) {
        let history = try GRDBHistory(db)
        let applied = history.applied
        let newer = history.newer(
            among: try unknownIdentifiers(among: applied).subtracting(removed), than: migrator.migrations)
        if !newer.isEmpty, newerDatabases != .allow {
            throw MigrationError(
                .newerThanThisProcess,
                "The database has had \(newer.joined(separator: ", ")), which GRDB's migrator does not know.",
                remedy: """
                    If a newer version of the app has migrated it, update the app. If this version left migrations out, \
                    pass their identifiers as ignoring: to the schema step. Nothing was changed.
                    """)
        }
        return (PendingSchema(apply: covered.filter { !applied.contains($0) }), newer)
    }

    func perform(_ context: MigrationContext) throws -> SchemaStepOutcome {
        let before = try applied()
        let progress = context.progress
        try database.withDurableCommits(waitingUpTo: busyTimeout) {
            try GRDBStop(progress).watch(database) { try migrate(from: before, progress) }
        }
        let after = try applied()
        return SchemaStepOutcome(
            applied: migrator.migrations.filter { after.contains($0) && !before.contains($0) },
            databaseSize: database.fileSize)
    }

    private func applied() throws -> Set<String> {
        try database.readSnapshot(waitingUpTo: busyTimeout) { try GRDBHistory($0).applied }
    }

    /// Lets GRDB apply the pending migrations, one after the other.
    private func migrate(from before: Set<String>, _ progress: Progress) throws {
        // To erase a changed database, GRDB would compare its schema anew at each stop.
        let stops = stops(after: before).suffix(migrator.eraseDatabaseOnSchemaChange ? 1 : .max)
        progress.totalUnitCount = Int64(max(1, stops.count))
        for stop in stops {
            if progress.isCancelled { throw CancellationError() }
            // Another process may have gone further meanwhile, which GRDB does not forgive.
            try migrator.migrate(database, upTo: furthest(of: stop, applied()))
            progress.setUserInfoObject(stop, forKey: .migrationName)
            progress.completedUnitCount += 1
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

    /// Returns the migrations to go to, one after the other.
    ///
    /// GRDB refuses to migrate up to a migration if a later one has run. Going up to the later one also runs those that
    /// are out of order, and forgets those that were merged.
    private func stops(after applied: Set<String>) -> [String] {
        let all = migrator.migrations
        let pending = covered.drop {
            all.lastIndex(where: applied.contains) ?? -1 >= all.firstIndex(of: $0) ?? 0
        }
        guard let last = all.last(where: applied.contains) else { return Array(pending) }
        let isBehind = all.prefix { $0 != last }.contains { !applied.contains($0) }
        return (isBehind || pending.isEmpty ? [last] : []) + pending
    }

    /// Returns a migration, or the last applied one if that is later.
    private func furthest(of identifier: String, _ applied: Set<String>) -> String {
        let later = migrator.migrations.drop { $0 != identifier }.last(where: applied.contains)
        return later ?? identifier
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
