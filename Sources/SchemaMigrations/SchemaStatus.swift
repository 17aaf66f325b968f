/// A database's schema, compared with the known migrations.
///
/// ```swift
/// let status = try dbQueue.read(schema.status)
/// if status.needsMigration { print("pending:", status.pendingVersions) }
/// ```
public struct SchemaStatus: Sendable, Hashable {
    /// Whether the database has a `schema_migrations` table.
    public let hasMigrationsTable: Bool

    /// The lowest applied version; nil if there is none.
    public let originVersion: SchemaVersion?

    /// The highest applied version; nil if there is none.
    public let currentVersion: SchemaVersion?

    /// The applied versions, ascending.
    public let appliedVersions: [SchemaVersion]

    /// The versions that a migration to the latest would apply, ascending.
    public let pendingVersions: [SchemaVersion]

    /// The known versions that are never applied because the database began above them, ascending.
    public let belowFloor: [SchemaVersion]

    /// The versions whose files were edited after they were applied, ascending.
    ///
    /// White space, comments and line ends do not count.
    public let edited: [SchemaVersion]

    /// The applied versions that no known migration has, ascending.
    public let unknown: [SchemaVersion]

    /// The version of the latest known migration.
    public let latestVersion: SchemaVersion?

    /// The applied migrations, with what the ledger knows about them, ascending.
    package let history: [AppliedMigration]

    /// Whether a migration is pending.
    public var needsMigration: Bool { !pendingVersions.isEmpty }

    /// Whether a newer version of the app migrated the database.
    public var isNewer: Bool {
        guard let currentVersion, let latestVersion else { return false }
        return currentVersion > latestVersion
    }
}
