public import AppMigrations
public import GRDB
import SchemaMigrations

extension MigrationManager {
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
    /// none is left out, and none is done twice. Without `again:`, rows that the app inserts behind the last key are never
    /// visited: write them in the new form. Those that it inserts or writes in between may be, so let the statement say which rows are
    /// old: `hash IS NULL`. A fresh install does not need the step.
    ///
    /// A row that fails is set aside, and each run retries it, after all others.
    ///
    /// Rows in the old form may come later, too: from an older build, from another device, from a backup. Say which rows these
    /// are, and each `runDeferred` looks for them, wherever their keys are, and so does a launch before a step that is
    /// `finishing:` this one. Once that step has run, neither does:
    ///
    /// ```swift
    /// manager.afterMigratingToVersion("2.1", in: dbQueue, overRowsOf: "photo", again: "hash IS NULL") { db, rows in
    ///     try db.execute(literal: "UPDATE photo SET hash = sha(data) WHERE \(rows.condition)")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - version: above that of every step registered before for the database; only a schema step may have the same.
    ///   - database: the database.
    ///   - table: a table with a primary key, also of text or of several columns. With any other, the step fails: SQLite may
    ///     renumber the rows of a table without a key. For these, for views and for virtual tables, use a cursor.
    ///   - onFreshInstall: whether the step runs in a new database.
    ///   - condition: the SQL condition for rows that need the step. The step visits these alone, and runs again whenever
    ///     one is found. A row for which it holds after the step has visited it has failed. An index for it, such as
    ///     `CREATE INDEX photo_old ON photo(id) WHERE hash IS NULL`, makes looking free.
    ///   - fileID: the file of the registration, for messages.
    ///   - line: the line in it.
    ///   - body: does the rows of a batch, in a transaction. If it throws, or takes longer than 250 ms, the batch is
    ///     rolled back, and a smaller one is tried.
    public func afterMigratingToVersion(
        _ version: AppVersion, in database: any DatabaseWriter, overRowsOf table: String,
        onFreshInstall: FreshInstallRule = .skip, again condition: SQL? = nil,
        fileID: StaticString = #fileID,
        line: UInt = #line, run body: @escaping @Sendable (Database, DeferredRows) throws -> Void
    ) {
        register(
            RowBatches(
                table: SQLName(table), condition: condition, body: body,
                limitsTime: environment.limitsTime), version, database, onFreshInstall,
            hasCondition: condition != nil, SourceLocation(fileID: fileID, line: line))
    }

    /// Registers a step that works in a database after the launch, in batches of calls that say where the next one
    /// begins.
    ///
    /// For tables without a primary key, views and virtual tables, and whatever else can be cut into pieces; see
    /// ``DeferredCursor``. A cursor must come back from JSON exactly as it was; otherwise, the first call is an error. One with a
    /// `Set`, or with a dictionary whose keys are no texts, must be `Equatable`: these have no order.
    ///
    /// - Parameters:
    ///   - version: above that of every step registered before for the database; only a schema step may have the same.
    ///   - database: the database.
    ///   - start: where the first call begins.
    ///   - onFreshInstall: whether the step runs in a new database.
    ///   - fileID: the file of the registration, for messages.
    ///   - line: the line in it.
    ///   - body: does a small piece of work. A transaction has as many calls as fit into about 50 ms.
    public func afterMigratingToVersion<Cursor: Codable & Sendable>(
        _ version: AppVersion, in database: any DatabaseWriter, startingAt start: Cursor,
        onFreshInstall: FreshInstallRule = .skip, fileID: StaticString = #fileID,
        line: UInt = #line, run body: @escaping @Sendable (Database, Cursor) throws -> DeferredCursor<Cursor>
    ) {
        register(
            CursorBatches(start: start, body: body), version, database, onFreshInstall,
            SourceLocation(fileID: fileID, line: line))
    }

    private func register(
        _ batches: any StepBatches, _ version: AppVersion, _ database: any DatabaseWriter,
        _ onFreshInstall: FreshInstallRule, hasCondition: Bool = false, _ source: SourceLocation
    ) {
        let place = place(of: database)
        register(
            version, .batches(DeferredDatabaseStep(place: place, batches: batches)), in: place,
            onFreshInstall: onFreshInstall, hasCondition: hasCondition, source: source)
    }
}
