package import AppMigrations
import Foundation
package import GRDB

/// A schema step that a database place can plan and check.
package protocol DatabaseSchemaStep: SchemaStepWork {
    /// The longest time that the schema step waits for another connection.
    var busyTimeout: Duration { get }

    /// Returns what the schema step would do to the database, and the unknown migrations that it would leave there.
    func readPending(_ db: Database) throws -> (pending: PendingSchema, newer: [String])

    /// Returns the latest version of the app that has applied migrations of the schema step, without the first ones; zero if none
    /// has, and nil if it is unknown.
    func latestApp(applyingAfter count: Int, _ db: Database) throws -> AppVersion?
}

/// Brings a database to a schema version, run by a ``SchemaMigrator``.
final class SQLSchemaStep: DatabaseSchemaStep {
    let migrator: SchemaMigrator
    /// The schema version to go to; nil for the latest.
    let target: SchemaVersion?
    let database: any DatabaseWriter

    init(migrator: SchemaMigrator, target: SchemaVersion?, database: any DatabaseWriter) {
        self.migrator = migrator
        self.target = target
        self.database = database
    }

    var goesToLatest: Bool { target == nil }

    var busyTimeout: Duration { migrator.options.busyTimeout }

    func readPending(_ db: Database) throws -> (pending: PendingSchema, newer: [String]) {
        let plan = try migrator.plan(for: db, upTo: target)
        return (
            PendingSchema(
                undo: plan.undo.map { "\($0.version)" }, apply: plan.pending.map { "\($0)" },
                writesLedger: plan.writesLedger,
                covered: target.map { limit in migrator.versions.count { $0 <= limit } }
                    ?? migrator.versions.count),
            plan.newer.map { "\($0)" }
        )
    }

    func latestApp(applyingAfter count: Int, _ db: Database) throws -> AppVersion? {
        let own = migrator.versions.dropFirst(count).filter { version in target.map { version <= $0 } ?? true
        }
        var latest = AppVersion.zero
        for migration in try AppliedMigration.fetchAll(db)
        where migration.wasRun && own.contains(migration.version) {
            guard let app = migration.appVersion else { return nil }
            latest = max(latest, app)
        }
        return latest
    }

    func check(_ pending: PendingSchema) throws {
        let versions = Set(pending.apply)
        for migration in migrator.migrations where versions.contains("\(migration.version)") {
            _ = try MigrationJob(migration)
        }
    }

    func perform(
        _ context: MigrationContext, knowing isKnown: @escaping @Sendable (WorkID) -> Bool
    ) throws -> SchemaStep {
        var migrator = migrator
        migrator.options.appVersion = migrator.options.appVersion ?? context.to
        migrator.isPartOfLaunch = true
        // A downgraded app runs nothing of its own; it only undoes what it does not know.
        // When the run is interrupted, the step's progress is cancelled, and that stops the statement.
        let report = try migrator.migrate(
            database, upTo: target, undoingOnly: context.launch.isDowngrade,
            restarting: RestartedSteps(database: database) { step in
                // Another branch may have the same version, or one of the same release. What other managers know of it, this one
                // does not.
                step.version > context.to.ceiling
                    || step.version.release == context.to.release && step.manager == context.work.manager
                        && !isKnown(step.id)
            },
            progress: context.progress,
            interrupter: Interrupter(observing: context.progress))
        return SchemaStep(
            work: context.work, schemaVersions: report.applied.map { "\($0)" },
            undone: report.undone.map { "\($0)" }, warnings: report.warnings,
            databaseSize: database.fileSize)
    }

    func completeLaunch() {
        guard let folder = migrator.options.backupFolder else { return }
        BackupMaker(folder: folder, keep: migrator.options.keptBackups).finish(database)
    }

    func mistakes(in schemaSteps: [any SchemaStepWork]) -> [SchemaStepMistake] {
        SchemaStepMistake.all(
            in: schemaSteps.map { schemaStep in
                (schemaStep as? SQLSchemaStep).map { (set: $0.migrator.versions, target: $0.target) }
            }, set: migrator.versions, database: { database.displayName },
            title: { migrator.migration(version: $0)?.title ?? "\($0)" })
    }
}
