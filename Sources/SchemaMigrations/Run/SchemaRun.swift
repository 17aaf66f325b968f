import AppMigrations
import Foundation
import GRDB

/// Applies the pending migrations of one database, in transactions that hold the work and the ledger's rows.
///
/// Commits are grouped: migrations run one after the other as savepoints of one transaction, so that a hundred
/// small files cost one sync. A group ends when all is done, when it has run for a while, and where the
/// treatment of foreign keys changes, which SQLite allows only between transactions.
final class SchemaRun {
    private let migrator: SchemaMigrator
    private let db: Database
    private var runner: JobRunner
    private let interrupter: Interrupter
    private let progress: RunProgress?
    private var backup: BackupMaker?
    private var report = SchemaReport()

    /// Prepares a run on a connection that is not inside a transaction.
    init(migrator: SchemaMigrator, db: Database, interrupter: Interrupter, progress: RunProgress?) {
        self.migrator = migrator
        self.db = db
        self.interrupter = interrupter
        self.progress = progress
        runner = JobRunner(db: db, appVersion: migrator.options.appVersion, interrupter: interrupter)
        backup = migrator.options.backup.map(BackupMaker.init)
    }

    /// Applies what is pending, up to a version.
    func migrate(upTo target: SchemaVersion?) throws -> SchemaReport {
        try run {
            let snapshot = try reading {
                try migrator.snapshot(for: migrator.ledger(of: db), db, upTo: target)
            }
            if let snapshot { try load(snapshot) }
            let ledger = try reading { try migrator.ledger(of: db) }
            let pending = Set(migrator.plan(ledger, upTo: target).pending)
            // Every file is read and looked through before the first one is run.
            try carryOut(
                try migrator.migrations.filter { pending.contains($0.version) }.map { try MigrationJob($0) })
        }
    }

    /// Takes migrations back, in the order given.
    func rollBack(_ migrations: [any SchemaMigration]) throws -> SchemaReport {
        try run { try carryOut(try migrations.map { try MigrationJob($0, .down) }) }
    }

    private func run(_ body: () throws -> Void) throws -> SchemaReport {
        do {
            try interrupter.check()
            try SchemaMigrationError.describing { try ConnectionSettings(db).whileMigrating(body) }
            return report
        } catch var error as SchemaMigrationError {
            error.committed = report.applied
            throw error
        }
    }

    private func carryOut(_ jobs: [MigrationJob]) throws {
        try checkCommits(jobs)
        progress?.begin(with: jobs)
        var left = jobs
        repeat {
            left =
                try left.first?.transaction == SQLFileSettings.Transaction.none
                ? runBare(left) : runGroup(left)
        } while !left.isEmpty
    }

    private func checkCommits(_ jobs: [MigrationJob]) throws {
        guard migrator.options.commits == .allOrNothing, let first = jobs.first else { return }
        guard let odd = jobs.first(where: { $0.transaction == .none || $0.foreignKeys != first.foreignKeys })
        else { return }
        throw SchemaMigrationError(
            .refusedStatement,
            odd.transaction == .none
                ? "\(odd.title): runs without a transaction, and cannot be part of all or nothing."
                : "\(odd.title): treats foreign keys otherwise than \(first.title), and cannot share a transaction with it.",
            remedy: "Migrate up to the version before it first, or commit in groups. Nothing was changed.",
            file: odd.title)
    }

    // MARK: Groups

    /// Runs and commits as many migrations from the front as belong together.
    ///
    /// - Returns: the migrations that are left to run.
    private func runGroup(_ jobs: [MigrationJob]) throws -> [MigrationJob] {
        // A database that is adopted at the latest version has nothing to run, but its ledger to be written.
        let foreignKeys = jobs.first?.foreignKeys ?? .off
        var done: [MigrationJob] = []
        var left = jobs[...]
        var failure: (any Error)?
        var suspects = Suspects.none

        let isCommitted: Bool
        do {
            isCommitted = try transaction(foreignKeys: foreignKeys) { ledger in
                let before = try SchemaShape(db)
                let started = ContinuousClock.now
                // Another process may have been faster.
                left.removeAll { ledger.has($0) }
                while let job = left.first, job.transaction == .wrapped, job.foreignKeys == foreignKeys {
                    do {
                        suspects.add(tables: try runner.apply(job), by: job)
                    } catch let error as CancellationError {
                        throw error
                    } catch {
                        // What ran before it is complete, and is committed.
                        failure = error
                        break
                    }
                    done.append(job)
                    left.removeFirst()
                    progress?.advance(job)
                    if case .grouped(let limit) = migrator.options.commits,
                        ContinuousClock.now - started >= limit
                    {
                        break
                    }
                }
                if let failure, migrator.options.commits == .allOrNothing { throw failure }
                guard db.isInsideTransaction, !runner.hasResidue else { return false }
                if done.isEmpty {
                    try notifyObservers(of: .additions)
                    return true
                }
                let after = try SchemaShape(db)
                suspects.add(changesSince: before, to: after)
                guard try Findings(db, suspects, foreignKeys).isEmpty else { return false }
                try notifyObservers(of: after.hasAll(of: before) ? .additions : .anything)
                return true
            }
        } catch {
            // In a damaged database the commit of nothing can fail as well, and says less.
            throw done.isEmpty ? failure ?? error : error
        }
        if isCommitted {
            report.applied += done.map(\.version)
        } else if migrator.options.commits == .allOrNothing {
            try runChecked(done, suspects)
        } else {
            // The failure has taken the transaction with it; or a row refers to none, and one of these has left it
            // or it was there before. Again, one commit at a time.
            for job in done { try runChecked([job], suspects) }
        }
        if let failure { throw failure }
        return Array(left)
    }

    /// Runs migrations in one transaction, and tells what each leaves broken from what was broken before.
    private func runChecked(_ jobs: [MigrationJob], _ suspects: Suspects) throws {
        guard let foreignKeys = jobs.first?.foreignKeys else { return }
        var done: [SchemaVersion] = []
        try transaction(foreignKeys: foreignKeys) { ledger in
            var before = try Findings(db, suspects, foreignKeys)
            for job in jobs where !ledger.has(job) {
                _ = try runner.apply(job)
                done.append(job.version)
                let after = try Findings(db, suspects, foreignKeys)
                if let finding = after.firstNew(since: before) { throw finding.error(blaming: job) }
                before = after
            }
            report.warnings += before.descriptions.filter { !report.warnings.contains($0) }
            try notifyObservers(of: .anything)
            return true
        }
        report.applied += done
    }

    /// Runs the one statement of a file that asks for no transaction, and then records it.
    private func runBare(_ jobs: [MigrationJob]) throws -> [MigrationJob] {
        let job = jobs[0]
        var isPending = true
        try transaction(foreignKeys: job.foreignKeys) { ledger in
            isPending = !ledger.has(job)
            try notifyObservers(of: .additions)
            return true
        }
        if isPending {
            let seconds = try runner.runBare(job, waitingFor: migrator.options.busyTimeout)
            try transaction(foreignKeys: job.foreignKeys) { ledger in
                if !ledger.has(job) { try runner.record(job, seconds: seconds) }
                try notifyObservers(of: .anything)
                return true
            }
            report.applied.append(job.version)
        }
        progress?.advance(job)
        return Array(jobs.dropFirst())
    }

    // MARK: Transactions

    /// Opens a transaction, reads the ledger afresh, runs the body, and commits or rolls back.
    ///
    /// - Parameter body: returns whether to commit.
    /// - Returns: what the body returned.
    @discardableResult
    private func transaction(foreignKeys: ForeignKeys, _ body: (Ledger) throws -> Bool) throws -> Bool {
        // pragma.html: this does nothing inside a transaction.
        try db.execute(sql: "PRAGMA foreign_keys = \(foreignKeys == .on ? 1 : 0)")
        try db.beginWriting(waitingFor: migrator.options.busyTimeout, interrupter: interrupter)
        do {
            // What GRDB remembers of the schema may be another process's past.
            db.clearSchemaCache()
            let ledger = try migrator.ledger(of: db)
            // While nobody else can write, and before the first change.
            report.backup = try backup?.copy(db) ?? report.backup
            backup = nil
            try record(ledger)
            let commits = try body(ledger)
            if commits {
                try db.commitWriting(waitingFor: migrator.options.busyTimeout, interrupter: interrupter)
            } else {
                try rollback()
            }
            return commits
        } catch {
            try? rollback()
            throw error
        }
    }

    /// Reads, and waits while another connection is committing.
    private func reading<Value>(_ body: () throws -> Value) throws -> Value {
        try retryingWhileBusy(for: migrator.options.busyTimeout) {
            try interrupter.check()
            return try db.consistently(body)
        }
    }

    /// What observers cannot see by themselves: they are told of rows by SQLite.
    private enum SchemaChange { case additions, anything }

    /// Tells the app's observers that the schema has changed.
    private func notifyObservers(of change: SchemaChange) throws {
        switch change {
        // Nobody observes a table that is new but who observes all, the ledger too.
        case .additions: try db.notifyChanges(in: Table("schema_migrations"))
        // GRDB asks for the columns of every table to do so.
        case .anything: try db.notifyChanges(in: .fullDatabase)
        }
    }

    private func rollback() throws {
        if db.isInsideTransaction { try db.rollback() }
        db.clearSchemaCache()
    }

    /// Makes the ledger, and writes down what an adopted database has had.
    private func record(_ ledger: Ledger) throws {
        try Ledger.create(db)
        for migration in migrator.migrations where ledger.unmarked.contains(migration.version) {
            try Ledger.insert(.init(version: migration.version, name: migration.name, origin: .marked), db)
        }
    }

    /// Makes the schema of a database that is empty, unless another process has begun to.
    private func load(_ snapshot: Snapshot) throws {
        var isLoaded = false
        try transaction(foreignKeys: .off) { ledger in
            guard !ledger.exists else { return true }
            try interrupter.during(db) { try snapshot.run(db) { try interrupter.check() } }
            for migration in migrator.migrations where snapshot.versions.contains(migration.version) {
                try Ledger.insert(
                    .init(version: migration.version, name: migration.name, origin: .snapshot), db)
            }
            isLoaded = true
            try notifyObservers(of: .additions)
            return true
        }
        if isLoaded { report.applied += snapshot.versions.sorted() }
    }
}

extension Ledger {
    /// Whether a job is done already, by another process.
    fileprivate func has(_ job: MigrationJob) -> Bool {
        applied.contains(job.version) == (job.direction == .up)
    }
}
