import Foundation

extension MigrationError: MigrationFailure {
    /// The sentence for the person, as in `The data could not be updated because the disk is full.`.
    ///
    /// In English, unless the app has the sentence in a table `AppMigrations` of its own. For the developer, there are
    /// ``message``, ``remedy`` and ``debugDescription``.
    public var errorDescription: String? { code.failure.text }

    /// What the app can offer the person: the advice for the ``code``.
    public var advice: RecoveryAdvice { code.failure.advice }

    /// The ``advice`` as a sentence.
    public var recoverySuggestion: String? { advice.localizedDescription }

    /// Everything that a developer wants to know: the code, the message, the remedy, and the error behind it.
    ///
    /// It may hold paths, statements and names: for a log on the device, and not for a server.
    public var debugDescription: String {
        var text = "\(code) (\(Self.errorDomain) \(code.number)): \(description)"
        if let underlyingError { text += "\nCaused by: \(String(reflecting: underlyingError))" }
        return text
    }

    /// The facts for analytics and crash reporters.
    public var summary: FailureSummary {
        FailureSummary(
            domain: Self.errorDomain, code: code.description, number: code.number, advice: advice,
            version: version?.description, attempt: attempt, cause: underlyingError)
    }

    /// The domain of the error as an `NSError`.
    public static var errorDomain: String { "AppMigrations.MigrationError" }

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

/// The sentence and the advice that belong to a code.
package struct FailureKind: Sendable {
    package let text: String
    package let advice: RecoveryAdvice

    /// - Parameter code: the code's name, of either kind of error.
    package init(code: String) {
        let key = "error.\(code)"
        text = PersonText.text(PersonText.english[key] == nil ? "error.other" : key)
        advice = Self.advice[code] ?? .contactDeveloper
    }

    /// The advice by the name of the code; of all other codes, that is to contact the developer.
    private static let advice: [String: RecoveryAdvice] = [
        "stepFailed": .retry, "migrationFailed": .retry, "backupFailed": .retry, "suspended": .retry,
        "unreadableStore": .retry, "unwritableStore": .retry, "readOnly": .retry,
        "deviceLocked": .unlock,
        "diskFull": .freeSpace,
        "newerThanThisProcess": .updateApp, "newerFormat": .updateApp, "newerDatabase": .updateApp,
        "locked": .wait, "postponed": .wait, "notYetMigrated": .wait, "missingDatabase": .wait,
        "damagedStore": .restore, "damagedLedger": .restore, "unusableDatabase": .restore,
        "databaseFailed": .restore,
    ]
}

extension MigrationError.Code {
    fileprivate var failure: FailureKind { FailureKind(code: description) }
}
