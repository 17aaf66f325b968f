public import GRDB

// Changing the ledger by hand.
extension SchemaMigrator {
    /// Makes the table `schema_migrations`, without running or marking anything.
    ///
    /// - Throws: ``SchemaMigrationError``.
    public func createMigrationsTable(_ database: any DatabaseWriter) throws {
        try changingLedger(database) { db in try Ledger.create(db) }
    }

    /// Marks every known migration up to a version as applied, without running any.
    ///
    /// For a database whose tables are known to be there; ``init(directory:snapshot:options:adopting:)`` does it
    /// at launch, by its `adopting`.
    ///
    /// - Throws: ``SchemaMigrationError``, also when no migration has the version.
    public func markApplied(_ database: any DatabaseWriter, upTo version: SchemaVersion) throws {
        try check(version)
        try changingLedger(database) { db in
            try Ledger.create(db)
            let applied = try Ledger(db).applied
            for migration in migrations
            where migration.version <= version && !applied.contains(migration.version) {
                try Ledger.insert(
                    .init(version: migration.version, name: migration.name, origin: .marked), db)
            }
        }
    }

    /// Takes files that were edited after they had been applied as they are now, without running them.
    ///
    /// - Throws: ``SchemaMigrationError``, also when no migration has one of the versions.
    public func acceptEdits(_ database: any DatabaseWriter, of versions: [SchemaVersion]) throws {
        try versions.forEach(check)
        try changingLedger(database) { db in
            for version in versions {
                guard let source = migration(version: version) as? any SQLSource else { continue }
                try Ledger.setChecksum(try source.script().checksum, of: version, db)
            }
        }
    }

    private func changingLedger(_ database: any DatabaseWriter, _ change: (Database) throws -> Void) throws {
        try writing(database) { db in
            try ConnectionSettings(db).whileMigrating { try db.writing { try change(db) } }
        }
    }
}
