import AppMigrations
package import Foundation
package import GRDB
import MigrationDiagnostics
package import SchemaMigrations

/// A Swift migration in a folder, which tools know by its file name and only the app can run.
package struct CodeFile: FileMigration {
    package let version: SchemaVersion
    package let name: String

    /// The name of the file.
    package let fileName: String

    package func migrate(_ db: Database) throws {
        throw MigrationError(
            .stepFailed, at: .file(fileName), "is written in Swift, and only the app can run it",
            remedy: "Let the app migrate the database, or migrate up to the version before it.")
    }
}

extension MigrationFolder {
    /// Finds the migrations of a folder, including those in Swift.
    ///
    /// - Throws: `MigrationError`.
    fileprivate static func filesAndCode(in folder: URL) throws -> [any SchemaMigration] {
        let names = try names(in: folder)
        let set = MigrationFileSet(names: names, .sqlAndSwift)
        let code = set.entries.filter { $0.parsed.kind == .code }
        if let problem = set.problems.first(where: { $0.fileName.hasSuffix(".swift") }) {
            throw MigrationError(problem)
        }
        let files: [any SchemaMigration] =
            code.isEmpty || set.entries.count > code.count ? try files(named: names, in: folder) : []
        return files
            + code.map { CodeFile(version: $0.parsed.version, name: $0.parsed.name, fileName: $0.fileName) }
    }
}

extension SchemaMigrator {
    /// Creates a migrator for a tool, with the Swift migrations of a folder known by their file names.
    ///
    /// The migrator knows their position in the order, and cannot run them.
    ///
    /// - Throws: `MigrationError`, as `init(directory:migrations:snapshot:options:adopting:)` does.
    package init(sourcesIn directory: URL, options: SchemaOptions = SchemaOptions()) throws {
        try self.init(migrations: MigrationFolder.filesAndCode(in: directory), options: options)
    }
}
