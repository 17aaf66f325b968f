package import Foundation
import MigrationDiagnostics
package import MigrationFiles

/// A finder of the migrations in a folder, which looks at the names of its files and reads none of them.
package enum MigrationFolder {
    /// Returns the `.sql` files of a folder.
    package static func files(in folder: URL) throws -> [any SchemaMigration] {
        try files(named: names(in: folder), in: folder)
    }

    /// Returns the names of everything in a folder.
    package static func names(in folder: URL) throws -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: folder.path)
        } catch {
            let exists = FileManager.default.fileExists(atPath: folder.path)
            throw SchemaMigrationError(
                .noMigrations, at: .file(folder.path),
                exists ? "cannot be read: \(error.localizedDescription)" : "the folder does not exist",
                remedy:
                    "Pass the folder that holds the migrations; in an app, check that it is copied into the bundle.",
                underlyingError: error)
        }
    }

    /// Returns the migrations among the named files of a folder.
    package static func files(named names: [String], in folder: URL) throws -> [any SchemaMigration] {
        let set = MigrationFileSet(names: names, .sql)
        // The migrator refuses two files of one version, since it also knows the other folders.
        let problems = set.problems.filter { $0.kind != .doubleVersion }
        // The error of a folder without migrations says more than that of a down migration without its file.
        if let problem = problems.first(where: { $0.kind == .malformedName }) {
            throw SchemaMigrationError(problem)
        }
        guard !set.entries.isEmpty else {
            throw SchemaMigrationError(
                .noMigrations, at: .file(folder.path), "the folder holds no migration",
                remedy: "Name the files of migrations <version>_<name>.sql.")
        }
        if let problem = problems.first { throw SchemaMigrationError(problem) }
        return set.entries.map { SQLFile($0, in: folder) }
    }
}

extension SchemaMigrationError {
    /// Creates an error for a problem with a file's name.
    package init(_ problem: MigrationFileProblem) {
        self.init(.invalidMigration, problem.diagnostic)
    }
}
