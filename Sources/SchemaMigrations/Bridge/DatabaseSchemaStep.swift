import AppMigrations
import Foundation
import GRDB

/// A schema step that a database place can plan and check.
protocol DatabaseSchemaStep: SchemaStepWork {
    /// The longest time that the schema step waits for another connection.
    var busyTimeout: Duration { get }

    /// Returns what the schema step would do to the database, and the unknown migrations that it would leave there.
    func look(_ db: Database) throws -> (pending: PendingSchema, newer: [String])

    /// Returns the mistakes in the registration of one database's schema steps, of which this schema step is the first.
    func mistakes(in schemaSteps: [any SchemaStepWork]) -> [SchemaStepMistake]
}

/// Brings a database to a schema version, run by a ``SchemaMigrator``.
struct SQLSchemaStep: DatabaseSchemaStep {
    let migrator: SchemaMigrator
    /// The schema version to go to; nil for the latest.
    let target: SchemaVersion?
    let database: any DatabaseWriter

    var goesToLatest: Bool { target == nil }

    var busyTimeout: Duration { migrator.options.busyTimeout }

    func look(_ db: Database) throws -> (pending: PendingSchema, newer: [String]) {
        let plan = try migrator.plan(for: db, upTo: target)
        // A schema step without pending migrations does not run, so nothing else would notice a wrong adoption.
        if plan.isAdoption, plan.pending.isEmpty {
            _ = try migrator.verifyAdoption(db, migrator.ledger(of: db))
        }
        return (
            PendingSchema(
                undo: plan.undo.map { "\($0.version)" }, apply: plan.pending.map { "\($0)" },
                correctsLedger: plan.correctsDownMigrations),
            plan.newer.map { "\($0)" }
        )
    }

    func perform(_ context: MigrationContext) throws -> SchemaStepOutcome {
        var migrator = migrator
        migrator.options.appVersion = migrator.options.appVersion ?? context.to
        // A downgraded app runs nothing of its own; it only undoes what it does not know.
        let isDowngrade = if case .downgrade = context.launch { true } else { false }
        // When the run is interrupted, the step's progress is cancelled, and that stops the statement.
        let report = try migrator.migrate(
            database, upTo: target, undoingOnly: isDowngrade,
            restarting: RestartedSteps(database: database, above: context.to),
            progress: context.progress,
            interrupter: Interrupter(observing: context.progress))
        return SchemaStepOutcome(
            applied: report.applied.map { "\($0)" }, undone: report.undone.map { "\($0)" },
            warnings: report.warnings, databaseSize: database.fileSize)
    }

    func mistakes(in schemaSteps: [any SchemaStepWork]) -> [SchemaStepMistake] {
        SchemaStepReview(
            set: migrator.versions, database: { database.displayName },
            title: { migrator.migration(version: $0)?.title ?? "\($0)" }
        ).mistakes(
            in: schemaSteps.map { schemaStep in
                (schemaStep as? SQLSchemaStep).map { (set: $0.migrator.versions, target: $0.target) }
            })
    }
}

/// Finds mistakes in the registration of one database's schema steps.
struct SchemaStepReview<Key: Hashable> {
    /// The migrations of the first schema step, in order.
    let set: [Key]
    /// Returns the database's name in messages.
    let database: () -> String
    /// Returns the name of a migration in messages.
    let title: (Key) -> String

    /// Returns the mistakes.
    ///
    /// - Parameter schemaSteps: each schema step's migrations and target; nil for a schema step of another kind.
    func mistakes(in schemaSteps: [(set: [Key], target: Key?)?]) -> [SchemaStepMistake] {
        var mistakes: [SchemaStepMistake] = []
        func note(_ index: Int, _ problem: String, remedy: String) {
            mistakes.append(SchemaStepMistake(index: index, problem: problem, remedy: remedy))
        }
        var reached = -1
        for (index, schemaStep) in schemaSteps.enumerated() {
            guard let schemaStep, schemaStep.set == set else {
                note(
                    index, "brings \(database()) forward by another set of migrations",
                    remedy: "One database has one set: join the folders in one SchemaMigrator.")
                continue
            }
            guard let last = set.indices.last else { continue }
            guard let position = schemaStep.target.map({ set.firstIndex(of: $0) }) ?? last else {
                note(
                    index, "goes up to \(schemaStep.target.map { "\($0)" } ?? ""), which no migration has",
                    remedy: "The latest is \(set[last]).")
                continue
            }
            if position < reached {
                note(
                    index, "goes up to \(set[position]), below an earlier schema step's \(set[reached])",
                    remedy:
                        "A schema step never goes down: name the version of the schema step before it, or a later one."
                )
            }
            reached = max(reached, position)
        }
        let forgotten = set.dropFirst(reached + 1)
        if mistakes.isEmpty, !forgotten.isEmpty {
            note(
                schemaSteps.count - 1,
                "is the last one for \(database()), and does not reach "
                    + forgotten.map(title).joined(separator: ", "),
                remedy: "Raise its upTo:, or register a schema step for the version that brings it.")
        }
        return mistakes
    }
}

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
            guard try db.hasTable(Ledger.tableOfGRDB) else { return [] }
            return try String.fetchSet(db, sql: "SELECT identifier FROM \(Ledger.tableOfGRDB.inMain)")
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
            try db.execute(sql: "CREATE TABLE \(Ledger.tableOfGRDB)(identifier TEXT NOT NULL PRIMARY KEY)")
            for identifier in unknown.union(migrator.migrations) {
                try db.execute(
                    sql: "INSERT INTO \(Ledger.tableOfGRDB) VALUES (?)", arguments: [identifier])
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
