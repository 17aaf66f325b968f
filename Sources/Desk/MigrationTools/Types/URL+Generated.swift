import AppMigrations
import Foundation
import MigrationDiagnostics
import SchemaMigrations

extension URL {
    /// Reads generated code, with the line ends that it was written with: Git may have given it others.
    ///
    /// - Returns: nil, if the file cannot be read.
    func readGenerated() -> String? {
        try? String(contentsOf: self, encoding: .utf8).replacing("\r\n", with: "\n")
    }

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
