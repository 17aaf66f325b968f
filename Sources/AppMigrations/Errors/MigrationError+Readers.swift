public import Foundation
import MigrationDiagnostics

// What each reader of an error gets.

extension MigrationError: LocalizedError {
    /// The sentence for the person, as in `The data could not be updated because the disk is full.`.
    ///
    /// In English, unless the app has the sentence in a table `AppMigrations` of its own. ``description`` and
    /// ``debugDescription`` are for the developer.
    public var errorDescription: String? { PersonText.text(for: code) }

    /// The way out that the app can offer the person.
    ///
    /// For a step that throws, that is a retry; once it has failed in the same way twice in one build of the app, it is to
    /// contact the developer.
    public var advice: RecoveryAdvice { facts.advice }

    /// The ``advice`` as a sentence.
    public var recoverySuggestion: String? { advice.localizedDescription }
}

extension MigrationError: CustomNSError {
    /// The number by which crash reporters group failures: its last three digits are the number of the code, and the others stand for
    /// the step or migration that failed.
    ///
    /// It is the same on every device and in every release: `10` for a failure that is about no step, and `485_352_010`, for
    /// example, for one of step 2.1. ``errorUserInfo`` says which one that is.
    public var errorCode: Int { facts.group }

    /// The sentences for the person, and the facts of ``summary`` for a crash reporter: `code`, `advice`, `version`, `kind`,
    /// `migration`, `attempt` and `cause`, as far as they are known.
    public var errorUserInfo: [String: Any] {
        let summary = facts
        let causes = summary.causes.map { "\($0.domain) \($0.number)" }
        let facts: [String: Any?] = [
            NSLocalizedDescriptionKey: errorDescription ?? "",
            NSLocalizedRecoverySuggestionErrorKey: advice.localizedDescription, "code": summary.code,
            "advice": facts.advice.rawValue, "version": summary.version, "kind": summary.kind,
            "migration": summary.migration, "attempt": summary.attempt,
            "cause": causes.isEmpty ? nil : causes.joined(separator: ", "),
        ]
        return facts.compactMapValues(\.self)
    }
}

extension MigrationError {
    /// The facts for the app's analytics and for a crash reporter, to be encoded.
    ///
    /// Versions and numbers, and names that the developer has given to types and migrations; nothing that a person has written, and no
    /// path. The keys are `domain`, `code`, `number`, `advice`, `version`, `kind`, `migration`, `attempt` and `causes`.
    public var summary: some Encodable & Sendable & Equatable { facts }

    package var facts: FailureSummary { FailureSummary(self) }
}

extension MigrationError: CustomStringConvertible {
    /// The message and the remedy; for several mistakes, a line each.
    public var description: String {
        causes.isEmpty ? diagnostic.description : causes.map(\.description).joined(separator: "\n")
    }
}

extension MigrationError: CustomDebugStringConvertible {
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
}
