import Foundation
import GRDB
import MigrationDiagnostics
import SchemaMigrations

// Opens a database for one command, with failures in this tool's words.
extension DatabaseFile {
    /// Reads the database, which must exist, and leaves the file as it is.
    func reading<Result>(_ body: (DatabaseQueue) throws -> Result) throws -> Result {
        try checkFile(mayBeMissing: false)
        return try using(body) { try openReadOnly() }
    }

    /// Changes the database, which must exist.
    func writing<Result>(_ body: (DatabaseQueue) throws -> Result) throws -> Result {
        try checkFile(mayBeMissing: false)
        return try using(body) { try openQueue() }
    }

    /// Changes the database, and creates it if it does not exist.
    func creating<Result>(_ body: (DatabaseQueue) throws -> Result) throws -> Result {
        try checkFile(mayBeMissing: true)
        return try using(body) { try openQueue() }
    }

    /// Refuses what SQLite would open and forget, and what it would wait for.
    private func checkFile(mayBeMissing: Bool) throws {
        let problem: String?
        // uri.html and inmemorydb.html: these are no paths of files, or not only.
        if path.isEmpty || path.hasPrefix(":memory:") || path.hasPrefix("file:") {
            problem = path.isEmpty ? "The path of the database is empty" : "\(path) is not the path of a file"
        } else {
            switch FileKind(path) {
            case .regular: problem = nil
            case .missing: problem = mayBeMissing ? nil : "There is no database \(path)"
            case .folder: problem = "\(path) is a folder"
            case .other: problem = "\(path) is not a regular file"
            }
        }
        guard let problem else { return }
        throw Failure(
            problem,
            remedy:
                "Pass the path of a SQLite database as --database; only `app-migrations migrate` creates one."
        )
    }

    private func using<Result>(
        _ body: (DatabaseQueue) throws -> Result, opening: () throws -> DatabaseQueue
    ) throws -> Result {
        do {
            return try SchemaMigrationError.mapErrors {
                let database = try opening()
                let result = Swift.Result { try body(database) }
                try database.close()
                return try result.get()
            }
        } catch let error as SchemaMigrationError where error.code == .databaseFailed {
            var diagnostic = error.diagnostic
            diagnostic.place = .file(path)
            throw Failure(diagnostic)
        }
    }
}
