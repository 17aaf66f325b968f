public import AppMigrations
import Foundation

extension SchemaMigrationError: MigrationFailure {
    /// A sentence for the person, as of a `MigrationError`.
    public var errorDescription: String? { FailureKind(code: code.description).text }

    /// What the app can offer the person: the advice for the ``code``.
    public var advice: RecoveryAdvice { FailureKind(code: code.description).advice }

    /// The ``advice`` as a sentence.
    public var recoverySuggestion: String? { advice.localizedDescription }

    /// Everything that a developer wants to know: the code, the message, the remedy, the statement, and the error behind it.
    ///
    /// It may hold paths, statements and names: for a log on the device, and not for a server.
    public var debugDescription: String {
        var text = "\(code) (\(Self.errorDomain) \(code.number)): \(description)"
        if let statement { text += "\nStatement: \(statement)" }
        if let underlyingError { text += "\nCaused by: \(String(reflecting: underlyingError))" }
        return text
    }

    /// The facts for analytics and crash reporters.
    public var summary: FailureSummary {
        FailureSummary(
            domain: Self.errorDomain, code: code.description, number: code.number, advice: advice,
            version: version?.description, attempt: nil, cause: underlyingError)
    }

    /// The domain of the error as an `NSError`.
    public static var errorDomain: String { "AppMigrations.SchemaMigrationError" }

    /// The number of the ``code``, which never changes.
    public var errorCode: Int { code.number }

    /// The sentences for the person, and nothing else.
    public var errorUserInfo: [String: Any] {
        [
            NSLocalizedDescriptionKey: errorDescription ?? "",
            NSLocalizedRecoverySuggestionErrorKey: advice.localizedDescription,
        ]
    }
}

extension SchemaMigrationError: FailureWithCause {
    package var cause: (any Error)? { underlyingError }
}
