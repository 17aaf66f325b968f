import AppMigrations
public import GRDB

extension SchemaMigrator {
    /// Returns the applied, pending and edited migrations of a database.
    ///
    /// Reads the database and the files of its applied migrations, and changes nothing.
    ///
    /// ```swift
    /// let status = try dbQueue.read(schema.status)
    /// ```
    ///
    /// - Parameter db: the database.
    /// - Throws: ``SchemaMigrationError``, when the ledger is malformed or a file cannot be read.
    public func status(_ db: Database) throws -> SchemaStatus {
        let ledger = try Ledger(db)
        let history = try AppliedMigration.fetchAll(db, in: ledger)
        let baseline = try baseline(for: ledger, db)
        let plan = pending(in: ledger, upTo: nil)
        let known = Set(versions).union(baseline?.versions ?? [])
        let squashed = baseline.map { allLacking(ledger, $0) } ?? []
        return SchemaStatus(
            hasMigrationsTable: ledger.exists, originVersion: ledger.originVersion,
            currentVersion: ledger.currentVersion, appliedVersions: history.map(\.version),
            pendingVersions: squashed.isEmpty ? plan.pending : [], squashedVersions: squashed,
            tooOld: baseline.flatMap { baseline in
                squashed.first.map { tooOld("without migration \($0)", baseline).description }
            }, skippedVersions: plan.belowFloor,
            editedVersions: try edited(in: history),
            unknownMigrations: history.filter { !known.contains($0.version) },
            history: history)
    }

    /// Returns the versions that `migrate(_:upTo:progress:)` would apply, in order.
    ///
    /// Reads the database, and changes nothing.
    ///
    /// - Parameters:
    ///   - db: the database.
    ///   - version: the version of the last migration to include; nil for the latest.
    /// - Throws: ``SchemaMigrationError``, when migrating would be refused.
    package func pending(_ db: Database, upTo version: SchemaVersion? = nil) throws -> [SchemaVersion] {
        if let version { try check(version) }
        return try plan(for: db, upTo: version).pending
    }

    /// Returns the migrations in a database's ledger, ascending, with their dates, durations and app
    /// versions.
    ///
    /// ```swift
    /// let history = try dbQueue.read(schema.history)
    /// ```
    ///
    /// - Parameter db: the database.
    /// - Throws: ``SchemaMigrationError``, when the ledger is malformed.
    public func history(_ db: Database) throws -> [AppliedMigration] {
        try AppliedMigration.fetchAll(db)
    }

    /// Returns the known migration with a version, or nil if there is none.
    ///
    /// - Parameter version: the version of a migration.
    public func migration(version: SchemaVersion) -> (any SchemaMigration)? {
        migrations.first { $0.version == version }
    }

    /// Returns the versions of the migrations whose text was edited after they were applied.
    func edited(in history: [AppliedMigration]) throws -> [SchemaVersion] {
        try history.filter { applied in
            guard let checksum = applied.checksum,
                let source = migration(version: applied.version) as? any SQLSource
            else { return false }
            let script = try source.script()
            // The migration that a baseline has the version of had another text.
            if script.baseline != nil, applied.origin != .snapshot { return false }
            return script.checksum != checksum
        }.map(\.version)
    }
}

/// A database's schema, compared with the known migrations.
///
/// ```swift
/// let status = try dbQueue.read(schema.status)
/// if status.needsMigration { print("pending:", status.pendingVersions) }
/// ```
public struct SchemaStatus: Sendable, Equatable {
    /// A Boolean value that indicates whether the database has a `schema_migrations` table.
    public let hasMigrationsTable: Bool

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
    /// If there are any, the database is too old: migrating throws ``SchemaMigrationError/Code/tooOld``, and only an earlier
    /// release of the app can migrate it.
    public let squashedVersions: [SchemaVersion]

    /// The error with which migrating the database is refused as too old; nil if it is not.
    package let tooOld: String?

    /// The known versions that are never applied because the database began above them, ascending.
    public let skippedVersions: [SchemaVersion]

    /// The versions whose files were edited after they were applied, ascending.
    ///
    /// White space, comments and line ends do not count.
    public let editedVersions: [SchemaVersion]

    /// The applied migrations that are not known, ascending, with what the ledger says about each.
    ///
    /// Migrations that were squashed into a baseline are known.
    ///
    /// ```swift
    /// for migration in try dbQueue.read(schema.status).unknownMigrations {
    ///     print(migration.version, migration.isCompatible, migration.canBeUndone)
    /// }
    /// ```
    public let unknownMigrations: [AppliedMigration]

    /// The versions of the applied migrations that are not known, ascending.
    public var unknownVersions: [SchemaVersion] { unknownMigrations.map(\.version) }

    /// The applied migrations, with what the ledger knows about them, ascending.
    package let history: [AppliedMigration]

    /// A Boolean value that indicates whether a migration is pending.
    public var needsMigration: Bool { !pendingVersions.isEmpty }
}
