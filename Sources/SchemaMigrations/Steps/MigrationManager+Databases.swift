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
    ///   - version: the app version; at most one schema step for each database and version.
    ///   - migrator: the database's one set of migrations.
    ///   - target: the schema version to go to, at least that of the schema step before it; nil for the latest.
    ///     Known migrations above the last schema step's target are an error, so that none is forgotten.
    ///   - deferred: the versions of deferred steps to run to their end before the schema step. They cannot be best-effort.
    ///   - database: the database.
    ///   - fileID: the file that registers it, for messages.
    ///   - line: the line in that file.
    public func whenMigratingToVersion(
        _ version: AppVersion, migrate migrator: SchemaMigrator, upTo target: SchemaVersion? = nil,
        finishing deferred: [AppVersion] = [], in database: any DatabaseWriter,
        fileID: StaticString = #fileID,
        line: UInt = #line
    ) {
        register(
            SQLSchemaStep(migrator: migrator, target: target.map(migrator.knownVersion), database: database),
            for: version, in: database,
            finishing: deferred, source: SourceLocation(fileID: fileID, line: line))
    }

    /// Registers a schema step by GRDB's own `DatabaseMigrator`, so that an app keeps its existing migrations.
    ///
    /// - Parameters:
    ///   - version: the app version; at most one schema step for each database and version.
    ///   - migrator: the database's one migrator.
    ///   - target: the identifier of the last migration to apply; nil for the latest.
    ///   - newerDatabases: what to do if the database has had migrations that the migrator does not have. By default, it is
    ///     an error. `.rollBack` is a mistake in the registration, because GRDB's migrator cannot undo. Migrations that were
    ///     applied before one that the migrator has do not count: they were left out since.
    ///   - removed: the identifiers of migrations that shipped, and that the migrator no longer has. Name the one that was
    ///     the last of a release; others need no name.
    ///   - deferred: the versions of deferred steps to run to their end before the schema step. They cannot be best-effort.
    ///   - database: the database.
    ///   - fileID: the file that registers it, for messages.
    ///   - line: the line in that file.
    public func whenMigratingToVersion(
        _ version: AppVersion, migrate migrator: DatabaseMigrator, upTo target: String? = nil,
        newerDatabases: SchemaOptions.NewerDatabaseRule = .refuse, ignoring removed: Set<String> = [],
        finishing deferred: [AppVersion] = [],
        in database: any DatabaseWriter,
        fileID: StaticString = #fileID,
        line: UInt = #line
    ) {
        register(
            GRDBSchemaStep(
                migrator: migrator, target: target, newerDatabases: newerDatabases, removed: removed,
                database: database),
            for: version, in: database, finishing: deferred,
            source: SourceLocation(fileID: fileID, line: line))
    }

    /// Returns the place of a database, which the step before has nearly always used too.
    ///
    /// To find out which file a database is takes longer than to register a step.
    private func place(of database: any DatabaseWriter) -> SQLiteStore {
        if let place = lastPlace as? SQLiteStore, place.database === database { return place }
        return SQLiteStore(database)
    }

    private func register(
        _ schemaStep: any DatabaseSchemaStep, for version: AppVersion, in database: any DatabaseWriter,
        finishing deferred: [AppVersion], source: SourceLocation
    ) {
        register(
            version, .schemaStep(schemaStep), in: place(of: database), finishing: deferred, source: source)
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
    ///   - deferred: the versions of deferred steps to run to their end before this one. They cannot be best-effort.
    ///   - database: the database.
    ///   - onFreshInstall: whether the step runs in a new database.
    ///   - onError: whether the manager stops when the step throws.
    ///   - foreignKeys: the mode of foreign keys while the step runs. By default, SQLite does not enforce them, so that
    ///     the step can rebuild a table. Before the commit, the manager checks the foreign keys of the touched tables,
    ///     and views and triggers if the schema has changed. If it finds a problem, it rolls the step back and runs it
    ///     once more, to tell new problems, which are an error, from old ones. Pass `.immediate` for a step that relies on
    ///     `ON DELETE CASCADE`.
    ///   - fileID: the file that registers it, for messages.
    ///   - line: the line in that file.
    ///   - body: does the work, inside a transaction, on the database's own queue. Only what it does through
    ///     its argument is undone when it throws or the process dies.
    public func whenMigratingToVersion(
        _ version: AppVersion, finishing deferred: [AppVersion] = [], in database: any DatabaseWriter,
        onFreshInstall: FreshInstallRule = .skip, onError: ErrorRule = .stop,
        foreignKeys: ForeignKeys = .deferred,
        fileID: StaticString = #fileID,
        line: UInt = #line, run body: @escaping @Sendable (Database) throws -> Void
    ) {
        whenMigratingToVersion(
            version, finishing: deferred, in: database, onFreshInstall: onFreshInstall, onError: onError,
            foreignKeys: foreignKeys, fileID: fileID, line: line
        ) { db, _ in try body(db) }
    }

    /// Registers a step that works in one database, *exactly once*, and gets the context of the launch that runs it.
    ///
    /// - Parameters:
    ///   - version: the app version, above that of every step registered before.
    ///   - deferred: the versions of deferred steps to run to their end before this one. They cannot be best-effort.
    ///   - database: the database.
    ///   - onFreshInstall: whether the step runs in a new database.
    ///   - onError: whether the manager stops when the step throws.
    ///   - foreignKeys: the mode of foreign keys while the step runs, as for the step without a context.
    ///   - fileID: the file that registers it, for messages.
    ///   - line: the line in that file.
    ///   - body: does the work, inside a transaction, on the database's own queue. Its context says which attempt this is.
    public func whenMigratingToVersion(
        _ version: AppVersion, finishing deferred: [AppVersion] = [], in database: any DatabaseWriter,
        onFreshInstall: FreshInstallRule = .skip, onError: ErrorRule = .stop,
        foreignKeys: ForeignKeys = .deferred,
        fileID: StaticString = #fileID,
        line: UInt = #line, run body: @escaping @Sendable (Database, MigrationContext) throws -> Void
    ) {
        let place = place(of: database)
        register(
            version, .transaction(DatabaseStep(place: place, foreignKeys: foreignKeys, body: body)),
            in: place, finishing: deferred, onFreshInstall: onFreshInstall, onError: onError,
            source: SourceLocation(fileID: fileID, line: line))
    }

    /// Registers a step that works on the rows of a table after the launch, in batches.
    ///
    /// ```swift
    /// manager.afterMigratingToVersion("2.1", in: dbQueue, overRowsOf: "photo") { db, rows in
    ///     try db.execute(literal: "UPDATE photo SET hash = sha(data) WHERE hash IS NULL AND \(rows.condition)")
    /// }
    /// ```
    ///
    /// `migrate()` only notes which rows there are; `runDeferred(for:while:retrying:)` runs the step, batch by batch, in the
    /// order of the primary key. The rows of a batch and the place where the next one begins are committed together, so
    /// none is left out, and none is done twice. Rows that the app inserts behind the last key are never visited: write
    /// them in the new form. Those that it inserts or writes in between may be, so let the statement say which rows are
    /// old: `hash IS NULL`. A fresh install does not need the step.
    ///
    /// A row that fails is set aside, and each run retries it.
    ///
    /// - Parameters:
    ///   - version: above that of every step registered before for the database.
    ///   - database: the database.
    ///   - table: a table with a primary key, also of text or of several columns. `migrate()` refuses others: SQLite may
    ///     renumber the rows of a table without a key. For these, for views and for virtual tables, use a cursor.
    ///   - onFreshInstall: whether the step runs in a new database.
    ///   - onError: whether the manager gives up on the step after some runs in which rows were left.
    ///   - fileID: the file of the registration, for messages.
    ///   - line: the line in it.
    ///   - body: does the rows of a batch, in a transaction. If it throws, or takes longer than 250 ms, the batch is
    ///     rolled back, and a smaller one is tried.
    public func afterMigratingToVersion(
        _ version: AppVersion, in database: any DatabaseWriter, overRowsOf table: String,
        onFreshInstall: FreshInstallRule = .skip, onError: ErrorRule = .stop, fileID: StaticString = #fileID,
        line: UInt = #line, run body: @escaping @Sendable (Database, DeferredRows) throws -> Void
    ) {
        register(
            RowBatches(table: SQLName(table), body: body), version, database, onFreshInstall, onError,
            SourceLocation(fileID: fileID, line: line))
    }

    /// Registers a step that works in a database after the launch, in batches of calls that say where the next one
    /// begins.
    ///
    /// For tables without a primary key, views and virtual tables, and whatever else can be cut into pieces; see
    /// ``DeferredCursor``. A cursor must come back from JSON exactly as it was; otherwise, the first call is an error.
    ///
    /// - Parameters:
    ///   - version: above that of every step registered before for the database.
    ///   - database: the database.
    ///   - start: where the first call begins.
    ///   - onFreshInstall: whether the step runs in a new database.
    ///   - onError: whether the manager gives up on the step after some runs in which it threw.
    ///   - fileID: the file of the registration, for messages.
    ///   - line: the line in it.
    ///   - body: does a small piece of work. A transaction has as many calls as fit into about 50 ms.
    public func afterMigratingToVersion<Cursor: Codable & Sendable>(
        _ version: AppVersion, in database: any DatabaseWriter, startingAt start: Cursor,
        onFreshInstall: FreshInstallRule = .skip, onError: ErrorRule = .stop, fileID: StaticString = #fileID,
        line: UInt = #line, run body: @escaping @Sendable (Database, Cursor) throws -> DeferredCursor<Cursor>
    ) {
        register(
            CursorBatches(start: start, body: body), version, database, onFreshInstall, onError,
            SourceLocation(fileID: fileID, line: line))
    }

    private func register(
        _ batches: any StepBatches, _ version: AppVersion, _ database: any DatabaseWriter,
        _ onFreshInstall: FreshInstallRule, _ onError: ErrorRule, _ source: SourceLocation
    ) {
        let place = place(of: database)
        register(
            version, .batches(DeferredDatabaseStep(place: place, batches: batches)), in: place,
            onFreshInstall: onFreshInstall, onError: onError, source: source)
    }
}
