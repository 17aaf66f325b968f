import AppMigrations
import Foundation
import MigrationDiagnostics
import SchemaMigrations

/// A file of settings beside the migrations, which need not exist.
enum SettingsFile {
    /// Reads the file.
    ///
    /// - Returns: nil if it does not exist.
    /// - Throws: `MigrationError`, if it cannot be read.
    static func text(_ name: String, in folder: URL) throws -> String? {
        let file = folder.appendingPathComponent(name)
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        do {
            return try String(contentsOf: file, encoding: .utf8)
        } catch {
            throw MigrationError(
                .misuse, at: .file(name), "cannot be read: \(error.localizedDescription)",
                remedy: "Save it as UTF-8 text that its owner can read.")
        }
    }
}
