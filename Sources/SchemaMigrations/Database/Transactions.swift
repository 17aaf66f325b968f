import CMigrationSQLite
import Foundation
package import GRDB

extension Database {
    /// Runs the body in a write transaction, which commits when the body returns and rolls back when it
    /// throws.
    ///
    /// Waits for other connections: before the transaction begins, while others write; before it commits, in
    /// rollback mode, while others read. It does not use GRDB's own timeout for that, which is off by
    /// default, may be too long, and cannot be interrupted. A busy callback of the app's stays, since it
    /// could not be restored.
    ///
    /// - Parameters:
    ///   - limit: the longest time to wait before the transaction begins.
    ///   - commitLimit: the longest time to wait before it commits, if that is another one.
    package func withWriteTransaction<Result>(
        waitingUpTo limit: Duration, committingWithin commitLimit: Duration? = nil,
        interrupter: Interrupter? = nil, _ body: () throws -> Result
    ) throws -> Result {
        var result: Result?
        try runWriteTransaction(limit, commitLimit ?? limit, interrupter) { result = try body() }
        guard let result else { preconditionFailure("the transaction was committed without its body") }
        return result
    }

    /// Not generic, since every kind of result would add 4 kB to apps.
    @inline(never)
    private func runWriteTransaction(
        _ limit: Duration, _ commitLimit: Duration, _ interrupter: Interrupter?, _ body: () throws -> Void
    ) throws {
        try interrupter?.check()
        do {
            try withoutBusyTimeout {
                try waitWhileBusy(upTo: limit, interrupter: interrupter) { try beginWriting() }
            }
        } catch {
            throw explained(error)
        }
        do {
            // GRDB's schema cache may be older than another process's changes.
            clearSchemaCache()
            try body()
            try interrupter?.check()
            // lang_transaction.html: a COMMIT that fails with SQLITE_BUSY leaves the transaction open, for a
            // retry.
            try withoutBusyTimeout {
                try waitWhileBusy(upTo: commitLimit, interrupter: interrupter) { try commit() }
            }
        } catch {
            // While the journal still takes the room.
            let error = explained(error)
            rollbackIfOpen()
            clearSchemaCache()
            throw error
        }
    }

    private func beginWriting() throws {
        try noticingMovedFile { try beginTransaction(.immediate) }
        // In WAL mode, SQLite itself would write to the log of the file that has the name now.
        guard app_migrations_has_moved(sqliteConnection) != 0 else { return }
        try rollback()
        throw DatabaseError(resultCode: .SQLITE_READONLY_DBMOVED)
    }

    /// Runs the body, and throws another error than a busy one if waiting would not help: a file that was set aside stays
    /// locked once another one has its name.
    fileprivate func noticingMovedFile<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError where error.isBusy {
            guard app_migrations_has_moved(sqliteConnection) == 0 else {
                throw DatabaseError(resultCode: .SQLITE_READONLY_DBMOVED)
            }
            throw error
        }
    }

    /// Rolls the transaction back, if SQLite has not.
    ///
    /// An open transaction at the end of an access is a fatal error of GRDB's. A connection that was interrupted refuses
    /// to roll back as long as a statement has not come to its end, such as that of a cursor that a step has kept.
    package func rollbackIfOpen() {
        guard isInsideTransaction else { return }
        do {
            try rollback()
        } catch {
            if let connection = sqliteConnection { app_migrations_reset_statements(connection) }
            if isInsideTransaction { try? rollback() }
        }
    }

    @inline(never)
    private func withoutBusyTimeout(_ body: () throws -> Void) throws {
        guard case .timeout(let seconds) = configuration.busyMode else { return try body() }
        setBusyTimeout(milliseconds: 0)
        // Uses a C function instead of a pragma, which could fail and leave the new transaction open.
        defer { setBusyTimeout(milliseconds: Int32(max(0, min(seconds * 1_000, Double(Int32.max))))) }
        try body()
    }
}

extension Database {
    /// Runs several queries on one state of the database.
    package func readSnapshot<Value>(_ body: () throws -> Value) throws -> Value {
        if isInsideTransaction { return try body() }
        var value: Value?
        try inTransaction(.deferred) {
            value = try body()
            return .commit
        }
        guard let value else { preconditionFailure("inTransaction returned without running its body") }
        return value
    }
}

extension DatabaseReader {
    /// Runs several queries on one state of the database, and waits while another connection blocks them.
    package func readSnapshot<Value>(
        waitingUpTo limit: Duration, _ body: (Database) throws -> Value
    ) throws -> Value {
        try waitWhileBusy(upTo: limit) {
            try unsafeReentrantRead { db in
                try db.noticingMovedFile { try db.readSnapshot { try body(db) } }
            }
        }
    }
}

extension Duration {
    /// The longest time that stores and steps wait for another connection; migrations use the migrator's
    /// options.
    package static let defaultBusyTimeout: Duration = .seconds(10)
}

/// Runs the body again, with short pauses, while another connection is in the way.
///
/// - Parameters:
///   - limit: the longest time to wait, after which the last error is thrown.
///   - interrupter: ends the waiting with a `CancellationError` once it is cancelled.
package func waitWhileBusy<Value>(
    upTo limit: Duration, interrupter: Interrupter? = nil, _ body: () throws -> Value
) throws -> Value {
    let deadline = ContinuousClock.now + limit
    while true {
        do {
            return try body()
        } catch {
            try pause(after: error, until: deadline, interrupter)
        }
    }
}

/// Pauses before the next try, or throws the error if waiting does not help.
///
/// Not inlined, since it would be there for every transaction.
@inline(never)
private func pause(
    after error: any Error, until deadline: ContinuousClock.Instant, _ interrupter: Interrupter?
) throws {
    guard error.databaseError?.isBusy == true, ContinuousClock.now < deadline else { throw error }
    try interrupter?.check()
    // A random pause keeps several waiting connections from trying in step.
    Thread.sleep(forTimeInterval: .random(in: 0.002...0.015))
}

extension DatabaseError {
    /// True if another connection caused the error, so that waiting may help.
    package var isBusy: Bool {
        // SQLITE_SCHEMA: others have changed the schema again and again while a statement was compiled.
        // rescode.html: any other SQLITE_LOCKED is a conflict within this connection, which would wait for itself.
        [.SQLITE_BUSY, .SQLITE_PROTOCOL, .SQLITE_SCHEMA].contains(resultCode)
            || extendedResultCode == .SQLITE_LOCKED_SHAREDCACHE
    }
}

/// A change of the schema to report to GRDB's observers, because SQLite reports only changes of rows.
package enum SchemaChange {
    /// Only new tables, views, indexes or triggers.
    case additions
    /// Any change, including changed or dropped tables, views, indexes or triggers.
    case anything
}

extension Database {
    /// Notifies the app's observers that the schema has changed.
    package func notifyObservers(of change: SchemaChange) throws {
        switch change {
        // No observer can observe a new table yet, except observers of everything, which includes the ledger.
        case .additions: try notifyChanges(in: Table("schema_migrations"))
        case .anything: try notifyObserversOfAllTables()
        }
    }

    /// Notifies the app's observers of changes that are committed already.
    package func notifyObserversOfCommitted() throws {
        // They act on a commit. An empty transaction needs no lock for it.
        try inTransaction(.deferred) {
            try notifyObservers(of: .anything)
            return .commit
        }
    }

    /// Notifies the observers of each table that the connection can read.
    ///
    /// GRDB's region of the full database fails if one table has a quote in its name, or needs a module or a
    /// tokenizer that is not registered. Nobody can observe such a table.
    private func notifyObserversOfAllTables() throws {
        for schema in try SQLName.fetchAll(self, sql: "SELECT name FROM pragma_database_list") {
            let master = "\(schema.sql).sqlite_master"
            for table in try SQLName.fetchAll(self, sql: "SELECT name FROM \(master) WHERE type = 'table'") {
                do {
                    let statement = try makeStatement(sql: "SELECT * FROM \(schema.sql).\(table.sql)")
                    try notifyChanges(in: statement.databaseRegion)
                } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
                    continue
                }
            }
        }
    }
}
