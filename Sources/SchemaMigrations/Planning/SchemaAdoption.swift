package import AppMigrations
public import GRDB

/// A way to find the version of a database that has tables but no ledger, so that only later migrations run.
///
/// ```swift
/// let schema = try SchemaMigrator(
///     directory: folder,
///     adopting: .userVersion(means: [1: 20240110090000000, 2: 20240203181500000]))
/// ```
///
/// The migrator marks every migration up to that version as applied: it takes the tables as a *baseline*. That holds for a
/// migration that is merged later, too, so number it above the versions that are found.
///
/// The factory methods read what other tools leave behind; write a closure for anything else:
///
/// ```swift
/// let adoption = SchemaAdoption { db in
///     try db.tableExists("shelf") ? 20240601120000000 : 20240110090000000
/// }
/// ```
///
/// Databases of FMDBMigrationManager and SQLiteMigrationManager.swift need no adoption: their
/// `schema_migrations` table is this package's own.
public struct SchemaAdoption: Sendable {
    /// Returns the version of a database that has tables but no ledger; nil if it is unknown.
    package let version: @Sendable (Database, SchemaMigrator) throws -> SchemaVersion?

    /// Creates an adoption from a closure.
    ///
    /// - Parameter version: returns the version of a database that has tables but no ledger, or nil if it is
    ///   unknown, which makes migrating an error.
    public init(_ version: @escaping @Sendable (_ db: Database) throws -> SchemaVersion?) {
        self.version = { db, _ in try version(db) }
    }

    package init(comparing version: @escaping @Sendable (Database, SchemaMigrator) throws -> SchemaVersion?) {
        self.version = version
    }

    /// Finds the version whose migrations make exactly the schema that the database has.
    ///
    /// The migrator runs its migrations on an empty database in memory, and compares the schema after each. If several
    /// versions fit, because a migration changes only rows, it takes the latest. If none fits, migrating is an error that
    /// names the differences from the nearest version.
    ///
    /// Migrations in Swift run there, too, even those above the version that fits. What they do to files or to the
    /// keychain would happen again: do that in a manager's step. A migration that attaches a database does not run, and the version
    /// is undecided.
    ///
    /// Numbers that apps keep can be wrong: an update that failed half-way may have raised `user_version`. The schema
    /// cannot.
    ///
    /// ```swift
    /// let schema = try SchemaMigrator(directory: folder, adopting: .matchingSchema)
    /// ```
    public static var matchingSchema: SchemaAdoption {
        SchemaAdoption(comparing: { db, migrator in try migrator.version(fitting: db) })
    }

    /// Reads the number in the table `schema_info` of fmdb-migration-manager.
    ///
    /// - Parameter versions: for each number, the version of the migration that does the same.
    public static func schemaInfo(means versions: [Int: SchemaVersion]) -> SchemaAdoption {
        SchemaAdoption { db in
            guard try db.hasTable("schema_info") else { return nil }
            let numbers = try Int.fetchAll(db, sql: "SELECT version FROM main.schema_info")
            guard numbers.count < 2 else {
                throw MigrationError(
                    .undecided,
                    "The table schema_info holds \(numbers.count) rows instead of one version",
                    remedy: "Delete all but the version that the tables are at. Nothing was changed.")
            }
            return try numbers.first.map { try version(of: $0, in: versions, by: "schema_info says") }
        }
    }

    /// Reads the number in `PRAGMA user_version`.
    ///
    /// - Parameter versions: for each number, the version of the migration that does the same; for 0, that of tables which
    ///   are older than the app's first number, if there were such releases. By default, the number is the version itself.
    public static func userVersion(means versions: [Int: SchemaVersion]? = nil) -> SchemaAdoption {
        SchemaAdoption(comparing: { db, migrator in
            let number = try db.pragma("main.user_version")
            // Squashed versions too, or a database that is too old would look like one whose number means nothing.
            let known = try migrator.versions + Array(migrator.baseline()?.versions ?? [])
            let means =
                versions
                ?? Dictionary(
                    // No number of 32 bits means a timestamp.
                    known.compactMap { version in Int(exactly: version).map { ($0, version) } },
                    uniquingKeysWith: { first, _ in first })
            // SQLite's own number says nothing, unless the app's ladder began later than its tables.
            if number == 0, versions?[0] == nil { return nil }
            return try version(of: number, in: means, by: "user_version says")
        })
    }

    /// Returns the version that a number means, which an app has raised from release to release.
    private static func version(
        of number: Int, in versions: [Int: SchemaVersion], by source: String
    ) throws -> SchemaVersion {
        if let highest = versions.keys.max(), number > highest {
            throw MigrationError.newer("\(source) \(number); the highest that this app knows is \(highest)")
        }
        return try version(number, in: versions, of: source)
    }

    /// Returns the version that a key means.
    package static func version<Key: Hashable>(
        _ key: Key, in versions: [Key: SchemaVersion], of source: String
    ) throws -> SchemaVersion {
        guard let version = versions[key] else {
            var error = MigrationError(
                .undecided, "\(source) \(key), which has no version.",
                remedy: "Map it to a known version in `adopting`. Nothing was changed.")
            error.detail = .unknownMeaning
            throw error
        }
        return version
    }
}

extension MigrationError {
    /// Creates the error for a database that a newer app has migrated, by what another library has left there.
    package static func newer(_ problem: String) -> MigrationError {
        var error = MigrationError(
            .newerThanThisProcess, problem,
            remedy: """
                If a newer version of the app has migrated the database, update the app. If not, map it to a known \
                version in `adopting`. Nothing was changed.
                """)
        error.detail = .unknownMeaning
        return error
    }
}
