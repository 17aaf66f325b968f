/// A database's schema, compared with the known migrations.
public struct SchemaStatus: Sendable, Hashable {
    /// Whether the database has a `schema_migrations` table.
    public let hasMigrationsTable: Bool

    /// The lowest version that the database has had; nil when it has had none.
    public let originVersion: SchemaVersion?

    /// The highest version that the database has had; nil when it has had none.
    public let currentVersion: SchemaVersion?

    /// The versions that the database has had, ascending.
    public let appliedVersions: [SchemaVersion]

    /// The versions that a migration to the latest would apply, ascending.
    public let pendingVersions: [SchemaVersion]

    /// The known versions that are left out because the database began above them, ascending.
    public let belowFloor: [SchemaVersion]

    /// The versions whose files were edited after they had been applied, ascending.
    ///
    /// White space, comments and line ends do not count.
    public let edited: [SchemaVersion]

    /// The versions that the database has had and that no known migration has, ascending.
    public let unknown: [SchemaVersion]

    /// The latest known version.
    public let latestVersion: SchemaVersion?

    /// What is known of each migration that the database has had, ascending.
    package let history: [AppliedMigration]

    /// Whether something is pending.
    public var needsMigration: Bool { !pendingVersions.isEmpty }

    /// Whether a newer version of the app has migrated the database.
    public var isNewer: Bool {
        guard let currentVersion, let latestVersion else { return false }
        return currentVersion > latestVersion
    }
}
