import Foundation
import MigrationDiagnostics

/// The facts about a failure that may leave the device.
package struct FailureSummary: Encodable, Sendable, Equatable {
    /// The error's domain, `AppMigrations.MigrationError`.
    package let domain: String
    /// The name of the code, as in `stepFailed`.
    package let code: String
    /// The number of the code, which never changes.
    let number: Int
    /// The advice for the person.
    package let advice: RecoveryAdvice
    /// The version of the step, or the version of the schema migration; nil if none is concerned.
    let version: String?
    /// The kind of the work: `step`, `schema step`, `version change` or `migration`; nil if no work is concerned.
    package let kind: String?
    /// The schema migration that failed, by its version or its identifier in GRDB; nil if none is concerned, or it is the
    /// ``version``.
    package let migration: String?
    /// The attempt at the step, from 1; nil if no step is concerned.
    let attempt: Int?
    /// The errors behind this one, the nearest first.
    package let causes: [Cause]

    /// An error behind another one.
    package struct Cause: Encodable, Sendable, Equatable {
        /// The error's domain: for an error of Swift's, its type.
        package let domain: String
        /// The error's code: for one of SQLite's, the extended result code.
        package let number: Int

        init(_ error: any Error) {
            let report = error as NSError
            // A private type's name has an address, which differs from launch to launch.
            domain = report.domain.replacingOccurrences(
                of: #"\(unknown context at [^)]*\)\."#, with: "", options: .regularExpression)
            number = (error as? MigrationError)?.code.number ?? report.code
        }
    }

    /// Returns an error, and those behind it.
    static func chain(from error: (any Error)?) -> [any Error] {
        var chain: [any Error] = []
        var next = error
        while let error = next, chain.count < 4 {
            chain.append(error)
            next = (error as? MigrationError)?.underlyingError
        }
        return chain
    }

    /// The number by which a crash reporter groups failures.
    var group: Int {
        let name = [version, migration].compactMap(\.self).joined(separator: " ")
        guard let kind, !name.isEmpty else { return number }
        // Crash reporters also group by the domain, but that is one for the type. Not more than fits 32 bits.
        return Int("\(kind) \(name)".utf8.fnv1a(after: FNV1a.start) % 1_000_000) * 1_000 + number
    }

    init(_ error: MigrationError) {
        domain = MigrationError.errorDomain
        code = error.code.description
        number = error.code.number
        version = error.version?.description ?? error.schemaVersion?.description
        kind = error.work?.kind.description ?? (error.version == nil && version != nil ? "migration" : nil)
        attempt = error.attempt
        let chain = Self.chain(from: error.underlyingError)
        migration = error.migration ?? chain.lazy.compactMap { ($0 as? MigrationError)?.migration }.first
        let reasons = chain.lazy.compactMap(\.systemError)
        if reasons.contains(where: \.saysThatDatabaseIsDamaged) {
            advice = .repair
        } else if error.isRepeated {
            advice = .contactDeveloper
        } else if error.code == .databaseFailed, reasons.first?.saysThatFileIsRefused == true {
            advice = .retry
        } else {
            advice = RecoveryAdvice(error.code)
        }
        causes = chain.map(Cause.init)
    }
}
