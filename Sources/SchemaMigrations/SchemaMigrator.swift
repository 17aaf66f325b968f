import AppMigrations
public import Foundation
public import GRDB

/// Brings SQLite databases to the schema that the app needs, by migrations that each run once and in order.
///
/// ```swift
/// let schema = try SchemaMigrator(directory: folder)
/// try schema.migrate(dbQueue)
/// ```
///
/// A database remembers in its table `schema_migrations` which migrations it has had. Each migration and its row
/// there are committed together, so that a crash or a power cut leaves both or neither.
///
/// One database has one set of migrations: join folders in one migrator, do not use two.
public struct SchemaMigrator: Sendable {
    /// Tells at which version a database is that has tables, but no ledger; nil when it cannot tell.
    public typealias Adoption = @Sendable (_ db: Database) throws -> SchemaVersion?

    /// All known migrations, ascending.
    public let migrations: [any SchemaMigration]

    /// How the migrator goes about its work.
    public var options: SchemaOptions

    /// The versions of all known migrations, ascending.
    let versions: [SchemaVersion]

    let adopting: Adoption?
    package private(set) var snapshotURL: URL?

    /// Creates a migrator for the `.sql` files of a folder.
    ///
    /// - Parameters:
    ///   - directory: the folder. Its subfolders, and files whose names do not begin with a digit or do not end
    ///     in `.sql`, are passed over.
    ///   - snapshot: a file that ``writeSnapshot(to:)`` has written, from which an empty database starts instead of
    ///     running every migration; used when it holds nothing above the version asked for.
    ///   - options: how the migrator goes about its work.
    ///   - adopting: asked when a database has tables but no ledger; what is known up to its answer is marked
    ///     as applied, and not run.
    /// - Throws: ``SchemaMigrationError``, when the folder does not exist or holds no migration, when a file's
    ///   name is malformed, and when two files have one version.
    public init(
        directory: URL, snapshot: URL? = nil, options: SchemaOptions = SchemaOptions(),
        adopting: Adoption? = nil
    ) throws {
        try self.init(directories: [directory], snapshot: snapshot, options: options, adopting: adopting)
    }

    /// Creates a migrator for the `.sql` files of several folders, and migrations written in Swift.
    ///
    /// - Throws: ``SchemaMigrationError``, as ``init(directory:snapshot:options:adopting:)`` does.
    public init(
        directories: [URL], migrations: [any SchemaMigration] = [], snapshot: URL? = nil,
        options: SchemaOptions = SchemaOptions(), adopting: Adoption? = nil
    ) throws {
        let files = try directories.flatMap { try MigrationFolder.files(in: $0) }
        try self.init(
            migrations: files + migrations, snapshot: snapshot, options: options, adopting: adopting)
    }

    /// Creates a migrator for the `.sql` files among a bundle's resources, and migrations written in Swift.
    ///
    /// - Parameters:
    ///   - bundle: for instance `.main` or `.module`.
    ///   - subdirectory: the folder among the resources; nil for the resources themselves.
    ///   - migrations: those that are written in Swift.
    ///   - snapshot: as for the other initializers.
    ///   - options: how the migrator goes about its work.
    ///   - adopting: as for the other initializers.
    /// - Throws: ``SchemaMigrationError``, as ``init(directory:snapshot:options:adopting:)`` does.
    public init(
        bundle: Bundle, subdirectory: String? = nil, migrations: [any SchemaMigration] = [],
        snapshot: URL? = nil, options: SchemaOptions = SchemaOptions(), adopting: Adoption? = nil
    ) throws {
        let resources = bundle.resourceURL ?? bundle.bundleURL
        let folder = subdirectory.map { resources.appendingPathComponent($0, isDirectory: true) } ?? resources
        try self.init(
            directories: [folder], migrations: migrations, snapshot: snapshot, options: options,
            adopting: adopting)
    }

    /// Creates a migrator for migrations in any order.
    ///
    /// - Throws: ``SchemaMigrationError``, when there are none, when two have one version, and when a version
    ///   is below 0.
    public init(
        migrations: [any SchemaMigration], snapshot: URL? = nil, options: SchemaOptions = SchemaOptions(),
        adopting: Adoption? = nil
    ) throws {
        guard !migrations.isEmpty else {
            throw SchemaMigrationError(
                .noMigrations, "There are no migrations.",
                remedy: "Pass at least one, or a folder that holds some.")
        }
        let sorted = migrations.sorted { $0.version < $1.version }
        for (first, second) in zip(sorted, sorted.dropFirst()) where first.version == second.version {
            throw SchemaMigrationError(
                .duplicateVersion,
                "\(first.title) and \(second.title) both have version \(first.version).",
                remedy: "Give the newer one a version of its own.", file: second.title)
        }
        if let first = sorted.first, first.version < 0 {
            throw SchemaMigrationError(
                .malformedFileName, "\(first.title) has version \(first.version).",
                remedy: "Versions are at least 0; by preference a timestamp.", file: first.title)
        }
        self.migrations = sorted
        versions = sorted.map(\.version)
        self.options = options
        self.adopting = adopting
        snapshotURL = snapshot
    }

    /// The same migrations, for a scratch database.
    package func with(snapshot: URL?) -> SchemaMigrator {
        var copy = self
        copy.snapshotURL = snapshot
        copy.options = SchemaOptions()
        return copy
    }
}

// What decides. Reads at most.
extension SchemaMigrator {
    /// What a migration up to a version would apply, in order, for a database that this migrator may migrate.
    ///
    /// On nearly every launch that is nothing, and one statement tells it.
    func pending(in db: Database, upTo target: SchemaVersion?) throws -> [SchemaVersion] {
        if try hasEverything(db, upTo: target) { return [] }
        return try db.consistently { try plan(ledger(of: db), upTo: target).pending }
    }

    /// Whether a database certainly has every known migration up to a version, and nothing that is to be refused.
    ///
    /// When it has not, or that is harder to tell, the ledger has to be read as a whole.
    func hasEverything(_ db: Database, upTo target: SchemaVersion?) throws -> Bool {
        guard options.editedMigrations == .report, let applied = try Ledger.appliedVersions(db),
            options.newerDatabase == .allow || applied.last ?? 0 <= versions.last ?? 0
        else { return false }
        return applied.starts(with: versions.prefix { $0 <= target ?? .max })
    }

    func plan(_ ledger: Ledger, upTo target: SchemaVersion?) -> MigrationPlan<SchemaVersion> {
        MigrationPlan(
            known: versions, floor: ledger.floor, settled: ledger.applied, target: target)
    }

    /// The ledger of a database that this migrator may migrate; for one that is adopted, as it will be.
    ///
    /// - Throws: ``SchemaMigrationError``, when the database must not be migrated by this migrator.
    func ledger(of db: Database) throws -> Ledger {
        let ledger = try Ledger(db)
        try checkIsOurs(ledger)
        if options.editedMigrations == .refuse { try checkNotEdited(db) }
        guard !ledger.exists, try Ledger.hasOtherTables(db) else { return ledger }
        guard let version = try adopting?(db) else {
            throw SchemaMigrationError(
                .unmanagedDatabase,
                "The database has tables, but no ledger says which migrations they come from.",
                remedy: """
                    Pass adopting: { db in … } to the migrator, which answers the version that the tables are at. \
                    Nothing was changed.
                    """)
        }
        try check(version)
        return .adopting(versions.filter { $0 <= version })
    }

    private func checkIsOurs(_ ledger: Ledger) throws {
        if !ledger.applied.isEmpty, ledger.applied.isDisjoint(with: versions) {
            throw SchemaMigrationError(
                .differentSet,
                "The database has had \(ledger.applied.count) migrations, and none of them is known to this migrator.",
                remedy: """
                    One database has one set of migrations: join the folders in one SchemaMigrator. Nothing was \
                    changed.
                    """)
        }
        guard options.newerDatabase == .refuse, let current = ledger.currentVersion,
            let latest = versions.last, current > latest
        else { return }
        throw SchemaMigrationError(
            .newerDatabase,
            "The database is at version \(current), and the latest known migration is \(latest).",
            remedy: "A newer version of the app has migrated it: update the app. Nothing was changed.")
    }

    private func checkNotEdited(_ db: Database) throws {
        guard let version = try edited(db).first, let migration = migration(version: version) else { return }
        throw SchemaMigrationError(
            .editedMigration, "\(migration.title): was edited after it had been applied to this database.",
            remedy: "Take the edit back and write a new migration, or accept it by acceptEdits(_:of:).",
            file: migration.title)
    }

    /// Refuses a version that no migration has.
    func check(_ version: SchemaVersion) throws {
        guard versions.contains(version) else { throw unknown(version) }
    }

    func unknown(_ version: SchemaVersion) -> SchemaMigrationError {
        SchemaMigrationError(
            .unknownVersion, "No migration has version \(version).",
            remedy: migrations.last.map { "The latest is \($0.version)." } ?? "There are none.")
    }
}
