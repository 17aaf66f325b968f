import GRDB
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
    init(
        _ code: Code, at place: Diagnostic.Place? = nil, _ error: DatabaseError, remedy: String
    ) {
        self.init(code, at: place, error.problem, remedy: remedy, underlyingError: error)
        sqliteCode = error.extendedResultCode.rawValue
    }
}

extension DatabaseError {
    /// SQLite's message, with its code.
    package var problem: String {
        "\(message ?? "the database failed") (SQLite \(extendedResultCode.rawValue))"
    }

    /// The remedy for a failure of the database itself; nil for failures of the statement.
    package var remedy: String? {
        switch resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL:
            "Another connection or process is using the database. Let it finish, then retry."
        case .SQLITE_FULL: "The disk is full. Free some space, then retry."
        case .SQLITE_READONLY: "Make the file and its folder writable, then retry."
        case .SQLITE_CANTOPEN: "Check that its folder exists, and that both can be read and written."
        case .SQLITE_NOTADB, .SQLITE_CORRUPT: "Restore the database from a backup."
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
