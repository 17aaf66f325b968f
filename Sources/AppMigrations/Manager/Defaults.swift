import Foundation

// What a manager takes from the app that it runs in, when it is not told.

extension AppVersion {
    static func ofMainBundle() throws -> AppVersion {
        guard let text = Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String
        else {
            throw MigrationError(
                .invalidCurrentVersion, "The main bundle has no CFBundleShortVersionString.",
                remedy: "Pass the app's version: MigrationManager(currentVersion: \"2.0\", …).")
        }
        do {
            return try AppVersion(parsing: text)
        } catch {
            throw MigrationError(
                .invalidCurrentVersion, "The main bundle's CFBundleShortVersionString is malformed: \(error)",
                remedy: "Mend it, or pass the app's version: MigrationManager(currentVersion: \"2.0\", …).",
                underlyingError: error)
        }
    }

    /// The version with the build of the app, as in `2.0 (417)`, where the main bundle tells it.
    var withBuildOfMainBundle: String {
        Self.buildOfMainBundle.map { "\(self) (\($0))" } ?? description
    }

    /// Asked for once: it does not change while the app runs.
    private static let buildOfMainBundle =
        Bundle.main.object(forInfoDictionaryKey: "CFBundleVersion") as? String
}

extension JSONStore {
    /// The store of an app that does not name one: `<Application Support>/<bundle identifier>/migrations.json`.
    static func inApplicationSupport() throws -> JSONStore {
        func refusal(_ reason: String) -> MigrationError {
            MigrationError(
                .noStoreLocation, "There is no default store here: \(reason).",
                remedy: "Pass one: store: try JSONStore(at: url), or InMemoryStore() in tests and previews.")
        }
        let environment = ProcessInfo.processInfo.environment
        if Bundle.main.bundleURL.pathExtension == "appex" {
            throw refusal("an app extension shares its app's store, which cannot be guessed")
        }
        if environment["XCTestConfigurationFilePath"] != nil || environment["XCTestBundlePath"] != nil {
            throw refusal("tests must not touch the app's own store")
        }
        if environment["XCODE_RUNNING_FOR_PREVIEWS"] == "1" {
            throw refusal("a preview must not touch the app's own store")
        }
        guard let identifier = Bundle.main.bundleIdentifier else {
            throw refusal("the main bundle has no identifier")
        }
        let folder: URL
        do {
            folder = try FileManager.default.url(
                for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true
            ).appendingPathComponent(identifier, isDirectory: true)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw MigrationError(
                .noStoreLocation, "The app's folder in Application Support cannot be made: \(error).",
                remedy: "Pass a store in a folder that exists: store: try JSONStore(at: url).",
                underlyingError: error)
        }
        return try JSONStore(at: folder.appendingPathComponent("migrations.json"))
    }
}
