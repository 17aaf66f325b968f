package import AppMigrations
import CMigrationSQLite
package import Foundation
package import GRDB
import MigrationDiagnostics

extension MigrationError {
    /// The remedy for a migration that failed by its own fault.
    ///
    /// Earlier migrations may be applied: `committed` lists them.
    package static let fixMigration = "It was rolled back. Fix it and migrate again."

    /// Runs the body, and turns SQLite's errors into errors that say what to do.
    package static func mapErrors<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError {
            throw MigrationError(
                .databaseFailed, error, remedy: error.remedy ?? "Nothing is half-done.")
        }
    }

    /// Creates an error from an error of SQLite's.
    ///
    /// - Parameter code: the code, unless an obstacle caused the error, or the database is damaged.
    @inline(never)
    init(
        _ code: Code, at place: Diagnostic.Place? = nil, _ error: DatabaseError, remedy: String
    ) {
        // A connection that migrates has been opened with the right passphrase.
        let isDamaged =
            error.saysThatDatabaseIsDamaged || code == .stepFailed && error.resultCode == .SQLITE_NOTADB
        self.init(
            error.obstacle?.code ?? (isDamaged ? .damagedDatabase : code), at: place, error.problem,
            remedy: remedy, underlyingError: error)
        sqliteCode = error.extendedResultCode.rawValue
    }
}

extension DatabaseError: SystemError {
    package var reason: String { problem }

    /// GRDB's text, without the arguments of the statement, whatever the configuration says, and without a row.
    package var words: String {
        "\(DatabaseError(resultCode: resultCode, message: messageWithoutRow, sql: sql))"
    }

    package var obstacle: Obstacle? { obstacle(isDeviceLockable: POSIXError.isDeviceLockable) }

    package func obstacle(isDeviceLockable: Bool) -> Obstacle? {
        if isBusy { return .inUse }
        return switch resultCode {
        // How SQLite reports that the system refuses a protected file.
        case .SQLITE_AUTH where isDeviceLockable, .SQLITE_PERM where isDeviceLockable: .deviceLocked
        // Of one that is open. Where the disk cannot read it, the code is SQLITE_CORRUPT; a disk that cannot write is
        // taken for a locked device.
        case .SQLITE_IOERR
        where isDeviceLockable
            && [.SQLITE_IOERR_READ, .SQLITE_IOERR_WRITE].contains(extendedResultCode):
            .deviceLocked
        case .SQLITE_FULL: .diskFull
        // SQLite reserves the room of the -shm file, and says so only in the extended code.
        case .SQLITE_IOERR where extendedResultCode == .SQLITE_IOERR_SHMSIZE: .diskFull
        case .SQLITE_READONLY: .readOnly
        // When GRDB suspends a database, it interrupts what is running, and refuses what comes after.
        case .SQLITE_INTERRUPT: .suspended
        case .SQLITE_ABORT where isAboutSuspension: .suspended
        default: nil
        }
    }

    package var ownRemedy: String? {
        if isAboutClosedConnection { return "Keep it open until the manager has returned, and launch again." }
        if isAboutMovedFile {
            return """
                If the file was moved, replaced or removed, close the database, and open it at its path again. If not, make \
                its folder readable.
                """
        }
        if resultCode == .SQLITE_READONLY {
            return "Make the file and its folder writable, and open it for writing, then retry."
        }
        return saysThatDatabaseIsDamaged
            ? "Save its rows with DatabaseFile.salvage(into:), or restore a backup." : nil
    }

    /// True if the pages of the database are damaged; a full-text table alone can be rebuilt.
    ///
    /// An encrypted database that is opened with a wrong passphrase is no database to SQLite, and not a damaged one.
    package var saysThatDatabaseIsDamaged: Bool {
        resultCode == .SQLITE_CORRUPT && extendedResultCode != .SQLITE_CORRUPT_VTAB
    }

    package var saysThatFileIsRefused: Bool {
        // A closed connection refuses as well: the file is as it was.
        isAboutClosedConnection
            || [.SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH, .SQLITE_READONLY].contains(resultCode)
    }

    /// SQLite's message, with its code.
    package var problem: String {
        let words =
            if isAboutClosedConnection {
                // SQLite's own message is "out of memory".
                "the database has been closed"
            } else if isAboutMovedFile {
                // SQLite's own message is that of a file without permission.
                "the file of the open database is no longer found at its path"
            } else if let message = messageWithoutRow, message != "not an error" {
                message
            } else {
                // Some calls, such as those of a backup, return their error without giving it to the connection.
                String(cString: app_migrations_words(extendedResultCode.rawValue))
            }
        return "\(words) (SQLite \(extendedResultCode.rawValue))"
    }

    /// The remedy for a failure of the database itself; nil for failures of the statement.
    package var remedy: String? {
        if let remedy = ownRemedy ?? obstacle?.remedy { return remedy }
        return switch resultCode {
        case .SQLITE_LOCKED:
            """
            A statement of this connection still reads, such as that of a cursor: end it first. In a transaction, ask for \
            no checkpoint.
            """
        case .SQLITE_PERM: "Check the permissions of the file and its folder."
        case .SQLITE_CANTOPEN: "Check that its folder exists, and that both can be read and written."
        case .SQLITE_NOTADB:
            "If it is encrypted, pass its passphrase; if not, restore the database from a backup."
        case .SQLITE_CORRUPT where extendedResultCode == .SQLITE_CORRUPT_VTAB: "Rebuild the full-text table."
        default: nil
        }
    }
}

extension Error {
    /// Returns the error of a full disk if that is why SQLite could not create a file beside a database.
    ///
    /// SQLite says only that it cannot open the file.
    @inline(never)
    package func explained(beside file: @autoclosure () -> URL?) -> any Error {
        guard let failure = self as? DatabaseError, failure.resultCode == .SQLITE_CANTOPEN, let file = file()
        else { return self }
        do {
            try DurableFile(at: file).probeFolder()
        } catch {
            if Obstacle(error) == .diskFull {
                return DatabaseError(resultCode: .SQLITE_FULL, sql: failure.sql)
            }
        }
        return self
    }
}

extension Database {
    /// Returns the error of a full disk if that is why SQLite could not create a file beside the database.
    package func explained(_ error: any Error) -> any Error { error.explained(beside: try? mainFile()) }
}

extension Error {
    /// The error that SQLite reported, if that is the cause.
    var databaseError: DatabaseError? {
        ((self as? MigrationError)?.underlyingError ?? self) as? DatabaseError
    }
}

extension Database {
    /// Returns the remedy for a failed statement: the one for SQLite's code, or else to fix the statement.
    ///
    /// - Parameter fix: the remedy when the statement itself is to blame.
    func remedy(for error: DatabaseError, fixing fix: String) -> String {
        if let remedy = error.remedy { return remedy }
        return [hintAtDoubleQuotedText(error, in: error.sql), fix].compactMap(\.self).joined(separator: " ")
    }
}

extension Database {
    /// Returns a hint about a missing column that is written in double quotes, or nil for other failures.
    ///
    /// If there is no such column, SQLite takes the name for a text (quirks.html, 8). GRDB's connections do
    /// so only if they are configured to, so views and triggers of databases that other libraries created can
    /// fail.
    ///
    /// - Parameters:
    ///   - error: the failure.
    ///   - sql: the statement that failed, if it may hold the name as well.
    func hintAtDoubleQuotedText(_ error: DatabaseError, in sql: String? = nil) -> String? {
        guard let name = error.missingColumn else { return nil }
        let quoted = "\"\(name)\""
        let isInSchema = try? Bool.fetchOne(
            self, sql: "SELECT EXISTS (SELECT 1 FROM main.sqlite_master WHERE instr(sql, ?))",
            arguments: [quoted])
        guard isInSchema == true || sql?.contains(quoted) == true else { return nil }
        return """
            If \(quoted) is meant as a text, write it in single quotes, or open the database with GRDB's \
            Configuration.acceptsDoubleQuotedStringLiterals.
            """
    }
}

// The one place that looks into the text of messages: SQLite has no extended code that tells these failures from
// others of the same code (rescode.html).

extension DatabaseError {
    /// The message without the row in which GRDB has found a broken foreign key.
    fileprivate var messageWithoutRow: String? {
        guard extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY, let message,
            message.hasPrefix("FOREIGN KEY constraint violation"),
            let row = message.firstRange(of: ", in [")
        else { return message }
        return String(message[..<row.lowerBound])
    }

    /// True if the error says that no `INSTEAD OF` trigger allows this kind of change to a view.
    var isAboutReadOnlyView: Bool { message?.hasPrefix("cannot modify ") == true }

    /// True if the connection has as many attached databases as it may have.
    var isAboutTooManyAttached: Bool { message?.hasPrefix("too many attached databases") == true }

    /// True if the connection was closed before it was used.
    var isAboutClosedConnection: Bool {
        resultCode == .SQLITE_MISUSE && (message == "out of memory" || message == "Connection is closed")
    }

    /// True if SQLite no longer finds the connection's file by the name by which it was opened.
    private var isAboutMovedFile: Bool { extendedResultCode == .SQLITE_READONLY_DBMOVED }

    /// True if GRDB has refused the statement because the database is suspended.
    var isAboutSuspension: Bool { message == "Database is suspended" }

    /// True if GRDB has refused the statement because a statement before it has ended the transaction that GRDB has begun.
    package var isAboutEndedTransaction: Bool {
        resultCode == .SQLITE_ABORT && message == "Transaction was aborted"
    }

    /// True if the statement itself cannot be compiled, whatever rows it is about.
    ///
    /// Full-text search and the app's functions say the like of a row. GRDB's error has arguments if the statement was running.
    package var isAboutStatement: Bool {
        guard resultCode == .SQLITE_ERROR, arguments == nil, let message else { return false }
        return message.hasPrefix("no such ") || message.contains("syntax error")
            || message.contains("has no column named")
    }

    /// True if the statement cannot be compiled because a table is missing.
    package var isAboutMissingData: Bool {
        isAboutStatement && message?.hasPrefix("no such table: ") == true
    }

    /// True if the statement cannot be compiled because a column is missing.
    package var isAboutMissingColumn: Bool {
        isAboutStatement && message?.hasPrefix("no such column: ") == true
    }

    /// The name of the missing column, if a statement failed because of one.
    var missingColumn: String? {
        guard let message, let range = message.firstRange(of: "no such column: ") else { return nil }
        return message[range.upperBound...].prefix { $0 != " " }.filter { $0 != "\"" }
    }
}

extension IntegrityCheck {
    /// The prefix of a row of `PRAGMA integrity_check` about a null in a column that is `NOT NULL`.
    ///
    /// The pragma returns only text.
    static let nullValue = "NULL value in "

    /// The prefix of a row about a `CHECK` that does not hold.
    static let failedCheck = "CHECK constraint failed in "
}
