import AppMigrations
import Foundation
import GRDB
import SchemaMigrations

/// Brings a database to a migration, run by GRDB's `DatabaseMigrator`.
struct GRDBSchemaStep: DatabaseSchemaStep {
    let migrator: DatabaseMigrator
    /// The identifier of the migration to go to; nil for the latest.
    let target: String?
    let newerDatabases: SchemaOptions.NewerDatabaseRule
    /// The app version that is being launched.
    let app: AppVersion
    /// The line of versions that it belongs to.
    let line: String
    /// The identifiers of migrations that shipped, and that the migrator no longer has.
    let removed: Set<String>
    /// The identifiers of migrations that older builds of the app can live with.
    let compatible: Set<String>
    /// The maker of a copy before migrations run; nil for none.
    let backups: BackupMaker?
    let database: any DatabaseWriter

    var goesToLatest: Bool { target == nil }

    /// The default timeout, since GRDB's migrator has no such option.
    var busyTimeout: Duration { .defaultBusyTimeout }

    func readPending(_ db: Database) throws -> (pending: PendingSchema, newer: [String]) {
        let history = try GRDBHistory(db)
        let applied = history.applied
        let unknown = try history.newer(than: migrator, ignoring: removed)
        let files = try filesOfNewerBuild(db)
        let newer = unknown + files.map(\.title)
        let isUsable = try CompatibleMigrations.contains(unknown, db) && files.allSatisfy(\.isCompatible)
        if newerDatabases != .allow, !isUsable {
            throw MigrationError(
                .newerThanThisProcess,
                "The database has had \(newer.joined(separator: ", ")), which GRDB's migrator does not know.",
                remedy: """
                    If a newer version of the app has migrated it, update the app. If this version left migrations out, \
                    pass their identifiers as ignoring: to the schema step. If another migrator has applied them, register \
                    them in this one: a database has one migrator. Nothing was changed.
                    """)
        }
        return (
            PendingSchema(
                apply: covered.filter { !applied.contains($0) },
                writesLedger: try !CompatibleMigrations.contains(compatible.intersection(applied), db),
                covered: covered.count),
            newer
        )
    }

    /// GRDB's table says nothing of versions of the app.
    func latestApp(applyingAfter count: Int, _ db: Database) -> AppVersion? { nil }

    /// Returns the migrations of a newer version of the app, in which files have taken the place of GRDB's migrator.
    ///
    /// Those of this version and of older ones say nothing: GRDB's migrator may have taken the place of files. Nor do those of another
    /// line of versions.
    private func filesOfNewerBuild(_ db: Database) throws -> [AppliedMigration] {
        let newer = try SQLiteStore.seenVersions(db)[line, default: []].map(\.version).filter { $0 > app }
        // Without details, no app version is known, and the ledger may be another tool's.
        guard try !newer.isEmpty && db.hasTable(OwnTables.details) else { return [] }
        return try AppliedMigration.fetchAll(db).filter { migration in
            migration.wasRun && !removed.contains(migration.title)
                && newer.contains { $0 == migration.appVersion }
        }
    }

    func perform(
        _ context: MigrationContext, knowing isKnown: @escaping @Sendable (WorkID) -> Bool
    ) throws -> SchemaStep {
        let progress = context.progress
        try makeBackup(by: context.to, Interrupter(observing: progress))
        let before = try appliedByNow(progress)
        // Also of what is committed before a failure. An observer cannot undo it any more.
        defer { try? notifyObservers() }
        try database.withDurableCommits(waitingUpTo: busyTimeout) {
            try GRDBStop(progress).watch(database) {
                try waitingForOthers { try migrate(from: before, progress) }
            }
        }
        let after = try applied()
        try markCompatible(after)
        return SchemaStep(
            work: context.work,
            schemaVersions: migrator.migrations.filter { after.contains($0) && !before.contains($0) },
            databaseSize: database.fileSize)
    }

    func completeLaunch() { backups?.finish(database) }

    /// Copies the database, unless another process has just applied what is pending.
    ///
    /// GRDB begins a transaction for each migration, so others may write between the copy and the first of them.
    private func makeBackup(by app: AppVersion, _ interrupter: Interrupter) throws {
        guard var backups else { return }
        backups.app = app
        try database.unsafeReentrantWrite { db in
            try db.withWriteTransaction(waitingUpTo: busyTimeout, interrupter: interrupter) {
                let applied = try GRDBHistory(db).applied
                if !covered.allSatisfy(applied.contains) { _ = try backups.copy(db) }
            }
        }
    }

    /// Marks the migrations that older builds can live with.
    ///
    /// In a transaction of its own, since GRDB has committed each migration. If the process dies before, older builds refuse the
    /// database until the next launch of this one.
    private func markCompatible(_ applied: Set<String>) throws {
        let marks = compatible.intersection(applied)
        guard !marks.isEmpty else { return }
        try database.unsafeReentrantWrite { db in
            try db.withWriteTransaction(waitingUpTo: busyTimeout) { try CompatibleMigrations.add(marks, db) }
        }
    }

    /// Lets the app's observers see new columns, of which neither SQLite nor GRDB tells them.
    private func notifyObservers() throws {
        try waitWhileBusy(upTo: busyTimeout) {
            try database.unsafeReentrantWrite { try $0.notifyObserversOfCommitted() }
        }
    }

    /// Lets GRDB's transactions wait for other connections where the app's configuration makes them fail at once.
    private func waitingForOthers(_ body: () throws -> Void) throws {
        guard case .immediateError = database.configuration.busyMode else { return try body() }
        database.unsafeReentrantWrite {
            $0.setBusyTimeout(milliseconds: Int32(busyTimeout / .milliseconds(1)))
        }
        defer { database.unsafeReentrantWrite { $0.setBusyTimeout(milliseconds: 0) } }
        try body()
    }

    private func applied() throws -> Set<String> {
        try database.readSnapshot(waitingUpTo: busyTimeout) { try GRDBHistory($0).applied }
    }

    /// Waits until nobody is writing, and returns the migrations that are applied then.
    ///
    /// GRDB reads them before it waits for the lock, and so would run a migration again that another process is just applying. If its
    /// table was missing, it would wait to create it, and trap if the other process has gone further then. One that begins right after
    /// this still fails the step, which the next launch retries.
    private func appliedByNow(_ progress: Progress) throws -> Set<String> {
        let interrupter = Interrupter(observing: progress)
        return try database.unsafeReentrantWrite { db in
            try db.withWriteTransaction(waitingUpTo: busyTimeout, interrupter: interrupter) {
                try GRDBHistory.record([], in: db)
                return try GRDBHistory(db).applied
            }
        }
    }

    /// Lets GRDB apply the pending migrations, one after the other.
    private func migrate(from before: Set<String>, _ progress: Progress) throws {
        let stops = stops(after: before)
        progress.totalUnitCount = Int64(max(1, stops.count))
        for stop in stops {
            if progress.isCancelled { throw CancellationError() }
            // Another process may have gone further meanwhile, which GRDB does not forgive.
            let target = try furthest(of: stop, appliedByNow(progress))
            let running = database.unsafeReentrantWrite { RunningMigration(on: $0, in: progress) }
            do {
                try migrator.migrate(database, upTo: target)
            } catch {
                running.end(isDone: false)
                let cause = database.unsafeReentrantWrite { $0.explained(error) }
                throw try failure(cause, upTo: target, isCancelled: progress.isCancelled)
            }
            progress.setUserInfoObject(stop, forKey: .migrationName)
            running.end(isDone: true)
        }
    }

    /// Returns an error of a migration as one that names it.
    private func failure(_ error: any Error, upTo target: String, isCancelled: Bool) throws -> any Error {
        // A suspended or busy database is no failure of the migration; a cancelled one has an error of its own.
        guard Obstacle(error) == nil, !(isCancelled && error is CancellationError),
            !(error is MigrationPostponed)
        else { return error }
        let applied = try applied()
        let all = migrator.migrations
        let pending = all.prefix { $0 != target } + [target]
        guard let culprit = pending.first(where: { !applied.contains($0) }) else { return error }
        var failure = MigrationError(
            .stepFailed, "migration `\(culprit)` failed: \(error.quotation)",
            remedy: (error as? DatabaseError)?.remedyOfMigration ?? MigrationError.fixMigration,
            underlyingError: error)
        failure.sqliteCode = (error as? DatabaseError)?.extendedResultCode.rawValue
        failure.migration = culprit
        return failure
    }

    /// Returns the migrations to go to, one after the other.
    ///
    /// GRDB refuses to migrate up to a migration if a later one has run. Going up to the later one also runs those that
    /// are out of order, and forgets those that were merged.
    private func stops(after applied: Set<String>) -> [String] {
        let all = migrator.migrations
        let pending = covered.drop {
            all.lastIndex(where: applied.contains) ?? -1 >= all.firstIndex(of: $0) ?? 0
        }
        guard let last = all.last(where: applied.contains) else { return Array(pending) }
        let isBehind = all.prefix { $0 != last }.contains { !applied.contains($0) }
        return (isBehind || pending.isEmpty ? [last] : []) + pending
    }

    /// Returns a migration, or the last applied one if that is later.
    private func furthest(of identifier: String, _ applied: Set<String>) -> String {
        let later = migrator.migrations.drop { $0 != identifier }.last(where: applied.contains)
        return later ?? identifier
    }

    func mistakes(in schemaSteps: [any SchemaStepWork]) -> [SchemaStepMistake] {
        func mistakes(
            _ problem: String, remedy: String, where isMistaken: (GRDBSchemaStep) -> Bool
        ) -> [SchemaStepMistake] {
            schemaSteps.enumerated().filter { ($1 as? GRDBSchemaStep).map(isMistaken) == true }.map {
                SchemaStepMistake(index: $0.offset, problem: problem, remedy: remedy)
            }
        }
        // GRDB takes a table that no migration makes, such as the manager's, for another schema.
        return mistakes(
            "asks GRDB's migrator to roll back, which it cannot",
            remedy: "Pass newerDatabases: .refuse or .allow."
        ) { $0.newerDatabases == .rollBack }
            + mistakes(
                "lets GRDB's migrator erase the database, with the manager's record",
                remedy: "Leave eraseDatabaseOnSchemaChange off."
            ) { $0.migrator.eraseDatabaseOnSchemaChange }
            + SchemaStepMistake.all(
                in: schemaSteps.map { schemaStep in
                    (schemaStep as? GRDBSchemaStep).map { (set: $0.migrator.migrations, target: $0.target) }
                }, set: migrator.migrations, database: { database.displayName }, title: { $0 })
    }

    /// The migrations up to the target, in the order in which they run.
    private var covered: ArraySlice<String> {
        let all = migrator.migrations
        guard let target, let index = all.firstIndex(of: target) else { return all[...] }
        return all[...index]
    }
}

extension DatabaseError {
    /// The remedy for a failure that the migration may not be to blame for, or that it has not undone; nil for any other.
    fileprivate var remedyOfMigration: String? {
        if isAboutEndedTransaction {
            return """
                The migration ended the transaction that it ran in, and what it did before that may be committed without its \
                record. Leave the transaction open.
                """
        }
        if message?.hasPrefix("FOREIGN KEY constraint violation") == true {
            return """
                It was rolled back. GRDB checks the whole database after a migration, so the row may be older than it: if so, \
                delete such rows in a step before.
                """
        }
        return nil
    }
}
