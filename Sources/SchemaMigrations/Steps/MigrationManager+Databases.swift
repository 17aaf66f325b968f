public import AppMigrations
public import GRDB

extension MigrationManager {
    /// Registers a schema step, which migrates a database to a schema version when this version of the app, or a
    /// later one, launches.
    ///
    /// The schema step runs before the closure of the same version.
    ///
    /// The database's `schema_migrations` table alone decides which migrations are pending. A new database, a
    /// restored backup and a replaced file each get exactly the migrations that they lack. Schema steps run on fresh
    /// installs too.
    ///
    /// - Parameters:
    ///   - version: the app version; at most one schema step for each database and version. Leave it out for one that always migrates
    ///     to the latest: it comes before all steps of the database, and messages call it "schema step".
    ///   - migrator: the database's one set of migrations.
    ///   - target: the schema version to go to, at least that of the schema step before it; nil for the latest.
    ///     Known migrations above the last schema step's target are an error, so that none is forgotten.
    ///   - deferred: the versions of deferred steps to run to their end before the schema step.
    ///   - database: the database.
    ///   - fileID: the file that registers it, for messages.
    ///   - line: the line in that file.
    public func whenMigratingToVersion(
        _ version: AppVersion? = nil, migrate migrator: SchemaMigrator, upTo target: SchemaVersion? = nil,
        finishing deferred: [AppVersion] = [], in database: any DatabaseWriter,
        fileID: StaticString = #fileID,
        line: UInt = #line
    ) {
        register(
            SQLSchemaStep(migrator: migrator, target: target.map(migrator.knownVersion), database: database),
            for: version, in: database,
            finishing: deferred, source: SourceLocation(fileID: fileID, line: line))
    }

    /// Returns the place of a database, which the step before has nearly always used too.
    ///
    /// To find out which file a database is takes longer than to register a step.
    package func place(of database: any DatabaseWriter) -> SQLiteStore {
        if let place = lastPlace as? SQLiteStore, place.database === database { return place }
        return SQLiteStore(database)
    }

    package func register(
        _ schemaStep: any DatabaseSchemaStep, for version: AppVersion?, in database: any DatabaseWriter,
        finishing deferred: [AppVersion], source: SourceLocation
    ) {
        register(
            version ?? .zero, .schemaStep(schemaStep), in: place(of: database), finishing: deferred,
            source: source)
    }

    /// Registers a step that works in one database, *exactly once*: the database commits its work and its
    /// record together.
    ///
    /// The database alone decides whether the step has run. So leave a step that has shipped in its place: in another one, it
    /// may run again, or not at all in an older file that was brought in before. A database that has no tables when a launch
    /// first looks at it does not need its steps on a fresh install; in an upgrade from 1.9, it needs those above 1.9, such as
    /// an import from elsewhere. One that was deleted and made anew needs none. Register a step that every new database needs
    /// with `onFreshInstall: .run`.
    ///
    /// - Parameters:
    ///   - version: the app version, above that of every step registered before for the database; only a schema step may
    ///     have the same.
    ///   - deferred: the versions of deferred steps to run to their end before this one.
    ///   - database: the database.
    ///   - onFreshInstall: whether the step runs in a new database.
    ///   - foreignKeys: the mode of foreign keys while the step runs. By default, SQLite does not enforce them, so that
    ///     the step can rebuild a table. Before the commit, the manager checks the foreign keys of the touched tables,
    ///     and views and triggers if the schema has changed. If it finds a problem, it rolls the step back and runs it
    ///     once more, to tell new problems, which are an error, from old ones. Pass `.immediate` for a step that relies on
    ///     `ON DELETE CASCADE`.
    ///   - condition: returns true if the step that has run is needed again, because rows in the old form have come since: from
    ///     an older build, from another device, from a backup. Each launch asks, in a read transaction, so have an index for it.
    ///     If it still holds after the step has run again, that is an error.
    ///   - fileID: the file that registers it, for messages.
    ///   - line: the line in that file.
    ///   - body: does the work, inside a transaction, on the database's own queue. Only what it does through
    ///     its argument is undone when it throws or the process dies.
    public func whenMigratingToVersion(
        _ version: AppVersion, finishing deferred: [AppVersion] = [], in database: any DatabaseWriter,
        onFreshInstall: FreshInstallRule = .skip, foreignKeys: ForeignKeys = .deferred,
        again condition: (@Sendable (Database) throws -> Bool)? = nil,
        fileID: StaticString = #fileID,
        line: UInt = #line, run body: @escaping @Sendable (Database) throws -> Void
    ) {
        whenMigratingToVersion(
            version, finishing: deferred, in: database, onFreshInstall: onFreshInstall,
            foreignKeys: foreignKeys, again: condition, fileID: fileID, line: line
        ) { db, _ in try body(db) }
    }

    /// Registers a step that works in one database, *exactly once*, and gets the context of the launch that runs it.
    ///
    /// - Parameters:
    ///   - version: the app version, above that of every step registered before for the database; only a schema step may
    ///     have the same.
    ///   - deferred: the versions of deferred steps to run to their end before this one.
    ///   - database: the database.
    ///   - onFreshInstall: whether the step runs in a new database.
    ///   - foreignKeys: the mode of foreign keys while the step runs, as for the step without a context.
    ///   - condition: returns true if the step that has run is needed again.
    ///   - fileID: the file that registers it, for messages.
    ///   - line: the line in that file.
    ///   - body: does the work, inside a transaction, on the database's own queue. Its context says which attempt this is.
    public func whenMigratingToVersion(
        _ version: AppVersion, finishing deferred: [AppVersion] = [], in database: any DatabaseWriter,
        onFreshInstall: FreshInstallRule = .skip, foreignKeys: ForeignKeys = .deferred,
        again condition: (@Sendable (Database) throws -> Bool)? = nil,
        fileID: StaticString = #fileID,
        line: UInt = #line, run body: @escaping @Sendable (Database, MigrationContext) throws -> Void
    ) {
        let place = place(of: database)
        register(
            version,
            .transaction(
                DatabaseStep(place: place, foreignKeys: foreignKeys, condition: condition, body: body)),
            in: place, finishing: deferred, onFreshInstall: onFreshInstall, hasCondition: condition != nil,
            source: SourceLocation(fileID: fileID, line: line))
    }
}
