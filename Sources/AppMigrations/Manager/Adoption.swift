public import Foundation

/// An app's answer to the question at which version an install without a record is.
///
/// It is asked only when there is no record. Nil means: there is nothing here from before. Whoever cannot tell
/// must throw: an old install that is taken for a fresh one loses its data.
public struct Adoption {
    let version: () throws -> AppVersion?

    /// Creates an answer from a closure, which runs where `migrate` is called.
    public init(_ version: @escaping () throws -> AppVersion?) {
        self.version = version
    }

    /// An install in which a file exists is at a version.
    ///
    /// For a file that every install from before has, and that no fresh one has yet when the manager runs.
    ///
    /// - Parameters:
    ///   - url: the file, or folder.
    ///   - version: the version that its existence means.
    public static func fileExists(_ url: URL, means version: AppVersion) -> Adoption {
        Adoption {
            let file = DurableFile(at: url)
            do {
                return try file.exists() ? version : nil
            } catch let error as POSIXError {
                throw MigrationError(
                    .undecided, "It cannot be told whether \(url.path) exists: \(error.reason).",
                    remedy: "Nothing was run. Make its folder readable, and launch again.",
                    underlyingError: error)
            }
        }
    }

    /// The version that MFMigrationManager left in the user defaults, so that an app can change libraries
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
                    remedy: "Nothing was run. Mend the default, or answer by a closure of your own.")
            }
            return version
        }
    }
}
