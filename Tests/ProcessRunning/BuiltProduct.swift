package import Foundation

/// Finds the programs that are built together with the tests.
package enum BuiltProduct {
    /// A program of this package, which stands beside the test bundle.
    ///
    /// - Throws: `CocoaError`, with the places where it was looked for.
    package static func executable(_ name: String) throws -> URL {
        let bundles = [Bundle(for: Anchor.self).bundleURL, Bundle.main.bundleURL]
        let places = bundles + bundles.map { $0.deletingLastPathComponent() }
        let candidates = places.map { $0.appendingPathComponent(name) }
        let found = candidates.first { url in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
                && !isFolder.boolValue && FileManager.default.isExecutableFile(atPath: url.path)
        }
        guard let found else {
            throw CocoaError(
                .fileNoSuchFile, userInfo: [NSFilePathErrorKey: candidates.map(\.path).joined(separator: ", ")])
        }
        return found
    }

    /// A program of the system; nil where it is not installed.
    package static func system(_ name: String) -> URL? {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            .map { URL(fileURLWithPath: String($0)).appendingPathComponent(name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    private final class Anchor {}
}
