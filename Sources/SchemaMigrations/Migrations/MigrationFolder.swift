import AppMigrations
package import Foundation
import GRDB
package import MigrationDiagnostics

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

/// A finder of the migrations in a folder, which looks at the names of its files and reads none of them.
package enum MigrationFolder {
    /// Returns the `.sql` files of a folder.
    package static func files(in folder: URL) throws -> [any SchemaMigration] {
        try files(named: names(in: folder), in: folder)
    }

    /// Returns the names of everything in a folder.
    package static func names(in folder: URL) throws -> [String] {
        let path = folder.path
        do {
            // Where the C library cannot open the folder, Foundation says why.
            return try list(path) ?? FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            let exists = FileManager.default.fileExists(atPath: path)
            throw MigrationError(
                .invalidMigration, at: .file(path),
                exists ? "cannot be read: \(error.localizedDescription)" : "the folder does not exist",
                remedy:
                    "Pass the folder that holds the migrations; in an app, check that it is copied into the bundle.",
                underlyingError: error
            ).about(.noMigrations)
        }
    }

    /// Lists a folder by the C library, or returns nil if it cannot be opened.
    ///
    /// - Throws: `POSIXError`, if it cannot be read to its end: Foundation would take what it has got for all.
    private static func list(_ path: String) throws -> [String]? {
        #if canImport(Darwin) || canImport(Glibc) || canImport(Musl) || canImport(Android)
            guard !path.utf8.contains(0), let folder = opendir(path),
                let offset = MemoryLayout<dirent>.offset(of: \.d_name)
            else { return nil }
            defer { closedir(folder) }
            var names: [String] = []
            while true {
                errno = 0
                guard let entry = readdir(folder) else {
                    guard errno == 0 else { throw POSIXError.current }
                    return names
                }
                let text = UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self)
                let name = String(cString: text)
                if name != "." && name != ".." { names.append(name) }
            }
        #else
            return nil
        #endif
    }

    /// Returns the migrations among the named files of a folder.
    package static func files(named names: [String], in folder: URL) throws -> [any SchemaMigration] {
        let set = MigrationFileSet(names: names, .sql)
        // The migrator refuses two files of one version, since it also knows the other folders.
        let problems = set.problems.filter { $0.kind != .doubleVersion }
        // The error of a folder without migrations says more than that of a down migration without its file.
        if let problem = problems.first(where: { $0.kind == .malformedName }) {
            throw MigrationError(problem)
        }
        guard !set.entries.isEmpty else {
            throw MigrationError(
                .invalidMigration, at: .file(folder.path), "the folder holds no migration",
                remedy: "Name the files of migrations <version>_<name>.sql."
            ).about(.noMigrations)
        }
        if let problem = problems.first { throw MigrationError(problem) }
        return set.entries.map { SQLFile($0, in: folder) }
    }
}

extension MigrationError {
    /// Creates an error for a problem with a file's name.
    package init(_ problem: MigrationFileProblem) {
        self.init(.invalidMigration, problem.diagnostic)
    }
}

/// A migration in a `.sql` file, which is read when it is needed.
struct SQLFile: SQLSource {
    let version: SchemaVersion
    let name: String
    let fileName: String
    /// The name of the down migration's file.
    private let downName: String?
    /// The folder, joined with a name only when a file is read, because joining asks the file system.
    private let folder: URL

    init(_ entry: MigrationFileSet.Entry, in folder: URL) {
        version = entry.parsed.version
        name = entry.parsed.name
        fileName = entry.fileName
        downName = entry.down
        self.folder = folder
    }

    var hasDown: Bool { downName != nil }

    func text() throws -> String {
        try text(of: fileName)
    }

    func downScript() throws -> SQLScript? {
        try downName.map { try SQLScript(text(of: $0), fileName: $0) }
    }

    func migrate(_ db: Database) throws {
        try script().run(db) {}
    }

    private func text(of fileName: String) throws -> String {
        let data: Data
        do {
            data = try Data(contentsOf: folder.appendingPathComponent(fileName))
        } catch {
            throw MigrationError(
                .invalidMigration, at: .file(fileName), "cannot be read: \(error.localizedDescription)",
                remedy: "Check its permissions.",
                underlyingError: error)
        }
        return try SQLScript.text(data, fileName: fileName)
    }
}
