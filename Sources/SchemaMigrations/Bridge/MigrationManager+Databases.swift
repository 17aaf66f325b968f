public import AppMigrations
public import GRDB

extension MigrationManager {
    /// Registers a move, which migrates a database to a schema version when this version of the app, or a
    /// later one, launches.
    ///
    /// The move runs before the closure of the same version.
    ///
    /// The database's `schema_migrations` table alone decides which migrations are pending. A new database, a
    /// restored backup and a replaced file each get exactly the migrations that they lack. Moves run on fresh
    /// installs too.
    ///
    /// - Parameters:
    ///   - version: the app version; at most one move for each database and version.
    ///   - migrator: the database's one set of migrations.
    ///   - target: the schema version to go to, at least that of the move before it; nil for the latest.
    ///     Known migrations above the last move's target are an error, so that none is forgotten.
    ///   - database: the database.
    ///   - fileID: the file that registers it, for messages.
    ///   - line: the line in that file.
    public func whenMigratingToVersion(
        _ version: AppVersion, migrate migrator: SchemaMigrator, upTo target: SchemaVersion? = nil,
        in database: any DatabaseWriter, fileID: StaticString = #fileID, line: UInt = #line
    ) {
        register(
            SchemaMove(migrator: migrator, target: target, database: database), for: version, in: database,
            source: SourceLocation(fileID: fileID, line: line))
    }

    /// Registers a move by GRDB's own `DatabaseMigrator`, so that an app keeps its existing migrations.
    ///
    /// - Parameters:
    ///   - version: the app version; at most one move for each database and version.
    ///   - migrator: the database's one migrator.
    ///   - target: the identifier of the last migration to apply; nil for the latest.
    ///   - database: the database.
    ///   - fileID: the file that registers it, for messages.
    ///   - line: the line in that file.
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

    /// Registers a step that works in one database, *exactly once*: the database commits its work and its
    /// record together.
    ///
    /// The database alone decides whether the step has run. A database that has no tables when a launch first
    /// looks at it does not need its steps. Register a step that fills a new database from elsewhere with
    /// `onFreshInstall: .run`.
    ///
    /// - Parameters:
    ///   - version: the app version, above that of every step registered before.
    ///   - database: the database.
    ///   - onFreshInstall: whether the step runs in a new database.
    ///   - onError: whether the manager stops when the step throws.
    ///   - foreignKeys: how foreign keys are enforced in the step; by default as the app's connection does, which
    ///     for GRDB is at once. Then dropping a table deletes the rows that refer to it with `ON DELETE CASCADE`, so
    ///     pass `.deferred` in a step that rebuilds a table: the step is checked before it commits.
    ///   - fileID: the file that registers it, for messages.
    ///   - line: the line in that file.
    ///   - body: does the work, inside a transaction, on the database's own queue. Only what it does through
    ///     its argument is undone when it throws or the process dies.
    public func whenMigratingToVersion(
        _ version: AppVersion, in database: any DatabaseWriter, onFreshInstall: FreshInstallRule = .skip,
        onError: ErrorRule = .stop, foreignKeys: ForeignKeys? = nil, fileID: StaticString = #fileID,
        line: UInt = #line, run body: @escaping @Sendable (Database) throws -> Void
    ) {
        whenMigratingToVersion(
            version, in: database, onFreshInstall: onFreshInstall, onError: onError, foreignKeys: foreignKeys,
            fileID: fileID, line: line
        ) { db, _ in try body(db) }
    }

    /// Registers a step that works in one database and gets the context of the launch that runs it.
    public func whenMigratingToVersion(
        _ version: AppVersion, in database: any DatabaseWriter, onFreshInstall: FreshInstallRule = .skip,
        onError: ErrorRule = .stop, foreignKeys: ForeignKeys? = nil, fileID: StaticString = #fileID,
        line: UInt = #line, run body: @escaping @Sendable (Database, MigrationContext) throws -> Void
    ) {
        let place = DatabasePlace(database)
        register(
            MigrationStep(
                version: version, place: place,
                work: .transaction(
                    DatabaseStep(place: place, foreignKeys: foreignKeys, body: body)),
                onFreshInstall: onFreshInstall, onError: onError,
                source: SourceLocation(fileID: fileID, line: line)))
    }
}
