import AppMigrations
package import Foundation
import MigrationDiagnostics
import MigrationEmbedding
import SchemaMigrations

/// The migrations of a folder as Swift code that is committed, for an app that does not use the build plugin.
package struct CommittedMigrations {
    /// The text of the file.
    package let text: String
    /// The number of migrations.
    package let count: Int

    /// Reads the migrations of a folder.
    ///
    /// - Throws: `MigrationError`, for the first file that cannot be embedded.
    package init(in folder: URL) throws {
        let names = try MigrationFolder.names(in: folder).sorted()
        let files = names.filter { $0.utf8.first.map { (0x30...0x39).contains($0) } == true }
        let migrations = try Self.read(files.map { folder.appendingPathComponent($0) }, in: folder)
        count = migrations.migrations.count
        text = SwiftSource(migrations, form: .committed).text
    }

    private static func read(_ files: [URL], in folder: URL) throws -> EmbeddedMigrations {
        do {
            return try EmbeddedMigrations(files: files, folder: folder)
        } catch {
            guard let first = error.diagnostics.first else { throw error }
            throw MigrationError(.invalidMigration, first)
        }
    }

    /// Writes the file, unless it has the text already.
    ///
    /// - Returns: true if it was written.
    /// - Throws: `MigrationError`, if another file is there.
    package func write(to url: URL) throws -> Bool {
        if FileManager.default.fileExists(atPath: url.path) {
            guard let old = url.readGenerated(), old.hasPrefix(SwiftSource.committedTitle) else {
                throw MigrationError(
                    .misuse, at: .file(url.lastPathComponent),
                    "exists already, and holds no embedded migrations",
                    remedy: "Remove it, or pass another path. Nothing was changed.")
            }
            if old.utf8.elementsEqual(text.utf8) { return false }
        }
        try url.write(generated: text)
        return true
    }
}
