import AppMigrations
import Foundation
import GRDB

/// Applies the pending migrations of one database, in transactions that hold the work and the ledger's rows.
///
/// Commits are grouped: migrations run one after the other as savepoints of one transaction, so that a hundred
/// small files cost one sync. A group ends when all is done, when it has run for a while, and where the
/// treatment of foreign keys changes, which SQLite allows only between transactions.
final class SchemaRun {
    /// The savepoint of a migration; it is also how a transaction that was replaced is noticed.
    private static let savepoint = "schema_migrations_savepoint"

    private let migrator: SchemaMigrator
    private let db: Database
    private let target: SchemaVersion?
    private let groupLimit: Duration
    private var committed: [SchemaVersion] = []

    init(
        migrator: SchemaMigrator, db: Database, target: SchemaVersion?,
        groupLimit: Duration = .milliseconds(250)
    ) {
        self.migrator = migrator
        self.db = db
        self.target = target
        self.groupLimit = groupLimit
    }

    /// Runs until nothing is pending, on a connection that is not inside a transaction.
    ///
    /// - Returns: the versions that were applied and committed, in order.
    func run() throws -> [SchemaVersion] {
        do {
            let pending = try pendingNow()
            // Every file is read and looked through before the first one is run.
            var plans = try pending.map(MigrationRunPlan.init)
            try ConnectionSettings(db).whileMigrating {
                repeat {
                    plans =
                        try plans.first?.transaction == SQLFileSettings.Transaction.none
                        ? runBare(plans) : runGroup(plans)
                } while !plans.isEmpty
            }
            return committed
        } catch var error as SchemaMigrationError {
            error.committed = committed
            throw error
        }
    }

    private func pendingNow() throws -> [any SchemaMigration] {
        migrations(pendingBy: try db.waitingForOthers { try migrator.ledger(of: db) })
    }

    private func migrations(pendingBy ledger: Ledger) -> [any SchemaMigration] {
        let pending = Set(migrator.plan(ledger, upTo: target).pending)
        return migrator.migrations.filter { pending.contains($0.version) }
    }

    // MARK: Groups

    /// Runs and commits as many migrations from the front as belong together.
    ///
    /// - Returns: the migrations that are left to run.
    private func runGroup(_ plans: [MigrationRunPlan]) throws -> [MigrationRunPlan] {
        // A database that is adopted at the latest version has nothing to run, but its ledger to be written.
        let foreignKeys = plans.first?.foreignKeys ?? .off
        var done: [MigrationRunPlan] = []
        var left = plans[...]
        var failure: (any Error)?

        let isCommitted = try transaction(foreignKeys: foreignKeys) { ledger in
            let started = ContinuousClock.now
            // Another process may have been faster.
            left.removeAll { ledger.applied.contains($0.version) }
            while let plan = left.first, plan.transaction == .wrapped, plan.foreignKeys == foreignKeys {
                do {
                    try apply(plan)
                } catch {
                    // What ran before it is complete, and is committed.
                    failure = error
                    break
                }
                done.append(plan)
                left.removeFirst()
                guard ContinuousClock.now - started < groupLimit else { break }
            }
            guard db.isInsideTransaction else { return false }
            return try foreignKeys == .unchecked || done.isEmpty || ForeignKeyCheck(db).isClean
        }
        if isCommitted {
            committed += done.map(\.version)
        } else {
            // The failure has taken the transaction with it; or a row refers to none, and one of these has left it
            // or it was there before. Again, one commit at a time.
            try done.forEach(runAlone)
        }
        if let failure { throw failure }
        return Array(left)
    }

    /// Runs and commits one migration, and tells the violations that it leaves from those before it.
    private func runAlone(_ plan: MigrationRunPlan) throws {
        try transaction(foreignKeys: plan.foreignKeys) { ledger in
            guard !ledger.applied.contains(plan.version) else { return true }
            let before = try plan.foreignKeys == .unchecked ? nil : ForeignKeyCheck(db)
            try apply(plan)
            if let before, let violation = try ForeignKeyCheck(db).firstNew(since: before) {
                var error = SchemaMigrationError(
                    .foreignKeyViolation, "\(plan.title): leaves \(violation).",
                    remedy: """
                        Mend it: keep the rows that others refer to, or remove those that refer to them. Nothing \
                        of it stays; what came before it is applied.
                        """,
                    file: plan.title)
                error.version = plan.version
                throw error
            }
            return true
        }
        committed.append(plan.version)
    }

    /// Runs the one statement of a file that asks for no transaction, and then records it.
    private func runBare(_ plans: [MigrationRunPlan]) throws -> [MigrationRunPlan] {
        let plan = plans[0]
        var isPending = true
        try transaction(foreignKeys: plan.foreignKeys) { ledger in
            isPending = !ledger.applied.contains(plan.version)
            return true
        }
        if isPending {
            let seconds = try ContinuousClock().measuring { try describing(plan) { try plan.run(db) {} } }
            try transaction(foreignKeys: plan.foreignKeys) { ledger in
                if !ledger.applied.contains(plan.version) {
                    try Ledger.insert(plan.entry(seconds: seconds), db)
                }
                return true
            }
            committed.append(plan.version)
        }
        return Array(plans.dropFirst())
    }

    /// Opens a transaction, reads the ledger afresh, runs the body, and commits or rolls back.
    ///
    /// - Parameter body: returns whether to commit.
    /// - Returns: what the body returned.
    @discardableResult
    private func transaction(foreignKeys: ForeignKeys, _ body: (Ledger) throws -> Bool) throws -> Bool {
        // pragma.html: this does nothing inside a transaction.
        try db.execute(sql: "PRAGMA foreign_keys = \(foreignKeys == .on ? 1 : 0)")
        try db.beginWriting()
        do {
            // What GRDB remembers of the schema may be another process's past.
            db.clearSchemaCache()
            let ledger = try migrator.ledger(of: db)
            try record(ledger)
            let commits = try body(ledger)
            if commits {
                try db.notifyChanges(in: .fullDatabase)
                try db.commitWriting()
            } else {
                try rollback()
            }
            return commits
        } catch {
            try? rollback()
            throw error
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

    // MARK: One migration

    /// Runs a migration and writes its row, or leaves nothing of it.
    private func apply(_ plan: MigrationRunPlan) throws {
        try db.execute(sql: "SAVEPOINT \(Self.savepoint)")
        do {
            let seconds = try ContinuousClock().measuring { try describing(plan) { try perform(plan) } }
            try Ledger.insert(plan.entry(seconds: seconds), db)
            do {
                try db.execute(sql: "RELEASE \(Self.savepoint)")
            } catch {
                throw transactionEnded(plan)
            }
        } catch {
            if db.isInsideTransaction {
                do {
                    try db.execute(sql: "ROLLBACK TO \(Self.savepoint); RELEASE \(Self.savepoint)")
                } catch {
                    // Not our transaction any more: nothing of it may stay.
                    try db.rollback()
                }
            }
            db.clearSchemaCache()
            throw error
        }
    }

    /// Runs a migration's body, and sees to it that the transaction stands.
    private func perform(_ plan: MigrationRunPlan) throws {
        let watch = TransactionWatch()
        db.add(transactionObserver: watch)
        defer { db.remove(transactionObserver: watch) }
        func check() throws {
            if watch.sawEnd || !db.isInsideTransaction { throw transactionEnded(plan) }
        }
        do {
            try plan.run(db, afterEach: check)
        } catch  where watch.sawEnd {
            throw transactionEnded(plan)
        }
        try check()
    }

    private func transactionEnded(_ plan: MigrationRunPlan) -> SchemaMigrationError {
        var error = SchemaMigrationError(
            .transactionEnded, "\(plan.title): ended the transaction that it was run in.",
            remedy: "Remove what commits or rolls back: the migration and its record are committed together.",
            file: plan.title)
        error.version = plan.version
        return error
    }

    private func describing(_ plan: MigrationRunPlan, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch var error as SchemaMigrationError {
            error.version = plan.version
            if let failure = error.underlyingError as? DatabaseError {
                error.remedy = Self.remedy(for: failure)
            }
            throw error
        } catch {
            let databaseError = error as? DatabaseError
            var failure = SchemaMigrationError(
                .migrationFailed, "\(plan.title): \(error)", remedy: Self.remedy(for: databaseError),
                file: plan.title, underlyingError: error)
            failure.version = plan.version
            failure.sqliteCode = databaseError?.extendedResultCode.rawValue
            throw failure
        }
    }

    /// Not every failure is the migration's own fault.
    private static func remedy(for error: DatabaseError?) -> String {
        error.flatMap(SchemaMigrationError.remedy)
            ?? "Nothing of it stays; what came before it is applied. Mend it, and migrate again."
    }
}
