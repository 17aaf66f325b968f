public import Foundation

/// The folder into which this package's products are built.
public enum Products {
    /// The executable of a target.
    public static func executable(_ name: String) throws -> URL {
        let candidates = folders.map { $0.appendingPathComponent(name) }
        guard
            let executable = candidates.first(where: { url in
                var isFolder: ObjCBool = false
                return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
                    && !isFolder.boolValue && FileManager.default.isExecutableFile(atPath: url.path)
            })
        else { throw NotBuilt(description: "No executable at any of \(candidates.map(\.path))") }
        return executable
    }

    /// The arguments by which the compiler finds the modules of this package, and those that they need.
    static func moduleSearchPaths() throws -> [String] {
        guard let products = folders.first(where: { isThere($0.appendingPathComponent("Modules")) }) else {
            throw NotBuilt(description: "No modules at any of \(folders.map(\.path))")
        }
        // <scratch folder>/<triple>/<configuration> holds the products. Which modules of C there are depends on
        // how GRDB was made: SwiftPM notes them in <scratch folder>/<configuration>.yaml.
        let scratch = products.deletingLastPathComponent().deletingLastPathComponent()
        let manifest = try String(
            contentsOf: scratch.appendingPathComponent("\(products.lastPathComponent).yaml"), encoding: .utf8)
        let maps = Set(manifest.matches(of: /"(-fmodule-map-file=[^"]+)"/).map { String($0.1) })
        return ["-I", products.appendingPathComponent("Modules").path]
            + maps.sorted().flatMap { ["-Xcc", $0] }
    }

    private static func isThere(_ url: URL) -> Bool { FileManager.default.fileExists(atPath: url.path) }

    /// Where products may be: beside the test bundle, among the other products of the build.
    public static var folders: [URL] {
        let bundles = [Bundle(for: Anchor.self).bundleURL, Bundle.main.bundleURL]
        return bundles + bundles.map { $0.deletingLastPathComponent() }
    }

    private final class Anchor {}

    private struct NotBuilt: Error, CustomStringConvertible {
        let description: String
    }
}
