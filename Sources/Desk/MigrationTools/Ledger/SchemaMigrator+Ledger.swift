import AppMigrations
package import GRDB
import MigrationDiagnostics
package import SchemaMigrations

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
            guard applied.contains(where: { $0.origin == .marked }) else {
                throw MigrationError(
                    .misuse, "The database was not adopted",
                    remedy: "Look at it with `app-migrations status`. Nothing was changed.")
            }
            if let first = applied.first(where: { $0.origin != .marked }) {
                throw MigrationError(
                    .misuse, "Migration \(first.version) was applied, and builds on the baseline",
                    remedy: "Restore the database from a backup. Nothing was changed.")
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

extension Ledger {
    /// Drops the tables.
    fileprivate static func drop(_ db: Database) throws {
        try db.execute(
            sql: "DROP TABLE IF EXISTS main.schema_migrations_details; DROP TABLE main.schema_migrations")
    }

    fileprivate static func setChecksum(_ checksum: String, of version: SchemaVersion, _ db: Database) throws
    {
        try db.execute(
            sql: "UPDATE main.schema_migrations_details SET checksum = ? WHERE version = ?",
            arguments: [checksum, version])
    }
}
