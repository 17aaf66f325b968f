/// A database's schema, compared with the known migrations.
///
/// ```swift
/// let status = try dbQueue.read(schema.status)
/// if !status.pendingVersions.isEmpty { print("pending:", status.pendingVersions) }
/// ```
public struct SchemaStatus: Sendable, Equatable {
    /// A Boolean value that indicates whether the database has a `schema_migrations` table.
    package let hasMigrationsTable: Bool

    /// The lowest applied version; nil if there is none.
    public let originVersion: SchemaVersion?

    /// The highest applied version; nil if there is none.
    public let currentVersion: SchemaVersion?

    /// The applied versions, ascending.
    public let appliedVersions: [SchemaVersion]

    /// The versions that a migration to the latest would apply, ascending; none if the database is too old for that.
    public let pendingVersions: [SchemaVersion]

    /// The versions that the database lacks, and that were squashed into a baseline, ascending.
    ///
    /// If there are any, the database is too old: migrating throws `tooOld`, and only an earlier
    /// release of the app can migrate it.
    package let squashedVersions: [SchemaVersion]

    /// The error with which migrating the database is refused as too old; nil if it is not.
    package let tooOld: String?

    /// The known versions that are never applied because the database began above them, ascending.
    package let skippedVersions: [SchemaVersion]

    /// The versions whose files were edited after they were applied, ascending.
    ///
    /// White space, comments and line ends do not count.
    package let editedVersions: [SchemaVersion]

    /// The applied migrations that are not known, ascending, with what the ledger says about each.
    ///
    /// Migrations that were squashed into a baseline are known.
    ///
    /// ```swift
    /// for migration in try dbQueue.read(schema.status).unknownMigrations {
    ///     print(migration.version, migration.name ?? "", migration.appVersion?.description ?? "")
    /// }
    /// ```
    public let unknownMigrations: [AppliedMigration]

    /// The versions of the applied migrations that are not known, ascending.
    package var unknownVersions: [SchemaVersion] { unknownMigrations.map(\.version) }

    /// The applied migrations, with what the ledger knows about them, ascending.
    package let history: [AppliedMigration]
}
