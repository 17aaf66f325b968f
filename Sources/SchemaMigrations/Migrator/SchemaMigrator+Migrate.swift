import AppMigrations
public import Foundation
public import GRDB
import MigrationDiagnostics

extension SchemaMigrator {
    /// Applies the pending migrations, oldest first.
    ///
    /// ```swift
    /// let report = try schema.migrate(dbQueue)
    /// report.applied                        // [20240110090000000, 20240601120000000]
    /// ```
    ///
    /// Call it outside any access to the database, before the app uses it, and before you add observers,
    /// which would buffer every row. If nothing is pending, it locks nothing, writes nothing, and reads no
    /// migration. It never migrates down: migrations already applied above the version stay.
    ///
    /// - Parameters:
    ///   - database: the database; the calling thread waits while its own queue works.
    ///   - version: the version of the last migration to apply; nil for the latest.
    ///   - progress: gets a total that reflects the work to do, and counts up. Cancelling it stops the run, inside a
    ///     statement too where SQLite can be interrupted, and rolls back uncommitted migrations.
    /// - Returns: a report of the applied migrations.
    /// - Throws: `MigrationError`, or `CancellationError`. Migrations that were already committed stay.
    @discardableResult
    public func migrate(
        _ database: any DatabaseWriter, upTo version: SchemaVersion? = nil, progress: Progress? = nil
    ) throws -> SchemaReport {
        try migrate(
            database, upTo: version, progress: progress, interrupter: Interrupter(observing: progress))
    }

    /// Applies the pending migrations, oldest first, without blocking the caller's thread.
    ///
    /// ```swift
    /// let report = try await schema.migrate(dbQueue)
    /// ```
    ///
    /// Cancelling the task stops the run, as cancelling the progress does.
    ///
    /// - Parameters:
    ///   - database: the database.
    ///   - version: the version of the last migration to apply; nil for the latest.
    ///   - progress: gets a total that reflects the work to do, and counts up. Cancelling it stops the run.
    /// - Throws: as the synchronous `migrate(_:upTo:progress:)` does.
    @discardableResult
    public func migrate(
        _ database: any DatabaseWriter, upTo version: SchemaVersion? = nil, progress: Progress? = nil
    ) async throws -> SchemaReport {
        let interrupter = Interrupter(observing: progress)
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
    ///   - path: the file, which is created if it does not exist.
    ///   - configuration: GRDB's configuration, used unchanged, for example with the passphrase of an encrypted
    ///     database. If nil, the connection waits while another one writes.
    ///   - version: the version of the last migration to apply; nil for the latest.
    ///   - progress: as for `migrate(_:upTo:progress:)`.
    /// - Throws: as `migrate(_:upTo:progress:)` does.
    @discardableResult
    public func migrate(
        path: String, configuration: Configuration? = nil, upTo version: SchemaVersion? = nil,
        progress: Progress? = nil
    ) throws -> SchemaReport {
        var waiting = Configuration()
        waiting.busyMode = .timeout(min(options.busyTimeout.inSeconds, 5))
        let configuration = configuration ?? waiting
        let database = try MigrationError.mapErrors {
            try SQLiteFile(path: path, configuration: configuration, waitingFor: options.busyTimeout)
                .openQueue()
        }
        let result = Result { try migrate(database, upTo: version, progress: progress) }
        try database.close()
        return try result.get()
    }
}

extension SchemaMigrator {
    /// Looks for pending migrations without a lock, and runs them.
    ///
    /// - Parameters:
    ///   - undoesOnly: true to undo unknown migrations, if the options ask for that, and apply none.
    ///   - restarting: the steps that begin again if migrations are undone; nil for all in the database.
    @inline(never)
    func migrate(
        _ database: any DatabaseWriter, upTo target: SchemaVersion?, undoingOnly undoesOnly: Bool = false,
        restarting: RestartedSteps? = nil,
        progress: Progress?, interrupter: Interrupter
    ) throws -> SchemaReport {
        if let target { try check(target) }
        let target = target.map(knownVersion)
        let plan = try withReader(database) { try self.plan(for: $0, upTo: target) }
        if plan.isSettled {
            progress?.finish()
            return SchemaReport(newer: plan.newer)
        }
        let runProgress = progress.map(RunProgress.init(in:))
        return try interrupter.whileActive {
            try withWriter(database) { db in
                var report = try SchemaRun(
                    migrator: self, db: db, restarting: restarting ?? RestartedSteps(database: database),
                    interrupter: interrupter, progress: runProgress
                ).migrate(plan, upTo: target, undoingOnly: undoesOnly)
                try verify(db, &report)
                return report
            }
        }
    }

    /// Runs the body on a reading connection, outside any transaction, and retries while the database is
    /// busy.
    private func withReader<Value>(
        _ database: any DatabaseReader, _ body: (Database) throws -> Value
    ) throws -> Value {
        try MigrationError.mapErrors {
            try waitWhileBusy(upTo: options.busyTimeout) {
                try database.unsafeReentrantRead { db in
                    try checkIsOutsideTransaction(db)
                    return try body(db)
                }
            }
        }
    }

    /// Runs the body on the writing connection, outside any transaction.
    package func withWriter<Value>(
        _ database: any DatabaseWriter, _ body: (Database) throws -> Value
    ) throws -> Value {
        try MigrationError.mapErrors {
            try database.unsafeReentrantWrite { db in
                try checkIsOutsideTransaction(db)
                return try body(db)
            }
        }
    }

    private func checkIsOutsideTransaction(_ db: Database) throws {
        guard db.isInsideTransaction else { return }
        throw MigrationError(
            .misuse, "A database cannot be migrated inside a transaction",
            remedy: "Migrate before `db.write { … }` or `db.read { … }`, not inside.")
    }
}

extension SchemaMigrator {
    /// Rolls back every migration above a version, newest first.
    ///
    /// For use during development: nothing else ever migrates down. Checks that every migration is reversible
    /// first; an empty `.down.sql` does not count.
    ///
    /// ```swift
    /// try schema.rollback(dbQueue, to: 20240110090000000)
    /// ```
    ///
    /// - Parameters:
    ///   - database: the database.
    ///   - version: the version to go back to, which stays; 0 to roll back everything (-1 if a file has version 0).
    /// - Returns: the versions that were rolled back, newest first.
    /// - Throws: `MigrationError`, for instance when one of the migrations is irreversible.
    @discardableResult
    public func rollback(_ database: any DatabaseWriter, to version: SchemaVersion) throws -> [SchemaVersion]
    {
        if version != 0, version != -1 { try check(version) }
        let interrupter = Interrupter(observing: nil)
        return try interrupter.whileActive {
            try withWriter(database) {
                try rollback($0, to: version, RestartedSteps(database: database), interrupter)
            }
        }
    }

    private func rollback(
        _ db: Database, to version: SchemaVersion, _ restarting: RestartedSteps, _ interrupter: Interrupter
    ) throws -> [SchemaVersion] {
        let applied = try waitWhileBusy(upTo: options.busyTimeout) {
            try db.readSnapshot { try ledger(of: db).applied.filter { $0 > version }.inOrder(by: >) }
        }
        let jobs = try downMigrations(of: applied)
        return try SchemaRun(
            migrator: self, db: db, restarting: restarting, interrupter: interrupter, progress: nil
        ).rollBack(jobs).undone
    }

    /// Returns the checked down migrations of versions, in the order given.
    private func downMigrations(of versions: [SchemaVersion]) throws -> [MigrationJob] {
        var jobs: [MigrationJob] = []
        var irreversible: [String] = []
        for version in versions {
            guard let migration = migration(version: version) else {
                irreversible.append("\(version) (unknown)")
                continue
            }
            let job = try MigrationJob(migration, .down)
            if job.hasBody { jobs.append(job) } else { irreversible.append(migration.title) }
        }
        guard irreversible.isEmpty else { throw MigrationError(irreversible: irreversible) }
        return jobs
    }
}

extension MigrationError {
    /// Creates an error for migrations that cannot be rolled back.
    init(irreversible titles: [String]) {
        self.init(
            .misuse, "There is no down migration for \(titles.joined(separator: ", "))",
            remedy: """
                Give each a .down.sql file, or a `down:` or `rollback:` argument. Nothing was changed.
                """)
    }
}
