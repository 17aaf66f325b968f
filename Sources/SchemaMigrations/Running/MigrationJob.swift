import AppMigrations
import Foundation
import GRDB
import MigrationDiagnostics

/// A migration to run, up or down, with the results of checking it beforehand.
///
/// It does not keep the contents of large files, since all files are checked before the first one runs, and
/// there may be a thousand.
final class MigrationJob {
    enum Direction { case up, down }

    let migration: any SchemaMigration
    let direction: Direction
    let foreignKeys: ForeignKeys
    let transaction: SQLFileSettings.Transaction
    let checksum: String?
    /// True if apps that do not know the migration can use the database after it.
    let isCompatible: Bool
    /// True if the migration stands for older ones, which were squashed.
    let isBaseline: Bool
    /// The tables that a file drops.
    ///
    /// A table that is created again under its old name is hard to tell from the old one.
    let droppedTables: Set<SQLName>
    /// The settings of the database file that a file asks for; nil if there are none.
    let fileFormat: FileFormat?
    /// True if the migration may change settings of the connection.
    let changesSettings: Bool
    /// True if the migration can be undone with those before it and run again, and needs no row of theirs in the ledger.
    ///
    /// What a migration in Swift does outside the database cannot be undone.
    let isRepeatable: Bool
    /// True if the migration attaches a database, which can be detached only between transactions.
    let attaches: Bool
    /// The line that sets the time to wait for other connections; nil if there is none.
    private let busyTimeoutLine: Int?
    /// The amount of work, for progress.
    let weight: Int64
    /// True if the migration has a body: a down migration may be missing, or hold no statement.
    let hasBody: Bool
    /// The migration's name in messages: that of its file, where it has one.
    let title: String
    /// The parsed file, kept if it is small, because parsing takes as long as running.
    private let script: SQLScript?
    private static let smallSize = 4_096

    /// Creates a job from a migration, and checks it.
    ///
    /// - Throws: `MigrationError`, when it must not run as it is.
    init(_ migration: any SchemaMigration, _ direction: Direction = .up) throws {
        self.migration = migration
        self.direction = direction
        let script = try Self.script(migration, direction)
        foreignKeys = script?.settings.foreignKeys ?? migration.foreignKeys
        transaction = script?.settings.transaction ?? .wrapped
        checksum = script?.checksum
        isCompatible = script?.settings.isCompatible ?? migration.isCompatible
        isBaseline = script?.baseline != nil
        droppedTables = script?.droppedTables ?? []
        let format = script.map { FileFormat($0, title: $0.fileName) }
        fileFormat = format?.isEmpty == false ? format : nil
        changesSettings = script?.hasPragmas ?? true
        attaches = script?.attaches ?? false
        isRepeatable = script.map { !$0.hasSavepoints && !$0.namesLedger } ?? false
        busyTimeoutLine = script?.busyTimeoutLine
        weight = script?.weight ?? 1
        switch direction {
        case .up:
            hasBody = true
            title = script?.fileName ?? migration.title
        case .down:
            hasBody = script.map { !$0.statements.isEmpty } ?? migration.isReversible
            title = script?.fileName ?? "\(migration.title) (down)"
        }
        self.script = script.flatMap { $0.sql.utf8.count <= Self.smallSize ? $0 : nil }
    }

    var version: SchemaVersion { migration.version }

    /// True if the migration is written in Swift.
    var isCode: Bool { checksum == nil }

    /// True if the migration shares no commit, unless all migrations share one.
    ///
    /// What a migration in Swift does to files must not depend on whether another migration is committed.
    var commitsAlone: Bool { isCode || attaches }

    /// Runs the migration's body.
    ///
    /// - Parameter afterEach: is called after each statement of a file.
    private func runBody(_ db: Database, afterEach: () throws -> Void) throws {
        if let script = try self.script ?? Self.script(migration, direction) {
            try script.run(db, fixing: fix, afterEach: afterEach)
        } else if direction == .up {
            try migration.migrate(db)
        } else {
            guard let rollback = migration.codeRollback else {
                throw MigrationError(irreversible: [title])
            }
            try rollback(db)
        }
    }

    private static func script(_ migration: any SchemaMigration, _ direction: Direction) throws -> SQLScript?
    {
        guard let source = migration as? any SQLSource else { return nil }
        return try direction == .up ? source.script() : source.downScript()
    }
}

// MARK: Running

extension MigrationJob {
    /// Runs the migration in an open transaction that a watch observes, and makes sure that it stays open.
    ///
    /// - Parameter settings: the settings of the connection, which are put back after the migration.
    /// - Returns: the seconds that the migration took.
    func run(
        _ db: Database, _ watch: TransactionWatch, _ interrupter: Interrupter,
        restoring settings: ConnectionSettings?
    ) throws -> Double {
        func check() throws {
            try checkTransaction(db, watch)
            try interrupter.check()
        }
        return try ContinuousClock().measure {
            try mapErrors(db) {
                try restore(settings, db) {
                    try watch.refuseEnd(of: db, orThrow: transactionEnded) {
                        try interrupter.allowInterrupts(of: db) { try runBody(db, afterEach: check) }
                    }
                    try interrupter.check()
                }
                try settings?.attached.checkOthers(db)
            }
        }.inSeconds
    }

    /// Throws an error if the transaction that a watch observes is no longer open.
    func checkTransaction(_ db: Database, _ watch: TransactionWatch) throws {
        if watch.sawEnd || !db.isInsideTransaction { throw transactionEnded }
    }

    /// Runs the one statement of a file that asks for no transaction.
    ///
    /// - Returns: the seconds that it took.
    func runWithoutTransaction(
        _ db: Database, _ interrupter: Interrupter, restoring settings: ConnectionSettings?,
        waitingUpTo limit: Duration
    ) throws -> Double {
        try ContinuousClock().measure {
            try mapErrors(db) {
                // A statement that finds the database locked has done nothing.
                try waitWhileBusy(upTo: limit, interrupter: interrupter) {
                    try restore(settings, db) {
                        try AttachedDatabases.allowingOneMore(db) {
                            try interrupter.allowInterrupts(of: db) { try runBody(db) {} }
                        }
                    }
                }
            }
        }.inSeconds
    }
}

extension MigrationJob {
    /// Runs the body, and puts back the settings that it has changed, even if it fails.
    @inline(never)
    private func restore(_ settings: ConnectionSettings?, _ db: Database, _ body: () throws -> Void) throws {
        let result = Result { try body() }
        if changesSettings {
            do {
                try settings?.restore(db)
            } catch {
                // The body's error says more.
                _ = try result.get()
                throw error
            }
        }
        try result.get()
    }

    /// Throws an error if the file sets what could not be put back on this connection.
    func checkSettings(of db: Database) throws {
        guard let busyTimeoutLine, case .callback = db.configuration.busyMode else { return }
        // c3ref/busy_handler.html: a timeout replaces the callback, which nobody can read.
        throw MigrationError(
            .invalidMigration, at: .file(title, line: busyTimeoutLine),
            "PRAGMA busy_timeout would replace the callback with which the app waits",
            remedy: "Remove it. Nothing was changed.")
    }
}

// MARK: Failing

extension MigrationJob {
    /// The error of a migration that has ended the transaction that it ran in.
    var transactionEnded: MigrationError {
        var error = MigrationError(
            .stepFailed, at: .file(title), "ended the transaction that it ran in",
            remedy: "Leave the transaction open: a migration and its record are committed together.")
        error.schemaVersion = version
        return error
    }

    /// The remedy if the migration itself is to blame for its failure.
    fileprivate var fix: String {
        direction == .up || migration is UnknownMigration
            ? MigrationError.fixMigration : "It was not undone. Fix it and roll back again."
    }

    /// Runs the body, and names the migration in the errors that it throws.
    private func mapErrors(_ db: Database, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            throw named(error, db)
        }
    }

    private func named(_ error: any Error, _ db: Database) -> any Error {
        if error is CancellationError { return error }
        if let error = error as? MigrationError, !error.isOfStoreOrManager {
            var named = error.located(at: .file(title))
            named.schemaVersion = version
            return named
        }
        let databaseError = error as? DatabaseError
        var failure = MigrationError(
            Obstacle(error)?.code ?? .stepFailed, at: .file(title), error.quotation,
            remedy: databaseError.map { db.remedy(for: $0, fixing: fix) } ?? Obstacle(error)?.remedy ?? fix,
            underlyingError: error)
        failure.schemaVersion = version
        failure.sqliteCode = databaseError?.extendedResultCode.rawValue
        return failure
    }
}

extension MigrationError {
    /// Creates an error for a problem that a migration has caused.
    init(_ finding: Finding, leftBy job: MigrationJob) {
        let remedies = [finding.hint, finding.remedy, job.fix]
        self.init(
            .stepFailed, at: .file(job.title), "leaves \(finding.description)",
            remedy: remedies.compactMap(\.self).joined(separator: " "))
        schemaVersion = job.version
        self = about(finding.isOfMissingParent ? .missingParent : .broken)
    }
}
