import AppMigrations
import Foundation
import MigrationDiagnostics
import SchemaMigrations

extension URL {
    /// Writes generated code to a file, and makes its folder if it is missing.
    ///
    /// - Throws: `MigrationError`, if the file cannot be written.
    func write(generated text: String) throws {
        do {
            try FileManager.default.createDirectory(
                at: deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: self, options: .atomic)
        } catch {
            throw MigrationError(
                .misuse, at: .file(lastPathComponent),
                "cannot be written: \(error.localizedDescription)",
                remedy: "Make its folder writable.")
        }
    }
}
