import AppMigrations
package import GRDB
import MigrationDiagnostics

// Changing the ledger by hand.
extension SchemaMigrator {
    /// Marks every known migration up to a version as applied, without running any.
    ///
    /// Use it for a database that already has the tables of these migrations. To adopt databases at launch,
    /// pass `adopting` to ``init(directory:migrations:snapshot:options:adopting:)``.
    ///
    /// - Parameters:
    ///   - database: the database.
    ///   - version: the version of the last migration that the database has.
    /// - Throws: `MigrationError`, for instance when no migration has the version.
    package func markApplied(_ database: any DatabaseWriter, upTo version: SchemaVersion) throws {
        try check(version)
        try changeLedger(database) { db in
            try Ledger.create(db)
            let applied = try Ledger(db).applied
            for migration in migrations
            where migration.version <= version && !applied.contains(migration.version) {
                try Ledger.insert(.init(migration, markedAs: .marked), db)
            }
        }
    }

    /// Takes back an adoption, if nothing has been applied since.
    ///
    /// - Returns: the versions that were marked as applied.
    /// - Throws: `MigrationError`, if a migration was applied, or nothing was marked.
    package func undoAdoption(_ database: any DatabaseWriter) throws -> [SchemaVersion] {
        var versions: [SchemaVersion] = []
        try changeLedger(database) { db in
            let applied = try AppliedMigration.fetchAll(db)
            if let first = applied.first(where: { $0.origin != .marked }) {
                throw MigrationError(
                    .misuse, "Migration \(first.version) was applied, and builds on the baseline",
                    remedy: "Restore the database from a backup. Nothing was changed.")
            }
            guard !applied.isEmpty else {
                throw MigrationError(
                    .misuse, "The database was not adopted",
                    remedy: "Look at it with `app-migrations status`. Nothing was changed.")
            }
            versions = applied.map(\.version)
            try Ledger.drop(db)
        }
        return versions
    }

    /// Accepts edits to migrations that were already applied, without running anything.
    ///
    /// - Parameters:
    ///   - database: the database.
    ///   - versions: the versions of the migrations whose files were edited.
    /// - Throws: `MigrationError`, for instance when no migration has one of the versions.
    package func acceptEdits(_ database: any DatabaseWriter, of versions: [SchemaVersion]) throws {
        try versions.forEach(check)
        try changeLedger(database) { db in
            for version in versions {
                guard let source = migration(version: version) as? any SQLSource else { continue }
                try Ledger.setChecksum(try source.script().checksum, of: version, db)
            }
        }
    }

    /// Writes down migrations that were corrected after their migrations had been applied into the ledger, which older builds
    /// and other branches go by.
    ///
    /// - Returns: the versions of the migrations.
    package func correctDownMigrations(_ database: any DatabaseWriter) throws -> [SchemaVersion] {
        let corrected = try database.readSnapshot(waitingUpTo: options.busyTimeout) { db in
            try correctedDownMigrations(db, Ledger(db)).keys.inOrder()
        }
        if !corrected.isEmpty { try changeLedger(database) { try correctDownMigrations($0, Ledger($0)) } }
        return corrected
    }

    /// Writes corrected down migrations into the ledger, inside a transaction.
    func correctDownMigrations(_ db: Database, _ ledger: Ledger) throws {
        for (version, down) in try correctedDownMigrations(db, ledger) {
            try Ledger.setDown(down, of: version, db)
        }
    }

    /// Returns the down migrations that are not as the ledger keeps them; nil for one that is gone.
    ///
    /// What a file that was edited itself would undo is not what was applied.
    func correctedDownMigrations(_ db: Database, _ ledger: Ledger) throws -> [SchemaVersion: String?] {
        var corrected: [SchemaVersion: String?] = [:]
        guard ledger.exists, try hasDownMigrations(db) else { return [:] }
        for applied in try AppliedMigration.fetchAll(db, in: ledger) where applied.origin != .unknown {
            guard let source = migration(version: applied.version) as? any SQLSource,
                source.hasDown || applied.canBeUndone
            else { continue }
            let down = source.downForLedger
            guard down != applied.down, let script = try? source.script(), script.baseline == nil,
                applied.checksum ?? script.checksum == script.checksum
            else { continue }
            corrected[applied.version] = .some(down)
        }
        return corrected
    }

    /// Returns whether a file or the ledger has a down migration, which takes less than to read all details.
    private func hasDownMigrations(_ db: Database) throws -> Bool {
        if migrations.contains(where: { ($0 as? any SQLSource)?.hasDown == true }) { return true }
        return try Ledger.hasUndoColumns(db)
            && Row.fetchOne(db, sql: "SELECT 1 FROM main.schema_migrations_details WHERE down IS NOT NULL")
                != nil
    }

    private func changeLedger(_ database: any DatabaseWriter, _ change: (Database) throws -> Void) throws {
        try withWriter(database) { db in
            try db.withDurableCommits(waitingUpTo: options.busyTimeout) {
                try db.withWriteTransaction(waitingUpTo: options.busyTimeout) {
                    try change(db)
                    try db.notifyObservers(of: .additions)
                }
            }
        }
    }
}
