import AppMigrations
import GRDB
import MigrationDiagnostics

// These methods read and decide. They write nothing.
extension SchemaMigrator {
    /// Plans a migration of a database that this migrator may migrate.
    ///
    /// On nearly every launch nothing is pending, and one statement is enough to find that out.
    ///
    /// - Throws: `MigrationError`, when this migrator must not migrate the database.
    func plan(for db: Database, upTo target: SchemaVersion?) throws -> SchemaPlan {
        let target = target.map(knownVersion)
        if options.editedMigrations == .allow, options.newerDatabases != .rollBack,
            let lowest = migrations.first, let applied = try Ledger.versions(db, beginningWith: lowest)
        {
            if isUpToDate(applied, target) { return SchemaPlan() }
            // A floor matters only where a known migration lies below what the database began with.
            if applied.first == lowest.version, Set(versions).isSuperset(of: applied) {
                return SchemaPlan(pending: pending(in: Ledger(versions: applied), upTo: target).pending)
            }
        }
        return try db.readSnapshot {
            let ledger = try ledger(of: db)
            try checkBaselineIsLowest(db, ledger)
            let isUndone = undoesNewer(in: ledger)
            return SchemaPlan(
                pending: pending(in: ledger, upTo: target).pending,
                writesLedger: try !ledger.unmarked.isEmpty
                    || options.newerDatabases == .rollBack && !correctedDownMigrations(db, ledger).isEmpty,
                isForNewDatabase: ledger.isNew, undo: isUndone ? ledger.newer.reversed() : [],
                newer: isUndone ? [] : ledger.newer.map(\.version))
        }
    }

    /// Returns true if a database has had the known migrations up to a version, without a gap, and no others.
    ///
    /// An empty ledger may have lost its versions, which takes a closer look.
    private func isUpToDate(_ applied: [SchemaVersion], _ target: SchemaVersion?) -> Bool {
        guard !applied.isEmpty, versions.starts(with: applied) else { return false }
        return applied.count == versions.count || versions[applied.count] > target ?? .max
    }

    /// Returns the pending migrations: known, above the floor, not applied yet, and at most the target.
    func pending(in ledger: Ledger, upTo target: SchemaVersion?) -> MigrationPlan<SchemaVersion> {
        let applied = Set(ledger.applied)
        return MigrationPlan(
            known: versions, by: \.self, floor: ledger.floor, isSettled: applied.contains, target: target)
    }

    /// Reads the ledger of a database that this migrator may migrate.
    ///
    /// For an adopted database, returns the ledger that the run will write. Uses several statements, which
    /// have to see one state of the database.
    ///
    /// - Throws: `MigrationError`, when this migrator must not migrate the database.
    func ledger(of db: Database) throws -> Ledger {
        var ledger = try Ledger(db)
        let baseline = try baseline(for: ledger, db)
        ledger.newer = try newer(db, ledger, baseline)
        try checkIsOurs(ledger, baseline)
        try checkNewer(in: ledger)
        if options.editedMigrations == .refuse { try checkIsUnedited(db, ledger) }
        guard !ledger.exists, try Ledger.hasOtherTables(db) else { return ledger }
        guard let version = try adopting?.version(db, self) else {
            throw MigrationError(
                .undecided,
                "The database has tables, but there is no `schema_migrations` table"
                    + (adopting == nil ? "" : ", and `adopting` finds no version"),
                remedy: """
                    Pass the migrator an `adopting:` that returns the version of the tables, such as \
                    `SchemaAdoption { db in … }`. Nothing was changed.
                    """)
        }
        if let baseline = try self.baseline(), !versions.contains(version),
            baseline.versions.contains(version)
        {
            throw tooOld("at version \(version)", baseline)
        }
        if let latest = versions.last, version > latest {
            throw MigrationError.newer("`adopting` says \(version); the latest migration is \(latest)")
        }
        try check(version)
        return ledger.adopting(versions.filter { $0 <= version })
    }

    private func checkIsOurs(_ ledger: Ledger, _ baseline: Baseline?) throws {
        if beganAboveAll(ledger) { return }
        let replaced = baseline?.versions ?? []
        if !ledger.applied.isEmpty, ledger.applied.isDisjoint(with: replaced.union(versions)) {
            let count = ledger.applied.count
            let isNewer = liesAboveAll(ledger) && ledger.newer.contains(where: \.wasRun)
            throw MigrationError(
                isNewer ? .newerThanThisProcess : .differentSchema,
                """
                The database has had \(count == 1 ? "1 migration, which is not" : "\(count) migrations, none of which is") known \
                to this migrator
                """,
                remedy: """
                    \(isNewer ? "If a newer version of the app has migrated the database, update the app. If not, one" : "One") \
                    database has one set of migrations: join the folders in one SchemaMigrator. Nothing was changed.
                    """
            ).about(.unknownMigrations)
        }
        if let baseline, let lacking = allLacking(ledger, baseline).first {
            throw tooOld("without migration \(lacking)", baseline)
        }
    }

    private func checkIsUnedited(_ db: Database, _ ledger: Ledger) throws {
        let history = try AppliedMigration.fetchAll(db, in: ledger)
        guard let version = try edited(in: history).first, let migration = migration(version: version) else {
            return
        }
        throw MigrationError(
            .differentSchema, at: .file(migration.title),
            "was edited after it had been applied to this database",
            remedy: "Undo the edit and write a new migration, or accept it with `app-migrations accept`.")
    }

    /// Throws an error if no known migration has the version.
    package func check(_ version: SchemaVersion) throws {
        if versions.contains(knownVersion(for: version)) { return }
        throw MigrationError(
            .misuse, "No migration has version \(version)",
            remedy: migrations.last.map { "The latest is \($0.version)." } ?? "There are none.")
    }
}
