public import AppMigrations
import Foundation
import GRDB

extension SchemaMigrationError: MigrationFailure {
    /// The facts for analytics and crash reporters.
    public var summary: FailureSummary {
        FailureSummary(
            self, advice: isOutOfReach ? .retry : nil,
            version: version?.description, kind: version.map { _ in "migration" })
    }

    /// True if the system refuses the file, so nothing says that its data is lost.
    private var isOutOfReach: Bool {
        guard code == .databaseFailed else { return false }
        return switch underlyingError {
        case let error as DatabaseError:
            [.SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH, .SQLITE_READONLY].contains(error.resultCode)
        case let error as POSIXError: [.EACCES, .EPERM, .EROFS].contains(error.code)
        default: false
        }
    }

    /// Everything that a developer wants to know: the code, the message, the remedy, the statement, and the error
    /// behind it.
    ///
    /// It may hold paths, statements and names: for a log on the device, and not for a server.
    public var debugDescription: String {
        var text = "\(code) (\(Self.errorDomain) \(code.number)): \(description)"
        if let statement { text += "\nStatement: \(statement)" }
        if let underlyingError { text += "\nCaused by: \(underlyingError.debugQuotation)" }
        return text
    }

    /// The domain of the error as an `NSError`.
    public static var errorDomain: String { "AppMigrations.SchemaMigrationError" }
}
