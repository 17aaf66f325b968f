import AppMigrations
public import Foundation
package import GRDB
import MigrationDiagnostics

/// Migrates SQLite databases to the schema that the app needs, by migrations that each run once, in order.
///
/// ```swift
/// let schema = try SchemaMigrator(directory: folder)
/// try schema.migrate(dbQueue)
/// ```
///
/// A database's `schema_migrations` table, the *ledger*, lists the migrations that were applied to it. The
/// migrator commits a migration together with its row there, so that a crash or a power cut leaves both or
/// neither.
///
/// One database has one set of migrations: to use several folders, join them in one migrator.
public struct SchemaMigrator: Sendable {
    /// All known migrations, ascending.
    public private(set) var migrations: [any SchemaMigration]

    /// The options for commits, timeouts and backups.
    package var options: SchemaOptions
    /// True if a manager migrates, whose launch has other work as well.
    var isPartOfLaunch = false

    /// The versions of all known migrations, ascending.
    let versions: [SchemaVersion]

    private(set) var adopting: SchemaAdoption?
    package private(set) var snapshotURL: URL?

    /// Creates a migrator for the `.sql` files of a folder, and migrations written in Swift.
    ///
    /// - Parameters:
    ///   - directory: the folder. Subfolders are ignored, and so are files whose names do not begin with a
    ///     digit or do not end in `.sql`.
    ///   - migrations: the migrations written in Swift.
    ///   - snapshot: a file written by `app-migrations snapshot write`. An empty database starts from it
    ///     instead of running every migration, unless the snapshot holds a version above the target.
    ///   - options: the options for commits, timeouts and backups.
    ///   - adopting: finds the version of a database that has tables but no ledger. Migrations up to that
    ///     version are marked as applied and not run.
    /// - Throws: `MigrationError`, when the folder does not exist or holds no migration, when a
    ///   file's name is malformed, when two files have one version, and when a down migration lacks its file.
    public init(
        directory: URL, migrations: [any SchemaMigration] = [], snapshot: URL? = nil,
        options: SchemaOptions = SchemaOptions(), adopting: SchemaAdoption? = nil
    ) throws {
        try self.init(
            directories: [directory], migrations: migrations, snapshot: snapshot, options: options,
            adopting: adopting)
    }

    /// Creates a migrator for the `.sql` files of several folders, and migrations written in Swift.
    ///
    /// ```swift
    /// let schema = try SchemaMigrator(directories: [folder, url])
    /// ```
    ///
    /// - Parameters:
    ///   - directories: the folders. No version may be in two of them.
    ///   - migrations: the migrations written in Swift.
    ///   - snapshot: a file written by `app-migrations snapshot write`, from which an empty database starts.
    ///   - options: the options for commits, timeouts and backups.
    ///   - adopting: finds the version of a database that has tables but no ledger.
    /// - Throws: `MigrationError`, as ``init(directory:migrations:snapshot:options:adopting:)`` does.
    public init(
        directories: [URL], migrations: [any SchemaMigration] = [], snapshot: URL? = nil,
        options: SchemaOptions = SchemaOptions(), adopting: SchemaAdoption? = nil
    ) throws {
        let files = try directories.flatMap(MigrationFolder.files)
        try self.init(
            migrations: files + migrations, snapshot: snapshot, options: options, adopting: adopting)
    }

    /// Creates a migrator for the `.sql` files among a bundle's resources, and migrations written in Swift.
    ///
    /// ```swift
    /// let schema = try SchemaMigrator(bundle: .main)
    /// ```
    ///
    /// - Parameters:
    ///   - bundle: for instance `.main` or `.module`.
    ///   - subdirectory: the folder among the resources; nil for the resources themselves.
    ///   - migrations: the migrations written in Swift.
    ///   - snapshot: as for the other initializers.
    ///   - options: the options for commits, timeouts and backups.
    ///   - adopting: as for the other initializers.
    /// - Throws: `MigrationError`, as ``init(directory:migrations:snapshot:options:adopting:)`` does.
    public init(
        bundle: Bundle, subdirectory: String? = nil, migrations: [any SchemaMigration] = [],
        snapshot: URL? = nil, options: SchemaOptions = SchemaOptions(), adopting: SchemaAdoption? = nil
    ) throws {
        let resources = bundle.resourceURL ?? bundle.bundleURL
        let folder = subdirectory.map { resources.appendingPathComponent($0, isDirectory: true) } ?? resources
        try self.init(
            directories: [folder], migrations: migrations, snapshot: snapshot, options: options,
            adopting: adopting)
    }

    /// Creates a migrator for migrations in any order.
    ///
    /// ```swift
    /// let schema = try SchemaMigrator(migrations: Migrations.all)
    /// ```
    ///
    /// - Parameters:
    ///   - migrations: the migrations, such as `Migrations.all` of the build plugin.
    ///   - snapshot: a file written by `app-migrations snapshot write`, from which an empty database starts.
    ///   - options: the options for commits, timeouts and backups.
    ///   - adopting: finds the version of a database that has tables but no ledger.
    /// - Throws: `MigrationError`, if there are none, if two have the same version, or if a version
    ///   is below 0.
    public init(
        migrations: [any SchemaMigration], snapshot: URL? = nil, options: SchemaOptions = SchemaOptions(),
        adopting: SchemaAdoption? = nil
    ) throws {
        guard !migrations.isEmpty else {
            throw MigrationError(
                .invalidMigration, "There are no migrations",
                remedy: "Pass at least one, or a folder that holds some."
            ).about(.noMigrations)
        }
        // Files of one folder are in order already.
        let isOrdered = zip(migrations, migrations.dropFirst()).allSatisfy { $0.version < $1.version }
        let sorted = isOrdered ? migrations : migrations.inOrder { $0.version < $1.version }
        for (first, second) in zip(sorted, sorted.dropFirst()) where first.version == second.version {
            throw MigrationError(
                .invalidMigration, at: .file(second.title),
                "has version \(second.version), which \(first.title) has too",
                remedy: "Give the newer one a version of its own.")
        }
        if let first = sorted.first, first.version < 0 {
            throw MigrationError(
                .invalidMigration, at: .file(first.title), "has the negative version \(first.version)",
                remedy: "Use a version of at least 0, preferably a timestamp.")
        }
        self.migrations = sorted
        versions = sorted.map(\.version)
        self.options = options
        self.adopting = adopting
        snapshotURL = snapshot
    }

    /// Returns a migrator of the same migrations for a scratch database, with default options and without adoption.
    ///
    /// The app's configuration may create a table there, and `.matchingSchema` would need another scratch database.
    package func with(snapshot: URL?) -> SchemaMigrator {
        var copy = self
        copy.snapshotURL = snapshot
        copy.options = SchemaOptions()
        copy.adopting = nil
        return copy
    }

    /// Returns the migrator with another way to run its migrations in Swift.
    package func runningCode(
        by run: @escaping @Sendable (any SchemaMigration, Database) throws -> Void
    ) -> SchemaMigrator {
        var copy = self
        copy.migrations = migrations.map { migration in
            migration is any SQLSource
                ? migration
                : CodeMigration(
                    migration.version, migration.name, foreignKeys: migration.foreignKeys,
                    isCompatible: migration.isCompatible, migrate: { try run(migration, $0) },
                    rollback: (migration as? CodeMigration)?.down)
        }
        return copy
    }
}
