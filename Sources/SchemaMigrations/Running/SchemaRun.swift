import AppMigrations
import Foundation
import GRDB
import MigrationDiagnostics

/// A run of one database's migrations, in transactions that hold their work and their rows in the ledger.
///
/// Commits are grouped: migrations run one after the other in one transaction, so that a hundred small files
/// cost one sync. A group ends when everything is done, when it has run for a while, and where the mode of
/// foreign keys changes, which SQLite allows only between transactions.
///
/// Each group passes through ``commit(_:)``. Its SQL files run without savepoints, and their rows in the ledger follow
/// together. If one fails, the run rolls the group back, and runs the files before it again, with savepoints, which
/// takes no longer than a group may.
///
/// If a group leaves something broken, the run rolls it back and runs it again, with a look before and after it, which
/// tells new findings from old ones, which are warnings. If there are new ones, the run does the same with one migration
/// at a time. That identifies the migration at fault.
///
/// What a migration in Swift does outside the database cannot be undone. So it commits alone, and the whole database is
/// inspected before it runs: nothing that others did makes it run a second time.
final class SchemaRun {
    private let migrator: SchemaMigrator
    private let db: Database
    private let interrupter: Interrupter
    private let progress: RunProgress?
    /// The steps that begin again if this run undoes migrations.
    private let restarting: RestartedSteps
    private let limit: Duration
    /// The maker of the backup, which runs before the first change; nil once the backup is made.
    private var backup: BackupMaker?
    /// False once the ledger has the down migrations as they are today.
    private var correctsDownMigrations = true
    /// The unknown migrations that are being undone, newest first; nil while others run.
    ///
    /// No down migration is corrected meanwhile: those of the newer build, which has applied them, may be the corrected ones.
    private var undoing: [AppliedMigration]?
    /// The grouping of migrations into commits.
    private var commits: SchemaOptions.Commits { undoing == nil ? migrator.options.commits : .allOrNothing }
    private var report = SchemaReport()
    /// The migrations that are to run.
    private var jobs: [MigrationJob] = []
    /// The settings of the app's connection, with which each migration begins; nil if none changes them.
    private var settings: ConnectionSettings?
    /// The look at all tables after the last migration in Swift.
    private var look: WholeLook?

    /// Prepares a run on a connection that is not inside a transaction.
    init(
        migrator: SchemaMigrator, db: Database, restarting: RestartedSteps, interrupter: Interrupter,
        progress: RunProgress?
    ) {
        self.migrator = migrator
        self.restarting = restarting
        self.db = db
        self.interrupter = interrupter
        self.progress = progress
        let options = migrator.options
        limit = options.busyTimeout
        backup = options.backupFolder.map {
            BackupMaker(folder: $0, keep: options.keptBackups, app: options.appVersion)
        }
    }

    /// Undoes the unknown migrations that the plan says, and applies the pending ones, up to a version.
    func migrate(
        _ plan: SchemaPlan, upTo target: SchemaVersion?, undoingOnly undoesOnly: Bool
    ) throws -> SchemaReport {
        try run {
            var plan = plan
            // A newer app may migrate while this one waits.
            while !plan.undo.isEmpty {
                try undo(plan.undo)
                plan = try replan(upTo: target)
            }
            report.newer = plan.newer
            if undoesOnly { return }
            if plan.isForNewDatabase, let snapshot = try migrator.snapshot(upTo: target) {
                try load(snapshot)
                plan = try replan(upTo: target)
            }
            if plan.isSettled { return }
            // Every file is read and checked before the first one runs.
            let pending = Set(plan.pending)
            try runAll(
                migrator.migrations.filter { pending.contains($0.version) }.map { try MigrationJob($0) })
        }
    }

    /// Undoes unknown migrations, newest first, or none if the database has others by now.
    private func undo(_ migrations: [AppliedMigration]) throws {
        undoing = migrations
        defer { (undoing, correctsDownMigrations) = (nil, true) }
        do {
            try runAll(migrations.map { try MigrationJob(UnknownMigration(applied: $0), .down) })
        } catch is StalePlan {}
    }

    private func replan(upTo target: SchemaVersion?) throws -> SchemaPlan {
        try waitWhileBusy(upTo: limit, interrupter: interrupter) { try migrator.plan(for: db, upTo: target) }
    }

    /// Rolls back migrations, in the order given.
    func rollBack(_ jobs: [MigrationJob]) throws -> SchemaReport {
        try run { try runAll(jobs) }
    }

    private func run(_ body: () throws -> Void) throws -> SchemaReport {
        do {
            try interrupter.check()
            try MigrationError.mapErrors {
                try db.withDurableCommits(waitingUpTo: limit, body)
            }
            if !migrator.isPartOfLaunch { report.backup.flatMap(BackupAttempt.init)?.finish() }
            progress?.finish()
            return report
        } catch var error as MigrationError {
            error.committed = report.applied + report.undone
            throw error
        }
    }

    private func runAll(_ jobs: [MigrationJob]) throws {
        self.jobs = jobs
        try checkCommits(jobs)
        try checkBaseline(jobs)
        for job in jobs { try job.checkSettings(of: db) }
        if jobs.contains(where: { $0.changesSettings || $0.attaches }) {
            settings = try ConnectionSettings(db)
        }
        try jobs.first?.fileFormat?.apply(to: db, waitingUpTo: limit)
        progress?.begin(with: jobs)
        var left = jobs[...]
        // Runs at least once: an adopted database at the latest version needs a ledger, but no migration.
        repeat {
            if let job = left.first, job.transaction == .none {
                try runAlone(job)
                left.removeFirst()
            } else {
                left = try runGroup(of: left, commits, progress)
            }
        } while !left.isEmpty
        report.warnings += try jobs.compactMap(\.fileFormat).flatMap { try $0.warnings(db) }
    }

    private func checkCommits(_ jobs: [MigrationJob]) throws {
        guard commits == .allOrNothing, let first = jobs.first else { return }
        guard let odd = jobs.first(where: { $0.transaction == .none || $0.foreignKeys != first.foreignKeys })
        else { return }
        throw MigrationError(
            .invalidMigration, at: .file(odd.title),
            odd.transaction == .none
                ? "runs without a transaction, so it cannot share a commit with other migrations"
                : "uses a different foreign-key mode from \(first.title), and so cannot share a transaction with it",
            remedy: "Migrate up to the version before it first, or commit in groups. Nothing was changed.")
    }

    private func checkBaseline(_ jobs: [MigrationJob]) throws {
        guard let baseline = jobs.first(where: \.isBaseline), let lowest = migrator.migrations.first,
            lowest.version < baseline.version
        else { return }
        throw MigrationError(baselineIsNotLowest: baseline.title, lowest.title)
    }

    // MARK: Groups

    /// Runs and commits the migrations at the front that form one group.
    ///
    /// - Returns: the remaining migrations.
    private func runGroup(
        of jobs: ArraySlice<MigrationJob>, _ commits: SchemaOptions.Commits, _ progress: RunProgress?,
        isUndoneAsOne: Bool = true
    ) throws -> ArraySlice<MigrationJob> {
        let group = MigrationGroup(of: jobs, commits, progress, isUndoneAsOne: isUndoneAsOne)
        do {
            try commit(group)
        } catch is UndoneGroup {
            // Those before the one that failed run again, without reporting it. Now each that fails is undone alone.
            var left = group.done[...]
            while !left.isEmpty { left = try runGroup(of: left, commits, nil, isUndoneAsOne: false) }
        } catch let suspicion as SuspectWork where group.isCutShort {
            if try !commitAsOne(group.done, suspicion.suspects) {
                // One that the time has kept out may fix what these leave.
                return try runGroup(of: jobs, .groupedForever, nil, isUndoneAsOne: isUndoneAsOne)
            }
        } catch let suspicion as SuspectWork {
            try retry(group.done, suspicion.suspects)
        } catch  where group.failure != nil && error.isOwnFailure {
            // What a failed migration did to a virtual table may last beyond its savepoint, and fail the commit.
            try retry(group.done, .everything)
        }
        if let failure = group.failure { throw failure }
        return group.left
    }

    /// Runs migrations again: together, since one may fix what another leaves; if that fails, one per commit, or all in one
    /// commit if the options ask for that.
    private func retry(_ jobs: [MigrationJob], _ suspects: Suspects) throws {
        if jobs.count > 1, try commitAsOne(jobs, suspects) { return }
        let batches = commits == .allOrNothing ? [jobs] : jobs.map { [$0] }
        for batch in batches {
            try commit(MigrationGroup(retrying: batch, suspects))
        }
    }

    /// Runs migrations again in one commit, and inspects it as a whole.
    ///
    /// - Returns: false if they fail.
    private func commitAsOne(_ jobs: [MigrationJob], _ suspects: Suspects) throws -> Bool {
        do {
            try commit(MigrationGroup(retrying: jobs, suspects, isInspectedAsOne: true))
            return true
        } catch  where error.isOwnFailure {
            return false
        }
    }

    // A group, from before BEGIN to after COMMIT. Its migrations change tables as SQLite recommends in
    // lang_altertable.html, section 7, "Making Other Kinds Of Table Schema Changes". The steps in quotes are SQLite's;
    // steps 3 to 9 are the migration's own.
    //
    // 1. `commit` turns foreign keys off, unless the group asks for immediate ones. It does so before the transaction,
    //    in which the pragma would do nothing.
    //
    //    > 1. If foreign key constraints are enabled, disable them using PRAGMA foreign_keys=OFF.
    //
    // 2. `withWriteTransaction` begins an immediate transaction, and waits for the lock. From here on no other
    //    connection writes.
    //
    //    > 2. Start a transaction.
    //
    // 3. `prepareLedger` reads the ledger again, because another process may have migrated while this one waited. If
    //    the options ask for it, it compares the schema of an adopted database, and makes the backup. Then it creates
    //    the ledger's tables, if they are missing, and marks adopted versions.
    //
    // 4. `Inspection` notes the schema. In a second attempt, and for migrations in Swift, it finds out what is broken
    //    already, unless it has just looked.
    //
    // 5. `runTogether` runs SQL files one after the other, and then writes their rows to the ledger. `runSingly` runs
    //    the migrations that are left: each with its row, in a savepoint. If migrations were undone, steps whose work
    //    that may have undone too begin again.
    //
    //    > 3. Remember the format of all indexes, triggers, and views associated with table X. […]
    //    > 9. If any views refer to table X in a way that is affected by the schema change, then drop those views […]
    //
    // 6. `Inspection.finish` checks foreign keys, views and triggers, where the group has touched something. If
    //    something is broken, it throws `SuspectWork`, which rolls back the group; `retry` runs it again.
    //
    //    > 10. If foreign key constraints were originally enabled then run PRAGMA foreign_key_check to verify that the
    //    >     schema change did not break any foreign key constraints.
    //
    // 7. `notifyObservers` reports the change to the app's observers, which SQLite would not do for a new schema.
    //
    // 8. `withWriteTransaction` commits, unless the run was cancelled. Only now do migrations and their rows count. An
    //    error or a crash before that undoes the whole group.
    //
    //    > 11. Commit the transaction started in step 2.
    //
    // 9. `commit` detaches what files have attached. When the whole run is over, `withDurableCommits` puts
    //    back the connection's own mode of foreign keys.
    //
    //    > 12. If foreign keys constraints were originally enabled, reenable them now.

    /// Runs the migrations of a group and commits them, each with its row in the ledger.
    ///
    /// Only this method makes migrations permanent, apart from files that ask for no transaction.
    private func commit(_ group: MigrationGroup) throws {
        try db.setForeignKeys(group.foreignKeys)
        // The outcome stands, even if the other database cannot be detached.
        defer { settings?.attached.detachOthers(db) }
        let (warnings, look) = try withLedger { ledger in
            let inspection = try Inspection(
                db, group.foreignKeys, retrying: group.suspects, after: self.look)
            // What names the ledger may need the row of each migration before the next one runs.
            if group.isUndoneAsOne, !ledger.isNamed { try runTogether(group, ledger, inspection) }
            try runSingly(group, ledger, inspection)
            if group.done.contains(where: { $0.direction == .down }) { try restarting.restart(db) }
            let change = try inspection.finish()
            if migrator.options.notifiesObservers { try db.notifyObservers(of: change) }
            return (inspection.warnings, try inspection.wholeLook())
        }
        self.look = look
        report.applied += group.done.filter { $0.direction == .up }.map(\.version)
        report.undone += group.done.filter { $0.direction == .down }.map(\.version)
        report.warnings += warnings.filter { !report.warnings.contains($0) }
    }

    /// Runs the migrations at the front that can be repeated, and then writes their rows to the ledger.
    ///
    /// - Throws: ``UndoneGroup``, when one fails, since nothing undoes it alone.
    private func runTogether(
        _ group: MigrationGroup, _ ledger: Ledger, _ inspection: Inspection
    ) throws {
        let watch = TransactionWatch()
        var seconds: [Double] = []
        var dropped: Set<SQLName> = []
        do {
            try watch.observe(db) {
                while let job = group.next(for: ledger), job.isRepeatable {
                    let duration = try job.run(db, watch, interrupter, restoring: settings)
                    group.succeed()
                    // The app's observers of the progress have run, and no row must be written without its work.
                    try job.checkTransaction(db, watch)
                    seconds.append(duration)
                    dropped.formUnion(job.droppedTables)
                }
            }
        } catch {
            try group.fail(error, after: seconds.count)
            throw UndoneGroup()
        }
        for (index, job) in group.done.enumerated() {
            do {
                try Ledger.record(job, taking: seconds[index], app: migrator.options.appVersion, db)
            } catch {
                try group.fail(error, after: index)
                throw UndoneGroup()
            }
        }
        inspection.add(tables: watch.tables.union(dropped))
    }

    /// Runs the remaining migrations of a group, of which each that fails is undone alone.
    private func runSingly(
        _ group: MigrationGroup, _ ledger: Ledger, _ inspection: Inspection
    ) throws {
        while let job = group.next(for: ledger) {
            let savepoint = try Savepoint(db)
            do {
                group.begin(on: db)
                let watch = TransactionWatch()
                let seconds = try watch.observe(db) {
                    try job.run(db, watch, interrupter, restoring: settings)
                }
                try Ledger.record(job, taking: seconds, app: migrator.options.appVersion, db)
                if !group.isInspectedAsOne,
                    let new = try inspection.firstNew(
                        touched: watch.tables.union(job.droppedTables), byCode: job.isCode)
                {
                    throw MigrationError(new, leftBy: job)
                }
                try savepoint.release(after: job)
                group.succeed()
            } catch {
                let isUndone = savepoint.undo()
                try group.fail(error, after: group.done.count)
                if !isUndone { throw SuspectWork(suspects: .everything) }
            }
        }
        if group.isInspectedAsOne, let last = group.done.last,
            let new = try inspection.firstNew(touched: [], byCode: false, byMany: true)
        {
            throw MigrationError(new, leftBy: last)
        }
    }

    /// Runs the one statement of a file without a transaction, and records it afterwards.
    ///
    /// The statement runs at least once: if the process dies in between, or another connection is in the way, it runs again.
    private func runAlone(_ job: MigrationJob) throws {
        try db.setForeignKeys(job.foreignKeys)
        let isNeeded = try withLedger { ledger in
            try db.notifyObservers(of: .additions)
            return ledger.needs(job)
        }
        if isNeeded {
            let seconds = try job.runWithoutTransaction(
                db, interrupter, restoring: settings, waitingUpTo: limit)
            try withLedger { ledger in
                if ledger.needs(job) {
                    try Ledger.record(job, taking: seconds, app: migrator.options.appVersion, db)
                    if job.direction == .down { try restarting.restart(db) }
                }
                try db.notifyObservers(of: .anything)
            }
            switch job.direction {
            case .up: report.applied.append(job.version)
            case .down: report.undone.append(job.version)
            }
        }
        progress?.advance(job)
    }

    /// Creates the schema of a new database from a snapshot, unless another process has begun to.
    private func load(_ snapshot: Snapshot) throws {
        try db.setForeignKeys(.deferred)
        try FileFormat(snapshot.script, title: snapshot.script.fileName).apply(to: db, waitingUpTo: limit)
        let isLoaded = try withLedger { ledger in
            guard ledger.isNew else { return false }
            try interrupter.allowInterrupts(of: db) { try snapshot.run(db) { try interrupter.check() } }
            try mark(snapshot.versions, as: .snapshot)
            try db.notifyObservers(of: .additions)
            return true
        }
        if isLoaded { report.applied += snapshot.versions.inOrder() }
    }

    // MARK: The ledger

    /// Runs the body in a transaction, with the ledger as it was read in it.
    private func withLedger<Result>(_ body: (Ledger) throws -> Result) throws -> Result {
        let result = try db.withWriteTransaction(waitingUpTo: limit, interrupter: interrupter) {
            try body(prepareLedger())
        }
        correctsDownMigrations = false
        return result
    }

    /// Reads the ledger under the lock, since another process may have migrated first, and creates its
    /// tables.
    ///
    /// Before that, and so before the first change, it verifies an adoption and copies the database, if the options ask
    /// for that.
    ///
    /// - Returns: the ledger as it was read.
    private func prepareLedger() throws -> Ledger {
        let ledger = try migrator.ledger(of: db)
        if let undoing, ledger.newer.reversed() != undoing { throw StalePlan() }
        if let warning = try migrator.verifyAdoption(db, ledger), !report.warnings.contains(warning) {
            report.warnings.append(warning)
        }
        // Another process may have applied everything meanwhile, and has the copy from before that.
        if jobs.isEmpty || !ledger.unmarked.isEmpty || jobs.contains(where: ledger.needs) {
            report.backup = try backup?.copy(db) ?? report.backup
            backup = nil
        }
        try Ledger.create(db)
        try mark(ledger.unmarked, as: .marked)
        if undoing == nil, correctsDownMigrations { try migrator.correctDownMigrations(db, ledger) }
        return ledger
    }

    /// Writes applied versions to the ledger without running them.
    private func mark(_ versions: Set<SchemaVersion>, as origin: AppliedMigration.Origin) throws {
        for migration in migrator.migrations where versions.contains(migration.version) {
            try Ledger.insert(.init(migration, markedAs: origin), db)
        }
    }
}

/// An error that says that a newer app has migrated since the plan was made.
private struct StalePlan: Error {}

/// An error that rolls back a group, of which the migrations before the one that failed have to run again.
private struct UndoneGroup: Error {}

extension SchemaOptions.Commits {
    /// Migrations share a commit, however long they take.
    fileprivate static let groupedForever = Self.grouped(after: .seconds(Int.max))
}
