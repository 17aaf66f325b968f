import AppMigrations
package import Foundation
import MigrationDiagnostics
package import SchemaMigrations

/// A file of types that exists, or is to be written.
package struct SchemaTypesFile: Sendable {
    package let url: URL
    /// The text; nil if there is no file.
    package let text: String?
    /// The header; nil if there is no file.
    package let header: SchemaTypesHeader?

    /// Reads a file.
    ///
    /// - Throws: `MigrationError`, if it is another file.
    package init(_ url: URL) throws {
        self.url = url
        guard FileManager.default.fileExists(atPath: url.path) else {
            (text, header) = (nil, nil)
            return
        }
        guard let text = url.readGenerated(), let header = SchemaTypesHeader(of: text) else {
            throw MigrationError(
                .misuse, at: .file(url.lastPathComponent),
                "exists already, and holds no types of old schemas",
                remedy: "Remove it, or pass another path. Nothing was changed.")
        }
        (self.text, self.header) = (text, header)
    }

    /// Returns whether the file has a text, byte by byte.
    ///
    /// Swift takes two spellings of a character for the same, and SQLite does not.
    package func hasBytes(of text: String) -> Bool {
        self.text.map { $0.utf8.elementsEqual(text.utf8) } == true
    }

    /// Writes the file, unless it has the text already.
    ///
    /// - Returns: true if it was written.
    @discardableResult
    package func write(_ text: String) throws -> Bool {
        guard !hasBytes(of: text) else { return false }
        try url.write(generated: text)
        return true
    }
}

extension SchemaMigrator {
    /// The versions that have types by default: the schema that each release left, as far as the files say, and the
    /// latest.
    ///
    /// A file says so by the word "release" in its name, or as a baseline that names its last release.
    package func releasedVersions() throws -> Set<SchemaVersion> {
        var versions = Set(migrations.filter { $0.name.namesRelease }.map(\.version))
        if let latest = migrations.last { versions.insert(latest.version) }
        if let first = migrations.first as? any SQLSource, let baseline = Baseline(try first.text()),
            baseline.lastRelease != nil
        {
            versions.insert(first.version)
        }
        return versions
    }
}

extension String {
    fileprivate var namesRelease: Bool {
        lowercased().split { !$0.isLetter && !$0.isNumber }.contains { $0 == "release" || $0 == "released" }
    }
}
