public import Foundation

/// Determines the version of an install that has no record.
///
/// A manager asks only when it finds neither a record nor an app version that its store has seen, and at most once
/// in a launch. Return nil if no earlier version left data; throw if you cannot tell: an old install that is taken
/// for a fresh one loses its data.
///
/// ```swift
/// let options = MigrationOptions(adopting: .fileExists(archiveURL, means: "1.0"))
/// let manager = try MigrationManager(name: "Library", options: options)
/// ```
public struct Adoption {
    /// The subject of an answer.
    enum Subject { case install, manager }

    let subject: Subject
    private let version: () throws -> AppVersion?

    /// Creates an adoption from a closure, which runs where `migrate` is called.
    public init(_ version: @escaping () throws -> AppVersion?) {
        self.init(of: .install, version)
    }

    private init(of subject: Subject, _ version: @escaping () throws -> AppVersion?) {
        self.subject = subject
        self.version = version
    }

    func answer() throws -> AdoptionAnswer {
        AdoptionAnswer(subject: subject, version: try version())
    }

    /// Adopts an install at a version if a file exists.
    ///
    /// Choose a file that every earlier install has, and that no fresh one has yet when the manager runs.
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
        return Adoption(of: .manager) {
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
struct AdoptionAnswer {
    let subject: Adoption.Subject
    /// Nil when no earlier version left data.
    let version: AppVersion?
}
