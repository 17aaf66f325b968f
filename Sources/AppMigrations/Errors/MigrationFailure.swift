public import Foundation
import MigrationDiagnostics

/// An error of this package, for everybody who reads one.
///
/// ``MigrationError`` and `SchemaMigrationError` conform to it, so one recovery screen handles both:
///
/// ```swift
/// do {
///     try manager.migrate()
/// } catch let error as any MigrationFailure {
///     showAlert(error.localizedDescription, error.advice)
///     analytics.send(error.summary)
///     logger.error("\(error.debugDescription)")
/// }
/// ```
public protocol MigrationFailure: LocalizedError, CustomNSError, CustomDebugStringConvertible, Sendable {
    /// The facts for the app's analytics and for a crash reporter: no path, name, statement or value.
    var summary: FailureSummary { get }

    /// The kind of the failure.
    var code: MigrationError.Code { get }

    /// The error that caused this one.
    var underlyingError: (any Error)? { get }
}

extension MigrationFailure {
    /// The sentence for the person, as in `The data could not be updated because the disk is full.`.
    ///
    /// In English, unless the app has the sentence in a table `AppMigrations` of its own. `description` and
    /// `debugDescription` are for the developer.
    public var errorDescription: String? { PersonText.text(forCode: summary.code) }

    /// The way out that the app can offer the person.
    ///
    /// For a step that throws, that is a retry; once it has failed in the same way twice in one build of the app, it is to
    /// contact the developer.
    public var advice: RecoveryAdvice { summary.advice }

    /// The ``advice`` as a sentence.
    public var recoverySuggestion: String? { advice.localizedDescription }

    /// The number by which crash reporters group failures: its last three digits are the number of the code, and the others stand for
    /// the step or migration that failed.
    ///
    /// It is the same on every device and in every release: `10` for a failure that is about no step, and `485_352_010`, for
    /// example, for one of step 2.1. ``errorUserInfo`` says which step that is.
    public var errorCode: Int { summary.group }

    /// The sentences for the person, and the facts of ``summary`` for a crash reporter: `code`, `advice`, `version`, `kind`,
    /// `attempt` and `cause`, as far as they are known.
    public var errorUserInfo: [String: Any] {
        let summary = summary
        let causes = summary.causes.map { "\($0.domain) \($0.number)" }
        let facts: [String: Any?] = [
            NSLocalizedDescriptionKey: errorDescription ?? "",
            NSLocalizedRecoverySuggestionErrorKey: advice.localizedDescription, "code": summary.code,
            "advice": summary.advice.rawValue, "version": summary.version, "kind": summary.kind,
            "attempt": summary.attempt, "cause": causes.isEmpty ? nil : causes.joined(separator: ", "),
        ]
        return facts.compactMapValues(\.self)
    }
}

/// A way out for a person whose data could not be updated.
public enum RecoveryAdvice: String, Codable, Sendable, CaseIterable {
    /// Try again.
    case retry
    /// Unlock the device, and try again.
    case unlock
    /// Free some space, and try again.
    case freeSpace
    /// Install the latest version of the app.
    case updateApp
    /// Wait, and open the app again later.
    case wait
    /// Restore a backup.
    case restore
    /// Save what can be read of a damaged database, as `DatabaseFile.salvage(into:)` does.
    case repair
    /// Contact the developer.
    case contactDeveloper

    /// The advice as a sentence for a person, in English unless the app has a table `AppMigrations` of its own.
    public var localizedDescription: String { PersonText.text("advice.\(rawValue)") }
}

/// The facts about a failure that may leave the device.
///
/// Versions and numbers, and names that the developer has given to types; nothing that a person has written, and no path.
/// It is to be encoded, with the keys `domain`, `code`, `number`, `advice`, `version`, `kind`, `attempt` and `causes`.
public struct FailureSummary: Codable, Sendable, Equatable {
    /// The error's domain: `AppMigrations.MigrationError` or `AppMigrations.SchemaMigrationError`.
    package let domain: String
    /// The name of the code, as in `stepFailed`.
    package let code: String
    /// The number of the code, which never changes.
    package let number: Int
    /// The advice for the person.
    package let advice: RecoveryAdvice
    /// The version of the step, or the version of the schema migration; nil if none is concerned.
    package let version: String?
    /// The kind of the work: `step`, `schema step`, `version change` or `migration`; nil if no work is concerned.
    package let kind: String?
    /// The attempt at the step, from 1; nil if no step is concerned.
    package let attempt: Int?
    /// The errors behind this one, the nearest first.
    package let causes: [Cause]

    /// An error behind another one.
    package struct Cause: Codable, Sendable, Equatable {
        /// The error's domain: for an error of Swift's, its type.
        package let domain: String
        /// The error's code: for one of SQLite's, the extended result code.
        package let number: Int

        package init(_ error: any Error) {
            let report = error as NSError
            domain = report.domain
            number = (error as? any MigrationFailure)?.summary.number ?? report.code
        }
    }

    /// Returns an error, and those behind it.
    package static func chain(from error: (any Error)?) -> [any Error] {
        var chain: [any Error] = []
        var next = error
        while let error = next, chain.count < 4 {
            chain.append(error)
            next = (error as? any MigrationFailure)?.underlyingError
        }
        return chain
    }

    /// The number by which a crash reporter groups failures.
    fileprivate var group: Int {
        guard let kind, let version else { return number }
        // Crash reporters also group by the domain, but that is one for the type. Not more than fits 32 bits.
        return Int("\(kind) \(version)".utf8.fnv1a(after: FNV1a.start) % 1_000_000) * 1_000 + number
    }

    /// - Parameter advice: the advice, unless it is the one for the code.
    package init(
        _ failure: some MigrationFailure, advice: RecoveryAdvice? = nil, version: String?,
        kind: String? = nil, attempt: Int? = nil
    ) {
        domain = type(of: failure).errorDomain
        code = failure.code.description
        number = failure.code.number
        self.version = version
        self.kind = kind
        self.attempt = attempt
        let chain = Self.chain(from: failure.underlyingError)
        let isDamage = chain.contains { ($0 as? any SystemError)?.saysThatDatabaseIsDamaged == true }
        self.advice = isDamage ? .repair : advice ?? RecoveryAdvice(forCode: code)
        causes = chain.map(Cause.init)
    }
}

extension RecoveryAdvice {
    /// Returns the advice for the name of a code, of either kind of error.
    package init(forCode code: String) {
        self =
            switch code {
            case "stepFailed", "migrationFailed", "backupFailed", "suspended", "unreadableStore",
                "unwritableStore",
                "readOnly":
                .retry
            case "deviceLocked": .unlock
            case "diskFull": .freeSpace
            case "newerThanThisProcess", "newerFormat", "newerDatabase": .updateApp
            case "locked", "postponed", "notYetMigrated", "missingDatabase": .wait
            case "damagedDatabase": .repair
            case "damagedStore", "damagedLedger", "unusableDatabase", "databaseFailed": .restore
            default: .contactDeveloper
            }
    }
}

/// The sentences that people read, which an app can translate or replace.
///
/// Copy `AppMigrations.strings` from the package's sources into your app, and translate it: the package looks a sentence up
/// in the table `AppMigrations` of the main bundle first.
package enum PersonText {
    /// Returns the sentence for a key, as in `error.diskFull`.
    package static func text(_ key: String) -> String {
        // The answer is the key, or nothing, where there is no such table.
        let own = Bundle.main.localizedString(forKey: key, value: key, table: "AppMigrations")
        return own == key || own.isEmpty ? english[key] ?? key : own
    }

    /// Returns the sentence for the name of an error's code, of either kind of error.
    package static func text(forCode code: String) -> String {
        let key = "error.\(code)"
        return text(english[key] == nil ? "error.other" : key)
    }

    /// Returns the sentence for a key, with its subject and two numbers put in.
    package static func text(_ key: String, _ first: Int, _ second: Int, subject: String? = nil) -> String {
        let values = [subject, first.formatted(), second.formatted()].compactMap(\.self)
        return values.enumerated().reduce(text(key)) { text, value in
            text.replacingOccurrences(of: "%\(value.offset + 1)$@", with: value.element)
        }
    }

    /// The package's own sentences, by their keys.
    package static let english: [String: String] = {
        let file = String(decoding: PackageResources.AppMigrations_strings, as: UTF8.self)
        var texts: [String: String] = [:]
        for line in file.split(separator: "\n") where line.hasPrefix("\"") {
            let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
            if parts.count == 5 { texts[String(parts[1])] = String(parts[3]) }
        }
        return texts
    }()
}
