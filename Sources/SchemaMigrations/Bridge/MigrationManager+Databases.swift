public import AppMigrations
public import GRDB

extension MigrationManager {
    /// Registers a move: when the app is launched in this version or a later one, the database is brought to
    /// a schema version, before the closure of the same version runs.
    ///
    /// What is pending is told by the database alone, from its `schema_migrations` table: a new database, a
    /// restored backup and a replaced file each get exactly what they lack. Moves run on fresh installs too.
    ///
    /// - Parameters:
    ///   - version: the app version; at most one move for each database and version.
    ///   - migrator: the database's one set of migrations.
    ///   - target: the schema version to go to, at least that of the move before it; nil for the latest.
    ///     Known migrations above the last move's are an error, so that none is forgotten.
    ///   - database: the database.
    ///   - fileID: where it is registered, for messages: the file.
    ///   - line: the line in it.
    public func whenMigratingToVersion(
        _ version: AppVersion, migrate migrator: SchemaMigrator, upTo target: SchemaVersion? = nil,
        in database: any DatabaseWriter, fileID: StaticString = #fileID, line: UInt = #line
    ) {
        register(
            SchemaMove(migrator: migrator, target: target, database: database), for: version, in: database,
            source: SourceLocation(fileID: fileID, line: line))
    }

    /// Registers a move by a migrator of GRDB's own, so that an app keeps the migrations that it has.
    ///
    /// - Parameters:
    ///   - version: the app version; at most one move for each database and version.
    ///   - migrator: the database's one migrator.
    ///   - target: the identifier of the migration to go to, that included; nil for the latest.
    ///   - database: the database.
    ///   - fileID: where it is registered, for messages: the file.
    ///   - line: the line in it.
    public func whenMigratingToVersion(
        _ version: AppVersion, migrate migrator: DatabaseMigrator, upTo target: String? = nil,
        in database: any DatabaseWriter, fileID: StaticString = #fileID, line: UInt = #line
    ) {
        register(
            GRDBMove(migrator: migrator, target: target, database: database), for: version, in: database,
            source: SourceLocation(fileID: fileID, line: line))
    }

    private func register(
        _ move: any DatabaseMove, for version: AppVersion, in database: any DatabaseWriter,
        source: SourceLocation
    ) {
        register(
            MigrationStep(version: version, place: DatabasePlace(database), work: .move(move), source: source)
        )
    }

    /// Registers a step that works in one database, *exactly once*: its work and its record are committed
    /// together, in that database.
    ///
    /// Whether it has run is told by the database alone. A database that is new when a launch first looks at
    /// it, without tables, does not need its steps: one that fills a new database from elsewhere is to be
    /// registered with `onFreshInstall: .run`.
    ///
    /// - Parameters:
    ///   - version: above that of every step registered before.
    ///   - database: the database.
    ///   - onFreshInstall: whether the step runs in a new database.
    ///   - fileID: where it is registered, for messages: the file.
    ///   - line: the line in it.
    ///   - body: does the work, inside a transaction, on the database's own queue. Only what it does through
    ///     its argument is undone when it throws or the process dies.
    public func whenMigratingToVersion(
        _ version: AppVersion, in database: any DatabaseWriter, onFreshInstall: FreshInstallRule = .skip,
        fileID: StaticString = #fileID, line: UInt = #line,
        run body: @escaping @Sendable (Database) throws -> Void
    ) {
        whenMigratingToVersion(
            version, in: database, onFreshInstall: onFreshInstall, fileID: fileID, line: line
        ) { db, _ in try body(db) }
    }

    /// Registers a step that works in one database and wants to know about the launch that runs it.
    public func whenMigratingToVersion(
        _ version: AppVersion, in database: any DatabaseWriter, onFreshInstall: FreshInstallRule = .skip,
        fileID: StaticString = #fileID, line: UInt = #line,
        run body: @escaping @Sendable (Database, MigrationContext) throws -> Void
    ) {
        let place = DatabasePlace(database)
        register(
            MigrationStep(
                version: version, place: place, work: .transaction(DatabaseStep(place: place, body: body)),
                onFreshInstall: onFreshInstall, source: SourceLocation(fileID: fileID, line: line)))
    }
}
