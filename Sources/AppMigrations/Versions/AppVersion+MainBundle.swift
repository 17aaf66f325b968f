import Foundation

extension AppVersion {
    /// The version of the app that this process is.
    ///
    /// - Throws: ``MigrationError`` with the code `invalidConfiguration`.
    static func ofMainBundle() throws -> AppVersion {
        guard let text = Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String
        else {
            throw MigrationError(
                .invalidConfiguration, "The main bundle has no CFBundleShortVersionString.",
                remedy: "Pass the app's version: MigrationManager(currentVersion: \"2.0\", …).")
        }
        do {
            return try AppVersion(parsing: text)
        } catch {
            throw MigrationError(
                .invalidConfiguration, "The main bundle's CFBundleShortVersionString is malformed: \(error)",
                remedy: "Fix it, or pass the app's version: MigrationManager(currentVersion: \"2.0\", …).",
                underlyingError: error)
        }
    }

    /// The version with the build of the app, as in `2.0 (417)`, if the main bundle has one.
    var withBuildOfMainBundle: String {
        Self.buildOfMainBundle.map { "\(self) (\($0))" } ?? description
    }

    /// Looked up once: it does not change while the app runs.
    private static let buildOfMainBundle =
        Bundle.main.object(forInfoDictionaryKey: "CFBundleVersion") as? String
}
