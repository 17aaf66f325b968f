import Foundation
import GRDB
import MigrationDiagnostics
import SchemaMigrations

// Opens a database for one command, with failures in this tool's words.
extension DatabaseFile {
    /// Reads the database, which must exist, and leaves the file as it is.
    func reading<Result>(_ body: (DatabaseQueue) throws -> Result) throws -> Result {
        try checkExists()
        return try using(body) { try openReadOnly() }
    }

    /// Changes the database, which must exist.
    func writing<Result>(_ body: (DatabaseQueue) throws -> Result) throws -> Result {
        try checkExists()
        return try using(body) { try openQueue() }
    }

    /// Changes the database, and creates it if it does not exist.
    func creating<Result>(_ body: (DatabaseQueue) throws -> Result) throws -> Result {
        try using(body) { try openQueue() }
    }

    private func checkExists() throws {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue else {
            throw Failure(
                isFolder.boolValue ? "\(path) is a folder" : "There is no database \(path)",
                remedy:
                    "Pass the path of a SQLite database as --database; only `app-migrations migrate` creates one."
            )
        }
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
