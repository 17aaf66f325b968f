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
    /// - Throws: `MigrationError`, when the ledger is malformed or a file cannot be read; otherwise GRDB's error.
    public func status(_ db: Database) throws -> SchemaStatus {
        let ledger = try Ledger(db)
        let history = try AppliedMigration.fetchAll(db, in: ledger)
        let baseline = try baseline(for: ledger, db)
        // What is marked as applied when the database is adopted does not run.
        let adopted = ledger.exists || adopting == nil ? nil : try? self.ledger(of: db)
        let plan = pending(in: adopted ?? ledger, upTo: nil)
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
    /// - Throws: `MigrationError`, when migrating would be refused.
    package func pending(_ db: Database, upTo version: SchemaVersion? = nil) throws -> [SchemaVersion] {
        if let version { try check(version) }
        return try plan(for: db, upTo: version).pending
    }

    /// Returns the known migration with a version, or nil if there is none.
    ///
    /// - Parameter version: the version of a migration.
    package func migration(version: SchemaVersion) -> (any SchemaMigration)? {
        // They are in ascending order, and asked for one by one.
        var range = migrations.indices
        while let first = range.first, let last = range.last {
            let middle = (first + last) / 2
            if migrations[middle].version == version { return migrations[middle] }
            range = migrations[middle].version < version ? (middle + 1)..<range.upperBound : first..<middle
        }
        return nil
    }

    /// Returns the versions of the migrations whose text was edited after they were applied.
    func edited(in history: [AppliedMigration]) throws -> [SchemaVersion] {
        try history.filter { applied in
            guard let checksum = applied.checksum,
                let source = migration(version: applied.version) as? any SQLSource
            else { return false }
            let script = try source.script()
            // A baseline and the migration whose version it has are two texts.
            if (script.baseline != nil) != (applied.origin == .snapshot) { return false }
            return script.checksum != checksum
        }.map(\.version)
    }
}
