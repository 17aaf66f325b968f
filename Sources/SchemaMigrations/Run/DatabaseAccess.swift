import AppMigrations
import Foundation
import GRDB

extension Database {
    /// Begins to write, and waits while another connection writes.
    ///
    /// GRDB's default is not to wait at all; an app's own time-out may be too long, and cannot be interrupted. A
    /// callback of the app's is left alone: it could not be put back.
    func beginWriting(waitingFor limit: Duration = .seconds(10), interrupter: Interrupter? = nil) throws {
        try withoutBusyTimeout {
            try retryingWhileBusy(for: limit) {
                try interrupter?.check()
                try beginTransaction(.immediate)
            }
        }
    }

    /// Commits, and waits while other connections read, which in rollback mode keeps a commit from being written.
    func commitWriting(waitingFor limit: Duration = .seconds(10), interrupter: Interrupter? = nil) throws {
        // lang_transaction.html: such a COMMIT leaves the transaction open, and can be tried again.
        try withoutBusyTimeout {
            try retryingWhileBusy(for: limit) {
                try interrupter?.check()
                try commit()
            }
        }
    }

    /// Runs several queries on one state of the database.
    func consistently<Value>(_ body: () throws -> Value) throws -> Value {
        if isInsideTransaction { return try body() }
        var value: Value?
        try inTransaction(.deferred) {
            value = try body()
            return .commit
        }
        guard let value else { throw DatabaseError(resultCode: .SQLITE_INTERNAL) }
        return value
    }

    private func withoutBusyTimeout(_ body: () throws -> Void) throws {
        guard case .timeout(let seconds) = configuration.busyMode else { return try body() }
        setBusyTimeout(milliseconds: 0)
        // Cannot fail, as a pragma could: the transaction that the body has begun would be left open.
        defer { setBusyTimeout(milliseconds: Int32(clamping: Int(seconds * 1_000))) }
        try body()
    }

    /// Whether there is a table of this name.
    ///
    /// By plain SQL: GRDB caches what tables there are, and another process may have made one.
    func hasTable(_ name: String) throws -> Bool {
        try Bool.fetchOne(
            self, sql: "SELECT EXISTS (SELECT 1 FROM main.sqlite_master WHERE type = 'table' AND name = ?)",
            arguments: [name]) ?? false
    }

    /// An integer that a pragma answers.
    func pragma(_ name: String) throws -> Int {
        try Int.fetchOne(self, sql: "PRAGMA \(name)") ?? 0
    }
}

/// Runs the body again, with short pauses, as long as another connection is in the way.
func retryingWhileBusy<Value>(for limit: Duration, _ body: () throws -> Value) throws -> Value {
    let deadline = ContinuousClock.now + limit
    while true {
        do {
            return try body()
        } catch  where SchemaMigrationError.cause(of: error)?.isBusy == true {
            guard ContinuousClock.now < deadline else { throw error }
            // Not in step with others that wait as well.
            Thread.sleep(forTimeInterval: .random(in: 0.002...0.015))
        }
    }
}

extension DatabaseReader {
    /// Runs several queries on one state of the database, and waits while it is locked.
    func readingConsistently<Value>(
        waitingFor limit: Duration = .seconds(10), _ body: (Database) throws -> Value
    ) throws -> Value {
        try retryingWhileBusy(for: limit) {
            try unsafeReentrantRead { db in try db.consistently { try body(db) } }
        }
    }
}

extension DatabaseError {
    /// Whether another connection is in the way, and waiting may help.
    var isBusy: Bool {
        // The last one: others have changed the schema again and again while a statement was compiled.
        [.SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL, .SQLITE_SCHEMA].contains(resultCode)
    }
}

extension SchemaMigrationError {
    /// Turns what SQLite says into an error that says what to do.
    package static func describing<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError {
            throw SchemaMigrationError(error)
        }
    }

    /// What SQLite has said, where an error comes from that.
    static func cause(of error: any Error) -> DatabaseError? {
        ((error as? SchemaMigrationError)?.underlyingError ?? error) as? DatabaseError
    }

    /// What to do when the database failed, and not what was asked of it; nil for other errors.
    static func remedy(for error: DatabaseError) -> String? {
        switch error.resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL:
            "Another connection or process is using the database: let it finish, and try again."
        case .SQLITE_FULL: "The disk is full: make room, and try again."
        case .SQLITE_READONLY: "Make the file and its folder writable, and try again."
        case .SQLITE_CANTOPEN: "See that its folder exists, and that both can be read and written."
        case .SQLITE_NOTADB, .SQLITE_CORRUPT: "Restore the database from a backup."
        default: nil
        }
    }

    private init(_ error: DatabaseError) {
        self.init(
            .databaseFailed,
            "\(error.message ?? "The database failed") (SQLite \(error.extendedResultCode.rawValue)).",
            remedy: Self.remedy(for: error) ?? "Nothing half-done was left behind.",
            underlyingError: error)
        sqliteCode = error.extendedResultCode.rawValue
    }
}

extension Database {
    /// Runs the body in a transaction for writing, and commits it.
    func writing<Result>(_ body: () throws -> Result) throws -> Result {
        try beginWriting()
        do {
            clearSchemaCache()
            let result = try body()
            try commitWriting()
            return result
        } catch {
            if isInsideTransaction { try? rollback() }
            clearSchemaCache()
            throw error
        }
    }
}

extension DatabaseWriter {
    /// The database's file; nil for one in memory.
    var file: URL? {
        path.isEmpty || path.hasPrefix(":memory:") || path.hasPrefix("file:")
            ? nil : URL(fileURLWithPath: path).resolvingSymlinksInPath()
    }

    /// How messages call the database.
    var displayName: String { file?.lastPathComponent ?? "the database in memory" }
}
