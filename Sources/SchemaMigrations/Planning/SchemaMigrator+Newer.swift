import AppMigrations
import GRDB
import MigrationDiagnostics

// Databases that have had migrations which this migrator does not have: later ones, those of another branch, and those
// that were squashed. These methods read and decide. They write nothing.

extension SchemaMigrator {
    /// Returns the applied migrations that are unknown, ascending.
    ///
    /// Those below the lowest known one, squashed ones included, do not count: their files were removed. Neither do those
    /// between known ones that another tool applied.
    func newer(_ db: Database, _ ledger: Ledger, _ baseline: Baseline?) throws -> [AppliedMigration] {
        guard let lowest = baseline?.versions.min() ?? versions.first, let latest = versions.last else {
            return []
        }
        let unknown = ledger.applied.subtracting(versions).subtracting(baseline?.versions ?? [])
            .filter { $0 > lowest }
        guard !unknown.isEmpty else { return [] }
        return try AppliedMigration.fetchAll(db, in: ledger).filter {
            unknown.contains($0.version) && ($0.version > latest || $0.origin != .unknown)
        }
    }

    /// Returns true if the unknown migrations of a database are to be undone, and can be.
    func undoesNewer(in ledger: Ledger) -> Bool {
        options.newerDatabases == .rollBack && reasonNotToUndo(ledger) == nil
    }

    /// Returns the reason why the unknown migrations of a database cannot be undone in one transaction; nil if they can.
    private func reasonNotToUndo(_ ledger: Ledger) -> String? {
        // Without what the database began with, nothing of it is left.
        if beganAboveAll(ledger), let first = ledger.newer.first {
            return "the database began with \(first.title)"
        }
        let scripts = ledger.newer.map { try? UnknownMigration(applied: $0).downScript() }
        let irreversible = zip(ledger.newer, scripts).filter { $1 == nil }.map(\.0.title)
        if !irreversible.isEmpty { return "the ledger cannot undo \(irreversible.joined(separator: ", "))" }
        let modes = Set(scripts.map(\.?.settings.foreignKeys))
        return modes.count > 1 ? "their down migrations use different foreign-key modes" : nil
    }

    /// Returns true if a newer build has made a database, and began above every migration that is known here: it may have
    /// squashed them.
    ///
    /// A database of another set, that another tool has made or that was adopted, does not count.
    func beganAboveAll(_ ledger: Ledger) -> Bool {
        liesAboveAll(ledger) && ledger.newer.first?.wasRun == true
    }

    /// Returns true if everything that a database has lies above every migration that is known here.
    func liesAboveAll(_ ledger: Ledger) -> Bool {
        guard let floor = ledger.floor, let latest = versions.last else { return false }
        return floor > latest
    }

    /// Throws an error if this migrator must leave a database to a newer app.
    func checkNewer(in ledger: Ledger) throws {
        if options.newerDatabases == .allow || undoesNewer(in: ledger) { return }
        let strange = ledger.newer.filter { !$0.isCompatible }
        guard !strange.isEmpty else { return }
        let titles = strange.map(\.title).joined(separator: ", ")
        let reason = options.newerDatabases == .rollBack ? reasonNotToUndo(ledger) : nil
        throw MigrationError(
            .newerThanThisProcess,
            """
            The database has had migrations that are unknown and not compatible: \(titles)\
            \(reason.map { "; \($0)" } ?? "")
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
    ///
    /// One that has had the lowest migration alone may have had the file that was squashed last, without those before it.
    /// The ledger tells them apart: a database that began with a baseline has a floor there.
    func baseline(for ledger: Ledger, _ db: Database) throws -> Baseline? {
        guard let oldest = ledger.originVersion,
            try oldest != versions.first || ledger.floor != oldest && !beganWithLowest(db)
        else { return nil }
        return try baseline()
    }

    /// Returns true if the ledger says that a database began with the lowest migration, as it is today.
    ///
    /// It says so without a look into the migration, which nearly every launch would have to take otherwise: the database
    /// has had a file of the same name.
    func beganWithLowest(_ db: Database) throws -> Bool {
        guard let lowest = migrations.first else { return false }
        do {
            let name = try String.fetchOne(
                db, sql: "SELECT name FROM main.schema_migrations_details WHERE version = ?",
                arguments: [lowest.version])
            return name == lowest.name
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            return false
        }
    }

    /// Throws an error if a baseline has lower migrations beside it.
    ///
    /// Only those files are read that have another name in the ledger: that of the last migration that was squashed.
    func checkBaselineIsLowest(_ db: Database, _ ledger: Ledger) throws {
        guard migrations.dropFirst().contains(where: { ledger.applied.contains($0.version) }) else { return }
        let history = try AppliedMigration.fetchAll(db, in: ledger)
        let names = Dictionary(history.map { ($0.version, $0.name) }, uniquingKeysWith: { $1 })
        for migration in migrations.dropFirst() {
            guard let name = names[migration.version] ?? nil, name != migration.name,
                let source = migration as? any SQLSource, Baseline(try source.text()) != nil
            else { continue }
            throw MigrationError(baselineIsNotLowest: migration.title, migrations[0].title)
        }
    }

    /// Returns the version that stands for another one: of a migration that was squashed, the baseline's.
    package func knownVersion(for version: SchemaVersion) -> SchemaVersion {
        guard let lowest = versions.first, version < lowest, let baseline = try? baseline(),
            baseline.versions.contains(version)
        else { return version }
        return lowest
    }

    /// Returns the squashed migrations that a database lacks, ascending.
    func allLacking(_ ledger: Ledger, _ baseline: Baseline) -> [SchemaVersion] {
        guard ledger.exists || !ledger.applied.isEmpty else { return [] }
        return baseline.versions.filter { !ledger.applied.contains($0) && $0 > ledger.floor ?? .min }
            .inOrder()
    }

    func tooOld(_ state: String, _ baseline: Baseline) -> MigrationError {
        let title = migrations.first?.title ?? ""
        let release = baseline.lastRelease.map { "Version \($0)" } ?? "An earlier version"
        return MigrationError(
            .tooOld, "The database is too old: it is \(state), which was squashed into \(title)",
            remedy: "\(release) of the app can still migrate it: launch that first. Nothing was changed.")
    }
}

extension MigrationError {
    /// Creates an error for a baseline that is not the lowest migration.
    init(baselineIsNotLowest title: String, _ lower: String) {
        self.init(
            .invalidMigration, at: .file(title),
            "stands for older migrations, but \(lower) has a lower version",
            remedy: "Squash again, with this migration among the files. Nothing was changed.")
    }
}

extension AppliedMigration {
    /// The version and the name, as in the name of a file.
    package var title: String { [("\(version)"), name].compactMap(\.self).joined(separator: "_") }
}
