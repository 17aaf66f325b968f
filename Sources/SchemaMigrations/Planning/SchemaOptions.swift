public import AppMigrations
public import Foundation

/// Options of a ``SchemaMigrator``.
///
/// Most apps leave every option at its default.
///
/// ```swift
/// var options = SchemaOptions(commits: .allOrNothing)
/// options.backupFolder = folder.appendingPathComponent("Backups")
/// let schema = try SchemaMigrator(directory: folder, options: options)
/// ```
public struct SchemaOptions: Sendable {
    /// The grouping of migrations into commits.
    public var commits: Commits

    /// The rule for a database that has had unknown migrations: those of a newer version of the app, or of another
    /// branch.
    ///
    /// By default, migrating it is an error, unless every unknown migration is compatible. See <doc:OlderBuilds>.
    public var newerDatabases: NewerDatabaseRule

    /// The rule for edited files: those that were changed after they were applied.
    ///
    /// By default, edits are allowed. `.refuse` makes migrating an error until the edit is undone, or accepted with
    /// `app-migrations accept`, and makes the migrator read every file at every launch.
    public var editedMigrations: Policy

    /// The rule for a schema that is not the one that the migrations make: something else has changed it, or a
    /// migration was edited after it was applied.
    ///
    /// By default, nil, the migrator compares nothing. `.refuse` throws `differentSchema`, and
    /// `.allow` adds the difference to ``SchemaReport/warnings``, which the `schemaSteps` of a manager's report have, too.
    ///
    /// The migrator compares after it has applied migrations, and before it adopts a database. It reruns the applied
    /// migrations on an empty database in memory, so other launches take no longer. The migrations that it has applied
    /// stay. If `.refuse` rejects an adoption, the database stays as it is, without a ledger, at every launch.
    public var differentSchemas: Policy?

    /// The folder of backups, which the migrator makes before it changes a database; nil, the default, for none.
    ///
    /// It copies the database whenever a migration is pending and the database is not empty, while no other connection
    /// writes. The copy's name is that of the database, a hash of its path, and the date. `SchemaMigrator.restore(_:to:)` restores it:
    /// import `DatabaseFiles`.
    ///
    /// The migrator creates the folder. Choose one that the system does not clear.
    public var backupFolder: URL?

    /// The number of backups to keep of each database, at least 1; the migrator removes older ones.
    ///
    /// Those that were made while the database was at another path stay.
    public var keptBackups: Int

    /// The version of the app, which the ledger records beside each migration that it applies.
    public var appVersion: AppVersion?

    /// The longest time that a migration waits while another connection writes, in this process or another
    /// one.
    ///
    /// The default is ten seconds.
    public var busyTimeout: Duration

    /// False for a database that a tool has made for itself: nobody observes it.
    package var notifiesObservers = true

    /// Creates options.
    ///
    /// - Parameters:
    ///   - commits: the grouping of migrations into commits.
    ///   - newerDatabases: the rule for a database that has had unknown migrations.
    ///   - editedMigrations: the rule for edited files.
    ///   - differentSchemas: the rule for a schema that no migration explains; nil compares nothing.
    ///   - backupFolder: the folder for copies made before migrating; nil makes none.
    ///   - keptBackups: the number of copies to keep.
    ///   - appVersion: the app version that the ledger notes.
    ///   - busyTimeout: how long to wait for other connections.
    public init(
        commits: Commits = .grouped(), newerDatabases: NewerDatabaseRule = .refuse,
        editedMigrations: Policy = .allow, differentSchemas: Policy? = nil,
        backupFolder: URL? = nil, keptBackups: Int = 2, appVersion: AppVersion? = nil,
        busyTimeout: Duration = .seconds(10)
    ) {
        self.commits = commits
        self.newerDatabases = newerDatabases
        self.editedMigrations = editedMigrations
        self.differentSchemas = differentSchemas
        self.backupFolder = backupFolder
        self.keptBackups = keptBackups
        self.appVersion = appVersion
        self.busyTimeout = busyTimeout
    }

    /// A grouping of migrations into commits.
    ///
    /// Each migration is atomic in any case, together with its row in the ledger.
    public enum Commits: Sendable, Equatable {
        /// Many migrations share a commit, so that a hundred small files cost one sync.
        ///
        /// A migration in Swift commits alone: it may read and delete files, which no rollback brings back.
        ///
        /// Committed migrations stay when a later one fails, when the run is cancelled, and when the process
        /// dies. The migrator commits a group when everything is done, or when the group has run for this
        /// long.
        case grouped(after: Duration = .milliseconds(250))

        /// All migrations share one commit: when one fails, none stays.
        ///
        /// The snapshot of a new database commits before them, and stays.
        ///
        /// Requires that all of them use the same foreign key mode, and that every file runs in a
        /// transaction. Migrations in Swift share the commit too, so they must leave files alone: what they delete is
        /// gone when a later migration fails.
        case allOrNothing
    }

    /// The rule for a database that has had unknown migrations.
    ///
    /// A migration is unknown if it was applied, and this migrator does not have it. Migrations below the lowest known one
    /// do not count: their files were removed.
    public enum NewerDatabaseRule: Sendable {
        /// Migrating is an error, unless every unknown migration is compatible: it says that apps that do not know it can
        /// use the database after it. Then the migrator applies what is pending, and reports the unknown ones as
        /// ``SchemaReport/newer``.
        case refuse

        /// The migrator undoes the unknown migrations, newest first, by the down migrations that the ledger keeps: all of
        /// them in one transaction, or none. Rows that only the newer schema can hold are lost.
        ///
        /// For your own devices. If one of them has no down migration there, if two need different modes of foreign keys, or if
        /// the database began with them, this is the same as `refuse`.
        case rollBack

        /// The migrator applies what is pending, whatever the unknown migrations have changed.
        case allow
    }

    /// A choice between an error and going on, for a situation that may be intended.
    public enum Policy: Sendable {
        /// The migration goes on.
        case allow
        /// Migrating is an error.
        case refuse
    }
}
