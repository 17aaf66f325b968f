public import Foundation

/// Determines the version of an install that has no record.
///
/// Every app decides once who its users are, and passes the answer whenever it creates a manager:
///
/// | the manager is | pass |
/// | --- | --- |
/// | in the app from its first release | ``newApp`` |
/// | added to an app that people have, with a SQLite database | `.databaseHasTables(dbQueue, means: "1.0")`, in SchemaMigrations |
/// | added to an app that people have, with files | ``fileExists(_:means:)`` |
/// | the successor of an MFMigrationManager | ``mfMigrationManager(name:defaults:)`` |
/// | anything else | a closure |
///
/// ```swift
/// let manager = try MigrationManager(
///     name: "Library", adopting: .fileExists(archiveURL, means: "1.0"))
/// ```
///
/// A manager asks while it has no record, at most once in a launch. Return nil if no earlier version left data; throw if
/// you cannot tell: an old install that is taken for a fresh one loses its data.
public struct Adoption {
    /// The launch for which a manager asks.
    package struct Question: Sendable {
        package let current: AppVersion
        package let line: String
    }

    package let answer: (Question) throws -> AppVersion?

    /// Creates an adoption from a closure, which runs where `migrate` is called.
    ///
    /// ```swift
    /// let adopting = Adoption {
    ///     guard let text = UserDefaults.standard.string(forKey: "lastVersion") else { return nil }
    ///     return try AppVersion(parsing: text)
    /// }
    /// ```
    ///
    /// - Parameter version: returns the version of the data; nil if no earlier version left any.
    public init(_ version: @escaping () throws -> AppVersion?) {
        answer = { _ in try version() }
    }

    package init(answer: @escaping (Question) throws -> AppVersion?) {
        self.answer = answer
    }

    /// No one had the app before it had this manager: an install without a record is fresh.
    ///
    /// - Warning: In an app that people already have, this takes their data for that of a new install, and its steps
    ///   never run.
    public static var newApp: Adoption { Adoption { nil } }

    /// Adopts an install at a version if a file exists.
    ///
    /// Choose a file that every earlier install has, and that only versions without this manager created. A file that
    /// newer versions create too makes a fresh install look like an old one to a manager that is asked after that.
    ///
    /// - Parameters:
    ///   - url: the file or folder.
    ///   - version: the version that its existence means.
    public static func fileExists(_ url: URL, means version: AppVersion) -> Adoption {
        Adoption {
            let file = DurableFile(at: url)
            do {
                return try file.exists() ? version : nil
            } catch let error as POSIXError {
                throw MigrationError(
                    .undecided, "Cannot tell whether \(url.path) exists: \(error.reason).",
                    remedy: "Nothing was run. Make its folder readable, and launch again.",
                    underlyingError: error)
            }
        }
    }

    /// Adopts the version that MFMigrationManager left in the user defaults, so that an app can change libraries
    /// without running anything twice.
    ///
    /// - Parameters:
    ///   - name: the name of the MFMigrationManager; nil for the one without a name.
    ///   - defaults: the defaults in which it kept its version.
    public static func mfMigrationManager(name: String? = nil, defaults: UserDefaults = .standard) -> Adoption
    {
        let key = "MFMigrationManagerLastVersionKey" + (name.map { "-\($0)" } ?? "")
        return Adoption {
            guard let value = defaults.object(forKey: key) else { return nil }
            guard let text = value as? String, let version = AppVersion(text) else {
                throw MigrationError(
                    .undecided, "The user default \(key) holds \(value), which is not an app version.",
                    remedy: "Nothing was run. Fix the default, or pass an Adoption of your own.")
            }
            return version
        }
    }
}

/// The answer of an app about an install without a record.
struct AdoptionAnswer: Sendable {
    /// Nil if no earlier version left data.
    let version: AppVersion?
}
