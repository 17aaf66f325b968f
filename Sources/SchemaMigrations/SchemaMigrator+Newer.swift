import AppMigrations
import GRDB
import MigrationDiagnostics

// Databases that have had migrations which this migrator does not have: later ones, those of another branch, and those
// that were squashed. These methods read and decide. They write nothing.

extension SchemaMigrator {
    /// Returns the applied migrations that are unknown, ascending.
    ///
    /// Those below the lowest known one do not count: their files were removed, or squashed into a baseline. Neither do
    /// those between known ones that another tool applied.
    func newer(_ db: Database, _ ledger: Ledger, _ baseline: Baseline?) throws -> [AppliedMigration] {
        guard let lowest = versions.first, let latest = versions.last else { return [] }
        let unknown = ledger.applied.subtracting(versions).subtracting(baseline?.versions ?? [])
            .filter { $0 > lowest }
        guard !unknown.isEmpty else { return [] }
        return try AppliedMigration.fetchAll(db, in: ledger).filter {
            unknown.contains($0.version) && ($0.version > latest || $0.origin != .unknown)
        }
    }

    /// Returns true if the unknown migrations of a database are to be undone, and can be.
    func undoesNewer(in ledger: Ledger) -> Bool {
        options.newerDatabases == .rollBack && ledger.newer.allSatisfy(\.canBeUndone)
    }

    /// Throws an error if this migrator must leave a database to a newer app.
    func checkNewer(in ledger: Ledger) throws {
        if options.newerDatabases == .allow || undoesNewer(in: ledger) { return }
        let strange = ledger.newer.filter { !$0.isCompatible }
        guard !strange.isEmpty else { return }
        let titles = strange.map(\.title).joined(separator: ", ")
        let irreversible = ledger.newer.filter { !$0.canBeUndone }.map(\.title).joined(separator: ", ")
        throw SchemaMigrationError(
            .newerDatabase,
            """
            The database has had migrations that are unknown and not compatible: \(titles)\
            \(options.newerDatabases == .rollBack ? "; the ledger cannot undo \(irreversible)" : "")
            """,
            remedy: """
                A newer version of the app has applied them: update the app. If their files were removed, put them back. \
                Nothing was changed.
                """)
    }

    // MARK: Baselines

    /// Reads the header of the lowest migration, if older ones were squashed into it.
    func baseline() throws -> Baseline? {
        try (migrations.first as? any SQLSource).flatMap { Baseline(try $0.text()) }
    }

    /// Reads the header of the lowest migration, unless a database is new or began with that migration.
    func baseline(for ledger: Ledger) throws -> Baseline? {
        guard let oldest = ledger.originVersion, oldest != versions.first else { return nil }
        return try baseline()
    }

    /// Returns the lowest squashed migration that a database lacks; nil if it has all.
    func lacking(_ ledger: Ledger, _ baseline: Baseline) -> SchemaVersion? {
        baseline.versions.filter { !ledger.applied.contains($0) && $0 > ledger.floor ?? .min }.min()
    }

    func tooOld(_ state: String, _ baseline: Baseline) -> SchemaMigrationError {
        let title = migrations.first?.title ?? ""
        let release = baseline.lastRelease.map { "Version \($0)" } ?? "An earlier version"
        return SchemaMigrationError(
            .tooOld, "The database is too old: it is \(state), which was squashed into \(title)",
            remedy: "\(release) of the app can still migrate it: launch that first. Nothing was changed.")
    }
}

extension AppliedMigration {
    /// The version and the name, as in the name of a file.
    package var title: String { [("\(version)"), name].compactMap(\.self).joined(separator: "_") }
}
