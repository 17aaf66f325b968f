public import AppMigrations
public import Foundation

/// Options of a ``SchemaMigrator``.
///
/// Most apps leave every option at its default.
///
/// ```swift
/// var options = SchemaOptions(commits: .allOrNothing)
/// options.backup = .beforeMigrating(to: folder.appendingPathComponent("Backups"))
/// let schema = try SchemaMigrator(directory: folder, options: options)
/// ```
public struct SchemaOptions: Sendable {
    /// The grouping of migrations into commits.
    public var commits: Commits

    /// The handling of a database newer than every known migration, which a newer version of the app
    /// migrated.
    ///
    /// By default, migrating it is an error. `.allow` applies the pending migrations all the same.
    public var newerDatabases: Policy

    /// The handling of a file that was edited after it was applied.
    ///
    /// By default, edits are allowed, and ``SchemaStatus/edited`` lists such files. `.refuse` makes migrating
    /// an error until you call ``SchemaMigrator/acceptEdits(_:of:)``, and makes the migrator read every file
    /// at every launch.
    public var editedMigrations: Policy

    /// The backup to make before the database is changed; nil, the default, for none.
    public var backup: Backup?

    /// The version of the app, which the ledger records beside each migration that it applies.
    public var appVersion: AppVersion?

    /// The longest time that a migration waits while another connection writes, in this process or another
    /// one.
    ///
    /// The default is ten seconds.
    public var busyTimeout: Duration

    /// Creates options.
    public init(
        commits: Commits = .grouped(), newerDatabases: Policy = .refuse, editedMigrations: Policy = .allow,
        backup: Backup? = nil, appVersion: AppVersion? = nil, busyTimeout: Duration = .seconds(10)
    ) {
        self.commits = commits
        self.newerDatabases = newerDatabases
        self.editedMigrations = editedMigrations
        self.backup = backup
        self.appVersion = appVersion
        self.busyTimeout = busyTimeout
    }

    /// A grouping of migrations into commits.
    ///
    /// Each migration is atomic in any case, together with its row in the ledger.
    public enum Commits: Sendable, Hashable {
        /// Many migrations share a commit, so that a hundred small files cost one sync.
        ///
        /// Committed migrations stay when a later one fails, when the run is cancelled, and when the process
        /// dies. The migrator commits a group when everything is done, or when the group has run for this
        /// long.
        case grouped(after: Duration = .milliseconds(250))

        /// All migrations share one commit: when one fails, none stays.
        ///
        /// Requires that all of them use the same foreign key mode, and that every file runs in a
        /// transaction.
        case allOrNothing
    }

    /// A choice between an error and going on, for a situation that may be intended.
    public enum Policy: Sendable {
        /// The migration goes on.
        case allow
        /// Migrating is an error.
        case refuse
    }

    /// A copy of the database, made before it is changed.
    public struct Backup: Sendable {
        let folder: URL
        let keep: Int

        /// Copies the database into a folder whenever a migration is pending and the database is not empty.
        ///
        /// SQLite makes the copy while no other connection writes. Its name is that of the database, and the
        /// date. ``SchemaMigrator/restore(_:to:)`` restores it.
        ///
        /// - Parameters:
        ///   - folder: created when it is missing. Choose one that the system does not clear.
        ///   - keep: how many copies of this database are kept, at least 1; older ones are removed.
        public static func beforeMigrating(to folder: URL, keep: Int = 2) -> Backup {
            Backup(folder: folder, keep: max(1, keep))
        }
    }
}
