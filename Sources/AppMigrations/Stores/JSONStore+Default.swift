import Foundation

extension JSONStore {
    /// The default store of an app: `<Application Support>/<bundle identifier>/migrations.json`.
    ///
    /// - Throws: ``MigrationError`` with the code `invalidConfiguration`, where there is no such place.
    static func inApplicationSupport() throws -> JSONStore {
        func refusal(_ reason: String) -> MigrationError {
            MigrationError(
                .invalidConfiguration, "There is no default store here: \(reason).",
                remedy: "Pass one: store: try JSONStore(at: url), or InMemoryStore() in tests and previews.")
        }
        guard !isPurged else {
            throw refusal("tvOS deletes an app's files when it needs space, and the app would look new")
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
                .invalidConfiguration, "The app's folder in Application Support cannot be created: \(error).",
                remedy: "Pass a store in a folder that exists: store: try JSONStore(at: url).",
                underlyingError: error)
        }
        return try JSONStore(at: folder.appendingPathComponent("migrations.json"))
    }

    /// Whether the system deletes the files of apps that are not running.
    private static var isPurged: Bool {
        #if os(tvOS)
            true
        #else
            false
        #endif
    }
}
