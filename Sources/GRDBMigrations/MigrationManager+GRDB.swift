public import AppMigrations
public import Foundation
public import GRDB
public import SchemaMigrations

extension MigrationManager {
    /// Registers a schema step by GRDB's own `DatabaseMigrator`, so that an app keeps its existing migrations.
    ///
    /// - Parameters:
    ///   - version: the app version; at most one schema step for each database and version. Leave it out for one that always migrates
    ///     to the latest: it comes before all steps of the database, and messages call it "schema step".
    ///   - migrator: the database's one migrator. One with `eraseDatabaseOnSchemaChange` is a mistake in the registration, because it
    ///     would erase the manager's record.
    ///   - target: the identifier of the last migration to apply; nil for the latest.
    ///   - newerDatabases: what to do if the database has had migrations that the migrator does not have. By default, it is
    ///     an error. `.rollBack` is a mistake in the registration, because GRDB's migrator cannot undo. Migrations that were
    ///     applied before one that the migrator has do not count: they were left out since.
    ///   - compatible: the identifiers of migrations that builds without them can live with, such as one that adds a column which
    ///     may be NULL. The database remembers them, and an older build goes on that finds no others. It applies its own that the
    ///     database has not had; so name none that merges others, which it would apply again.
    ///   - removed: the identifiers of migrations that shipped, and that the migrator no longer has. One that others of its
    ///     release followed needs no name, unless you also register a migration before one that has shipped.
    ///   - deferred: the versions of deferred steps to run to their end before the schema step.
    ///   - backupFolder: the folder of backups, as `SchemaOptions.backupFolder` is for a `SchemaMigrator`: the schema step
    ///     copies the database there before it applies migrations; nil for none.
    ///   - keptBackups: the number of backups to keep of the database, at least 1.
    ///   - database: the database.
    ///   - fileID: the file that registers it, for messages.
    ///   - line: the line in that file.
    public func whenMigratingToVersion(
        _ version: AppVersion? = nil, migrate migrator: DatabaseMigrator, upTo target: String? = nil,
        newerDatabases: SchemaOptions.NewerDatabaseRule = .refuse, compatible: Set<String> = [],
        ignoring removed: Set<String> = [],
        finishing deferred: [AppVersion] = [],
        backupFolder: URL? = nil, keptBackups: Int = 2,
        in database: any DatabaseWriter,
        fileID: StaticString = #fileID,
        line: UInt = #line
    ) {
        register(
            GRDBSchemaStep(
                migrator: migrator, target: target, newerDatabases: newerDatabases, app: currentVersion,
                line: options.line, removed: removed, compatible: compatible,
                backups: backupFolder.map { BackupMaker(folder: $0, keep: keptBackups) }, database: database),
            for: version, in: database, finishing: deferred,
            source: SourceLocation(fileID: fileID, line: line))
    }
}
