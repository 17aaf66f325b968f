public import Foundation

/// How a ``SchemaMigrator`` goes about its work.
public struct SchemaOptions: Sendable {
    /// When migrations are committed.
    public var commits: Commits

    /// What becomes of a database that is at a version above every known one.
    public var newerDatabase: NewerDatabaseRule

    /// What becomes of a file that was edited after it had been applied.
    public var editedMigrations: EditedMigrationRule

    /// Whether the database is copied before it is changed; by default it is not.
    public var backup: Backup?

    /// The version of the app, to be noted beside each migration that it applies.
    public var appVersion: String?

    /// How long a migration waits for another connection that is writing, in this process or in another one.
    ///
    /// Ten seconds by default.
    public var busyTimeout: Duration

    /// Creates options; what is left out has its default.
    public init(
        commits: Commits = .grouped(), newerDatabase: NewerDatabaseRule = .refuse,
        editedMigrations: EditedMigrationRule = .report, backup: Backup? = nil, appVersion: String? = nil,
        busyTimeout: Duration = .seconds(10)
    ) {
        self.commits = commits
        self.newerDatabase = newerDatabase
        self.editedMigrations = editedMigrations
        self.backup = backup
        self.appVersion = appVersion
        self.busyTimeout = busyTimeout
    }

    /// When migrations are committed; each is atomic in any case, together with its row in the ledger.
    public enum Commits: Sendable, Hashable {
        /// Many at once, so that a hundred small files cost one sync; what was committed stays when a later
        /// migration fails, when the run is cancelled, and when the process dies.
        ///
        /// A group is committed when all is done, or when it has run for this long.
        case grouped(after: Duration = .milliseconds(250))

        /// All at once: when one fails, none stays.
        ///
        /// Only where the treatment of foreign keys is the same for all, and every file runs in a transaction.
        case allOrNothing
    }

    /// What becomes of a database that is at a version above every known one.
    public enum NewerDatabaseRule: Sendable {
        /// It belongs to a newer version of the app: migrating it is an error. The default.
        case refuse
        /// What is pending is applied all the same.
        case allow
    }

    /// What becomes of a file that was edited after it had been applied.
    public enum EditedMigrationRule: Sendable {
        /// ``SchemaStatus/edited`` tells it. The default.
        case report
        /// Migrating is an error, until ``SchemaMigrator/acceptEdits(_:of:)`` is called. Reads every file at
        /// every launch.
        case refuse
    }

    /// A copy of the database, made before it is changed.
    public struct Backup: Sendable {
        let folder: URL
        let keep: Int

        /// Copies the database into a folder whenever something is pending and it holds anything.
        ///
        /// The copy is made by SQLite, while nobody else writes, and is named after the database and the date.
        /// ``SchemaMigrator/restore(_:to:)`` brings it back.
        ///
        /// - Parameters:
        ///   - folder: made when it is missing. Not one that the system may clear.
        ///   - keep: how many copies of this database are kept, at least 1; older ones are removed.
        public static func beforeMigrating(to folder: URL, keep: Int = 2) -> Backup {
            Backup(folder: folder, keep: max(1, keep))
        }
    }
}

/// What a call of `SchemaMigrator.migrate(_:upTo:progress:)` did.
public struct SchemaReport: Sendable, Hashable {
    /// The versions that were applied, in order.
    public internal(set) var applied: [SchemaVersion] = []

    /// What was found to be wrong with the database from before, and locks nobody out: a sentence each.
    ///
    /// There are rows that refer to rows that do not exist, and views and triggers that do not compile.
    public internal(set) var warnings: [String] = []

    /// The copy that was made before the database was changed.
    public internal(set) var backup: URL?
}
