package import AppMigrations
package import GRDB
import MigrationDiagnostics

extension SchemaMigrationError {
    /// Runs the body, and turns SQLite's errors into errors that say what to do.
    package static func mapErrors<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError {
            throw SchemaMigrationError(
                .databaseFailed, error, remedy: error.remedy ?? "Nothing was left half-done.")
        }
    }

    /// Creates an error from an error of SQLite's.
    ///
    /// - Parameter code: the code, unless an obstacle caused the error.
    init(
        _ code: Code, at place: Diagnostic.Place? = nil, _ error: DatabaseError, remedy: String
    ) {
        self.init(
            Code(error.obstacle) ?? code, at: place, error.problem, remedy: remedy, underlyingError: error)
        sqliteCode = error.extendedResultCode.rawValue
    }
}

extension SchemaMigrationError.Code {
    /// The code of what an obstacle has caused.
    init?(_ obstacle: Obstacle?) {
        switch obstacle {
        case .deviceLocked: self = .deviceLocked
        case .diskFull: self = .diskFull
        case .inUse: self = .locked
        case .suspended: self = .suspended
        case nil: return nil
        }
    }
}

extension SchemaMigrationError: SystemError {
    package var reason: String { diagnostic.clause }
    package var obstacle: Obstacle? { underlyingError.flatMap(Obstacle.init) }
}

extension DatabaseError: SystemError {
    package var reason: String { problem }

    package var obstacle: Obstacle? {
        if isBusy { return .inUse }
        return switch resultCode {
        // How SQLite reports that the system refuses a protected file.
        case .SQLITE_AUTH, .SQLITE_PERM: .deviceLocked
        case .SQLITE_FULL: .diskFull
        // When GRDB suspends a database, it interrupts what is running, and refuses what comes after.
        case .SQLITE_INTERRUPT: .suspended
        case .SQLITE_ABORT where isAboutSuspension: .suspended
        default: nil
        }
    }

    /// SQLite's message, with its code.
    package var problem: String {
        "\(message ?? "the database failed") (SQLite \(extendedResultCode.rawValue))"
    }

    /// The remedy for a failure of the database itself; nil for failures of the statement.
    package var remedy: String? {
        if let obstacle { return obstacle.remedy }
        return switch resultCode {
        case .SQLITE_READONLY: "Make the file and its folder writable, then retry."
        case .SQLITE_CANTOPEN: "Check that its folder exists, and that both can be read and written."
        case .SQLITE_NOTADB:
            "If it is encrypted, pass its passphrase; if not, restore the database from a backup."
        case .SQLITE_CORRUPT: "Restore the database from a backup."
        default: nil
        }
    }
}

extension Error {
    /// The error that SQLite reported, if that is the cause.
    var databaseError: DatabaseError? {
        ((self as? SchemaMigrationError)?.underlyingError ?? self) as? DatabaseError
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
