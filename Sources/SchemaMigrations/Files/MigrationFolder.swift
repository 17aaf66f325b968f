import Foundation
import GRDB
import MigrationFiles

/// Finds the migrations in a folder, by the names of its files.
///
/// Reads none of them.
enum MigrationFolder {
    static func files(in folder: URL) throws -> [SQLFile] {
        try files(named: names(in: folder), in: folder)
    }

    /// The names of everything in a folder.
    static func names(in folder: URL) throws -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: folder.path)
        } catch {
            let exists = FileManager.default.fileExists(atPath: folder.path)
            throw SchemaMigrationError(
                .noMigrations,
                exists
                    ? "The folder \(folder.path) cannot be read: \(error.localizedDescription)"
                    : "The folder \(folder.path) does not exist.",
                remedy:
                    "Pass the folder that holds the migrations; in an app, see that it is copied into the bundle.",
                file: folder.path, underlyingError: error)
        }
    }

    private static func files(named names: [String], in folder: URL) throws -> [SQLFile] {
        let set = MigrationFileSet(names: names, .sql)
        // Two files of one version are refused by the migrator, which also knows the other folders.
        let problems = set.problems.filter { $0.kind != .doubleVersion }
        // That there is nothing says more than that something is missing beside it.
        if let problem = problems.first(where: { $0.kind == .malformedName }) {
            throw SchemaMigrationError(problem)
        }
        guard !set.entries.isEmpty else {
            throw SchemaMigrationError(
                .noMigrations, "The folder \(folder.path) holds no migration.",
                remedy: "Migrations are files named <version>_<name>.sql.", file: folder.path)
        }
        if let problem = problems.first { throw SchemaMigrationError(problem) }
        return set.entries.map { SQLFile($0, in: folder) }
    }
}

extension SchemaMigrationError {
    /// What is wrong with a file's name, as an error.
    init(_ problem: MigrationFileProblem) {
        self.init(
            problem.kind == .doubleVersion ? .duplicateVersion : .malformedFileName,
            "\(problem.fileName): \(problem.problem).", remedy: problem.remedy, file: problem.fileName)
    }
}

/// A migration in a `.sql` file, which is read when it is needed.
struct SQLFile: SQLSource {
    let version: SchemaVersion
    let name: String
    let fileName: String
    /// The name of the file that takes it back.
    private let downName: String?
    /// Joined with a name when a file is read: doing so asks the file system, for each file.
    private let folder: URL

    init(_ entry: MigrationFileSet.Entry, in folder: URL) {
        version = entry.parsed.version
        name = entry.parsed.name
        fileName = entry.fileName
        downName = entry.down
        self.folder = folder
    }

    var hasDown: Bool { downName != nil }

    func script() throws -> SQLScript {
        try script(fileName)
    }

    func downScript() throws -> SQLScript? {
        try downName.map(script)
    }

    func migrate(_ db: Database) throws {
        try script().run(db) {}
    }

    private func script(_ fileName: String) throws -> SQLScript {
        let data: Data
        do {
            data = try Data(contentsOf: folder.appendingPathComponent(fileName))
        } catch {
            throw SchemaMigrationError(
                .unreadableFile, "\(fileName): cannot be read: \(error.localizedDescription)",
                remedy: "It was there when the folder was listed: make it readable.",
                file: fileName, underlyingError: error)
        }
        return try SQLScript(data, fileName: fileName)
    }
}
