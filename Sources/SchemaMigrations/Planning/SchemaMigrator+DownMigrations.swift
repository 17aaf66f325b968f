package import GRDB

// Down migrations, which the ledger keeps for older builds and other branches.
extension SchemaMigrator {
    /// Writes corrected down migrations into the ledger, inside a transaction.
    package func correctDownMigrations(_ db: Database, _ ledger: Ledger) throws {
        for (version, down) in try correctedDownMigrations(db, ledger) {
            try Ledger.setDown(down, of: version, db)
        }
    }

    /// Returns the down migrations that are not as the ledger keeps them; nil for one that is gone.
    ///
    /// What a file that was edited itself would undo is not what was applied.
    package func correctedDownMigrations(_ db: Database, _ ledger: Ledger) throws -> [SchemaVersion: String?]
    {
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
}
