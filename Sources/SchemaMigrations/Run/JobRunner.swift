import AppMigrations
import Foundation
import GRDB
import MigrationDiagnostics

/// Runs one migration inside a transaction that is open, together with its row in the ledger: both or neither.
struct JobRunner {
    /// The savepoint of a migration; it is also how a transaction that was replaced is noticed.
    private static let savepoint = "schema_migrations_savepoint"

    let db: Database
    let appVersion: String?
    let interrupter: Interrupter
    /// Whether the migration that has failed could not be undone by itself: its transaction must not be committed.
    private(set) var hasResidue = false

    init(db: Database, appVersion: String?, interrupter: Interrupter) {
        self.db = db
        self.appVersion = appVersion
        self.interrupter = interrupter
    }

    /// Runs a migration and writes its row, or leaves nothing of it.
    ///
    /// - Returns: the tables whose rows it has changed, and those that it has dropped.
    mutating func apply(_ job: MigrationJob) throws -> Set<String> {
        hasResidue = false
        try db.cachedStatement(sql: "SAVEPOINT \(Self.savepoint)").execute()
        do {
            let watch = TransactionWatch()
            let seconds = try ContinuousClock().measuring {
                try describing(job) { try perform(job, watch) }
            }
            try record(job, seconds: seconds)
            do {
                try db.cachedStatement(sql: "RELEASE \(Self.savepoint)").execute()
            } catch {
                throw transactionEnded(job)
            }
            return watch.tables.union(job.droppedTables)
        } catch {
            do {
                try db.execute(sql: "ROLLBACK TO \(Self.savepoint); RELEASE \(Self.savepoint)")
            } catch {
                // It has ended our transaction, or SQLite has no memory left.
                hasResidue = true
            }
            db.clearSchemaCache()
            throw error
        }
    }

    /// Runs the one statement of a file that asks for no transaction.
    ///
    /// - Returns: how long it took, in seconds.
    func runBare(_ job: MigrationJob, waitingFor limit: Duration) throws -> Double {
        try ContinuousClock().measuring {
            try describing(job) {
                // A statement that finds the database locked has done nothing.
                try retryingWhileBusy(for: limit) { try interrupter.during(db) { try job.run(db) {} } }
            }
        }
    }

    /// Writes that a migration has been applied, or taken back.
    func record(_ job: MigrationJob, seconds: Double) throws {
        switch job.direction {
        case .up:
            let entry = Ledger.Entry(
                version: job.version, name: job.migration.name, origin: .applied, checksum: job.checksum,
                seconds: seconds, app: appVersion)
            try Ledger.insert(entry, db)
        case .down:
            try Ledger.remove(job.version, db)
        }
    }

    /// Runs a migration's body, and sees to it that the transaction stands.
    private func perform(_ job: MigrationJob, _ watch: TransactionWatch) throws {
        db.add(transactionObserver: watch)
        defer { db.remove(transactionObserver: watch) }
        func check() throws {
            if watch.sawEnd || !db.isInsideTransaction { throw transactionEnded(job) }
            try interrupter.check()
        }
        do {
            try interrupter.during(db) { try job.run(db, afterEach: check) }
        } catch {
            throw watch.sawEnd && !interrupter.isCancelled ? transactionEnded(job) : error
        }
        try check()
    }

    private func transactionEnded(_ job: MigrationJob) -> SchemaMigrationError {
        var error = SchemaMigrationError(
            .transactionEnded, "\(job.title): ended the transaction that it was run in.",
            remedy: "Remove what commits or rolls back: the migration and its record are committed together.",
            file: job.title)
        error.version = job.version
        return error
    }

    private func describing(_ job: MigrationJob, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as CancellationError {
            throw error
        } catch var error as SchemaMigrationError {
            error.version = job.version
            if let failure = error.underlyingError as? DatabaseError {
                error.remedy = remedy(for: failure)
            }
            throw error
        } catch {
            let databaseError = error as? DatabaseError
            var failure = SchemaMigrationError(
                .migrationFailed, "\(job.title): \("\(error)".asSentence)",
                remedy: remedy(for: databaseError),
                file: job.title, underlyingError: error)
            failure.version = job.version
            failure.sqliteCode = databaseError?.extendedResultCode.rawValue
            throw failure
        }
    }

    /// Not every failure is the migration's own fault.
    private func remedy(for error: DatabaseError?) -> String {
        let remedy =
            error.flatMap(SchemaMigrationError.remedy)
            ?? "Nothing of it stays; what came before it is applied. Mend it, and migrate again."
        let hint = db.hintAtDoubleQuotedText(message: error?.message, sql: error?.sql)
        return hint.map { "\($0) \(remedy)" } ?? remedy
    }
}

extension ContinuousClock {
    /// How many seconds the body took.
    package func measuring(_ body: () throws -> Void) rethrows -> Double {
        try measure(body).inSeconds
    }
}
