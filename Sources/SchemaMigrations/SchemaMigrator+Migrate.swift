import AppMigrations
public import Foundation
public import GRDB

extension SchemaMigrator {
    /// Applies the pending migrations, oldest first.
    ///
    /// Call it outside any access to the database, before the app uses it and before observers are added: those
    /// would buffer every row. When nothing is pending, nothing is locked, nothing is written, and no migration is
    /// read. Never migrates down: what is applied above the version stays.
    ///
    /// - Parameters:
    ///   - database: the database; the calling thread waits while its own queue works.
    ///   - version: the version of a known migration, that included; nil for the latest.
    ///   - progress: is given a total by the work that there is, and counts up; its user info names the migration
    ///     that was applied last, under `.migrationName`. Cancelling it stops the run, inside a statement too where SQLite can
    ///     be interrupted, and undoes what is not yet committed.
    /// - Returns: what was done.
    /// - Throws: ``SchemaMigrationError``; what was committed before stays, and
    ///   ``SchemaMigrationError/committed`` tells it. `CancellationError`.
    @discardableResult
    public func migrate(
        _ database: any DatabaseWriter, upTo version: SchemaVersion? = nil, progress: Progress? = nil
    ) throws -> SchemaReport {
        try migrate(database, upTo: version, progress: progress, interrupter: Interrupter())
    }

    /// Applies the pending migrations, oldest first, without blocking the caller's thread.
    ///
    /// Cancelling the task stops the run, as cancelling the progress does.
    ///
    /// - Throws: as the synchronous `migrate(_:upTo:progress:)` does.
    @discardableResult
    public func migrate(
        _ database: any DatabaseWriter, upTo version: SchemaVersion? = nil, progress: Progress? = nil
    ) async throws -> SchemaReport {
        let interrupter = Interrupter()
        return try await withTaskCancellationHandler {
            try await offload {
                try migrate(database, upTo: version, progress: progress, interrupter: interrupter)
            }
        } onCancel: {
            interrupter.cancel()
        }
    }

    /// Opens a database file, applies the pending migrations, and closes it.
    ///
    /// - Parameters:
    ///   - path: the file, which is made if there is none.
    ///   - version: the version of a known migration, that included; nil for the latest.
    ///   - progress: as for `migrate(_:upTo:progress:)`.
    /// - Throws: as `migrate(_:upTo:progress:)` does.
    @discardableResult
    public func migrate(
        path: String, upTo version: SchemaVersion? = nil, progress: Progress? = nil
    ) throws -> SchemaReport {
        let database = try SchemaMigrationError.describing { try DatabaseQueue.opening(path: path) }
        let result = Result { try migrate(database, upTo: version, progress: progress) }
        try database.close()
        return try result.get()
    }

    /// Takes back every migration above a version, newest first.
    ///
    /// For the developer's desk. Nothing else ever migrates down. Asks for every way back before it starts; a
    /// `.down.sql` file without a statement is none.
    ///
    /// - Parameters:
    ///   - database: the database.
    ///   - version: a version that the database has had, which stays; 0 to take back everything.
    /// - Returns: the versions that were taken back, newest first.
    /// - Throws: ``SchemaMigrationError``, `irreversible` when there is no way back from one of them.
    @discardableResult
    public func rollback(_ database: any DatabaseWriter, to version: SchemaVersion) throws -> [SchemaVersion]
    {
        if version != 0 { try check(version) }
        return try writing(database) { db in
            let applied = try retryingWhileBusy(for: options.busyTimeout) {
                try db.consistently { try ledger(of: db).applied.filter { $0 > version }.sorted(by: >) }
            }
            let ways = try applied.map { version in
                guard let migration = migration(version: version), try hasWayBack(migration) else {
                    throw try irreversible(applied)
                }
                return migration
            }
            let run = SchemaRun(migrator: self, db: db, interrupter: Interrupter(), progress: nil)
            return try run.rollBack(ways).applied
        }
    }

    /// Brings a copy that was made before migrating back into the database.
    ///
    /// - Parameters:
    ///   - backup: the copy, from ``SchemaReport/backup`` or from the folder of the copies.
    ///   - database: the database, open and not in use. What it holds is replaced.
    /// - Throws: ``SchemaMigrationError``, when the copy is not a database.
    public func restore(_ backup: URL, to database: any DatabaseWriter) throws {
        try SchemaMigrationError.describing {
            var configuration = Configuration()
            configuration.readonly = true
            let copy = try DatabaseQueue(path: backup.path, configuration: configuration)
            let check = try copy.read { try IntegrityCheck($0, .quick, limit: 1) }
            guard check.problems.isEmpty else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
            try copy.backup(to: database)
            try copy.close()
        }
    }
}

extension SchemaMigrator {
    func migrate(
        _ database: any DatabaseWriter, upTo target: SchemaVersion?, progress: Progress?,
        interrupter: Interrupter
    ) throws -> SchemaReport {
        if let target { try check(target) }
        let isDone = try reading(database) { db in
            if try hasEverything(db, upTo: target) { return true }
            return try db.consistently {
                let ledger = try ledger(of: db)
                return ledger.unmarked.isEmpty && plan(ledger, upTo: target).pending.isEmpty
            }
        }
        if isDone {
            progress.map(RunProgress.finish)
            return SchemaReport()
        }
        let runProgress = progress.map { RunProgress(in: $0, stopping: interrupter) }
        return try writing(database) { db in
            try SchemaRun(migrator: self, db: db, interrupter: interrupter, progress: runProgress)
                .migrate(upTo: target)
        }
    }

    /// Reads the database, outside any transaction.
    private func reading<Value>(
        _ database: any DatabaseReader, _ body: (Database) throws -> Value
    ) throws -> Value {
        try SchemaMigrationError.describing {
            try retryingWhileBusy(for: options.busyTimeout) {
                try database.unsafeReentrantRead { db in
                    try checkIsOutside(db)
                    return try body(db)
                }
            }
        }
    }

    /// Runs the body on the connection that writes, outside any transaction.
    func writing<Value>(_ database: any DatabaseWriter, _ body: (Database) throws -> Value) throws -> Value {
        try SchemaMigrationError.describing {
            try database.unsafeReentrantWrite { db in
                try checkIsOutside(db)
                return try body(db)
            }
        }
    }

    private func checkIsOutside(_ db: Database) throws {
        guard db.isInsideTransaction else { return }
        throw SchemaMigrationError(
            .insideTransaction, "A database cannot be migrated inside a transaction.",
            remedy: "Migrate before db.write { … } or db.read { … }, not in it.")
    }

    /// Whether a migration can be taken back; a file in which no statement stands takes nothing back.
    private func hasWayBack(_ migration: any SchemaMigration) throws -> Bool {
        guard let source = migration as? any SQLSource else { return migration.isReversible }
        return try source.downScript().map { !$0.statements.isEmpty } ?? false
    }

    private func irreversible(_ applied: [SchemaVersion]) throws -> SchemaMigrationError {
        let missing = try applied.compactMap { version in
            guard let migration = migration(version: version) else { return "\(version), which is unknown" }
            return try hasWayBack(migration) ? nil : migration.title
        }
        return SchemaMigrationError(
            .irreversible, "There is no way back from \(missing.joined(separator: ", ")).",
            remedy: "Write a .down.sql file beside each, or a rollback in Swift. Nothing was changed.")
    }
}
