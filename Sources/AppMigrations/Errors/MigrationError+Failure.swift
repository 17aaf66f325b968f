import Foundation

extension MigrationError: MigrationFailure {
    /// The facts for analytics and crash reporters.
    public var summary: FailureSummary {
        FailureSummary(
            self, advice: isRepeated ? .contactDeveloper : nil,
            version: version?.description, kind: work?.kind.description, attempt: attempt)
    }

    /// Everything that a developer wants to know: the code, the message, the remedy, and the error behind it.
    ///
    /// It may hold paths, statements and names: for a log on the device, and not for a server.
    public var debugDescription: String {
        var text = "\(code) (\(Self.errorDomain) \(code.number)): \(description)"
        if let underlyingError { text += "\nCaused by: \(underlyingError.debugQuotation)" }
        return text
    }

    /// The domain of the error as an `NSError`.
    public static var errorDomain: String { "AppMigrations.MigrationError" }
}
