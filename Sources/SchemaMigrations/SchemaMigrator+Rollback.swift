public import GRDB

extension SchemaMigrator {
    /// Rolls back every migration above a version, newest first.
    ///
    /// For use during development: nothing else ever migrates down. Checks that every migration is reversible
    /// first; an empty `.down.sql` does not count.
    ///
    /// ```swift
    /// try schema.rollback(dbQueue, to: 20240110090000000)
    /// ```
    ///
    /// - Parameters:
    ///   - database: the database.
    ///   - version: the version to go back to, which stays; 0 to roll back everything.
    /// - Returns: the versions that were rolled back, newest first.
    /// - Throws: ``SchemaMigrationError``, for instance when one of the migrations is irreversible.
    @discardableResult
    public func rollback(_ database: any DatabaseWriter, to version: SchemaVersion) throws -> [SchemaVersion]
    {
        if version != 0 { try check(version) }
        let interrupter = Interrupter(observing: nil)
        return try interrupter.whileActive {
            try withWriter(database) { try rollback($0, to: version, interrupter) }
        }
    }

    private func rollback(
        _ db: Database, to version: SchemaVersion, _ interrupter: Interrupter
    ) throws -> [SchemaVersion] {
        let applied = try waitWhileBusy(upTo: options.busyTimeout) {
            try db.readSnapshot { try ledger(of: db).applied.filter { $0 > version }.sorted(by: >) }
        }
        let jobs = try downMigrations(of: applied)
        return try SchemaRun(migrator: self, db: db, interrupter: interrupter, progress: nil)
            .rollBack(jobs).applied
    }

    /// Returns the checked down migrations of versions, in the order given.
    private func downMigrations(of versions: [SchemaVersion]) throws -> [MigrationJob] {
        var jobs: [MigrationJob] = []
        var irreversible: [String] = []
        for version in versions {
            guard let migration = migration(version: version) else {
                irreversible.append("\(version) (unknown)")
                continue
            }
            let job = try MigrationJob(migration, .down)
            if job.hasBody { jobs.append(job) } else { irreversible.append(migration.title) }
        }
        guard irreversible.isEmpty else { throw SchemaMigrationError(irreversible: irreversible) }
        return jobs
    }
}

extension SchemaMigrationError {
    /// Creates an error for migrations that cannot be rolled back.
    init(irreversible titles: [String]) {
        self.init(
            .invalidRequest, "There is no down migration for \(titles.joined(separator: ", "))",
            remedy: """
                Give each a .down.sql file, a `down:` or `rollback:` argument, or a conformance to \
                ReversibleSchemaMigration. Nothing was changed.
                """)
    }
}
