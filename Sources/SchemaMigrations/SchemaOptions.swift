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

    /// What to do about a database newer than every known migration, which a newer version of the app
    /// migrated.
    ///
    /// By default, migrating it is an error. `.allow` applies the pending migrations anyway.
    public var newerDatabases: Policy

    /// What to do about edited files: those that were changed after they were applied.
    ///
    /// By default, edits are allowed, and ``SchemaStatus/editedVersions`` lists such files. `.refuse` makes migrating
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

    /// The comparison of the schema with the one that the migrations make.
    ///
    /// By default, there is none.
    public var verify: Verification

    /// The free space that the disk must have before a migration begins.
    ///
    /// By default, it is not checked.
    public var space: Space

    /// Creates options.
    public init(
        commits: Commits = .grouped(), newerDatabases: Policy = .refuse, editedMigrations: Policy = .allow,
        backup: Backup? = nil, appVersion: AppVersion? = nil, busyTimeout: Duration = .seconds(10),
        verify: Verification = .never, space: Space = .unchecked
    ) {
        self.commits = commits
        self.newerDatabases = newerDatabases
        self.editedMigrations = editedMigrations
        self.backup = backup
        self.appVersion = appVersion
        self.busyTimeout = busyTimeout
        self.verify = verify
        self.space = space
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

    /// A comparison of a database's schema with the one that its migrations make.
    ///
    /// It finds tables that something else has changed, and migrations that were edited after they were applied.
    public enum Verification: Sendable {
        /// Compares nothing.
        case never

        /// Throws ``SchemaMigrationError/Code/differentSchema`` if the schemas differ, after a migration, and before a
        /// database is adopted.
        ///
        /// The migrator reruns the applied migrations on an empty database in memory. It does so only when it has applied or
        /// adopted one, so that other launches take no longer.
        ///
        /// The migrations that were applied stay. A database whose tables are not those of the adopted version is left
        /// as it is, without a ledger, at every launch.
        case afterMigrating

        /// Compares at the same times, and adds a difference to ``SchemaReport/warnings``, which a manager reports as an
        /// event.
        case warnAfterMigrating
    }

    /// The free space that a disk must have before a migration begins.
    ///
    /// With too little, migrating throws ``SchemaMigrationError/Code/diskFull`` and changes nothing. SQLite rolls back a
    /// migration that fills the disk, too, but only after it has used up the space that other apps need.
    public enum Space: Sendable {
        /// Checks nothing.
        case unchecked

        /// Requires a multiple of the database's size.
        ///
        /// A migration that rebuilds every table writes each page twice: into the new table, and into the journal or the
        /// write-ahead log. So the default is twice the size, as for `VACUUM` (<https://sqlite.org/lang_vacuum.html>).
        case require(times: Double = 2)

        /// Requires a number of bytes, such as a rehearsal has measured.
        case requireBytes(Int64)
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
        ///   - folder: created when it is missing. Choose one that the system does not clear. Databases of the same
        ///     file name, as those of several accounts, need a folder each: copies are told apart by that name.
        ///   - keep: how many copies of this database are kept, at least 1; older ones are removed.
        public static func beforeMigrating(to folder: URL, keep: Int = 2) -> Backup {
            Backup(folder: folder, keep: max(1, keep))
        }
    }
}
