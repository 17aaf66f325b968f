import AppMigrations
public import GRDB

extension SchemaMigrator {
    /// Where a database stands.
    ///
    /// Reads the database, and the files that it has had. Changes nothing; call it as
    /// `try dbQueue.read(schema.status)`.
    ///
    /// - Throws: ``SchemaMigrationError``, when the ledger cannot be understood or a file cannot be read.
    public func status(_ db: Database) throws -> SchemaStatus {
        let ledger = try Ledger(db)
        let plan = plan(ledger, upTo: nil)
        return SchemaStatus(
            hasMigrationsTable: ledger.exists, originVersion: ledger.originVersion,
            currentVersion: ledger.currentVersion, appliedVersions: ledger.applied.sorted(),
            pendingVersions: plan.pending, belowFloor: plan.belowFloor, edited: try edited(db),
            unknown: ledger.applied.subtracting(versions).sorted(), latestVersion: migrations.last?.version)
    }

    /// What `migrate(_:upTo:progress:)` would apply, in order.
    ///
    /// Reads the database, and changes nothing; call it as `try dbQueue.read { db in try schema.pending(db) }`.
    ///
    /// - Parameters:
    ///   - db: the database.
    ///   - version: the version of a known migration, that included; nil for the latest.
    /// - Throws: ``SchemaMigrationError``, when migrating would be refused.
    public func pending(_ db: Database, upTo version: SchemaVersion? = nil) throws -> [SchemaVersion] {
        if let version { try check(version) }
        return try pending(in: db, upTo: version)
    }

    /// Every migration that a database has had, ascending, with when, for how long, and by which version of the
    /// app.
    ///
    /// Call it as `try dbQueue.read(schema.history)`.
    ///
    /// - Throws: ``SchemaMigrationError``, when the ledger cannot be understood.
    public func history(_ db: Database) throws -> [AppliedMigration] {
        try AppliedMigration.fetchAll(db)
    }

    /// The known migration of a version.
    public func migration(version: SchemaVersion) -> (any SchemaMigration)? {
        migrations.first { $0.version == version }
    }

    /// The known migration of a name; the oldest one, if there are several.
    public func migration(named name: String) -> (any SchemaMigration)? {
        migrations.first { $0.name == name }
    }

    /// The versions whose text is no longer what was applied.
    func edited(_ db: Database) throws -> [SchemaVersion] {
        try AppliedMigration.fetchAll(db).filter { applied in
            guard let checksum = applied.checksum,
                let source = migration(version: applied.version) as? any SQLSource
            else { return false }
            return try source.script().checksum != checksum
        }.map(\.version)
    }
}
