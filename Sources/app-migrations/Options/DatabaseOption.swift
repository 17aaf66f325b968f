import ArgumentParser
import Foundation
import GRDB
import MigrationDiagnostics
import SchemaMigrations

/// The option that names the database.
struct DatabaseOption: ParsableArguments {
    @Option(help: ArgumentHelp("The SQLite database.", valueName: "file"), completion: .file())
    var database: String

    /// Reads the database, which must be there, and leaves the file as it is.
    func reading<Result>(_ body: (DatabaseQueue) throws -> Result) throws -> Result {
        try DatabaseFile(path: database).reading(body)
    }

    /// Changes the database, which must be there.
    func writing<Result>(_ body: (DatabaseQueue) throws -> Result) throws -> Result {
        try DatabaseFile(path: database).writing(body)
    }
}

/// The file of a database.
struct DatabaseFile {
    let path: String

    func reading<Result>(_ body: (DatabaseQueue) throws -> Result) throws -> Result {
        try checkExists()
        return try using(body) { try DatabaseQueue.reading(path: path) }
    }

    func writing<Result>(_ body: (DatabaseQueue) throws -> Result) throws -> Result {
        try checkExists()
        return try using(body) { try DatabaseQueue.opening(path: path) }
    }

    /// Changes the database, which is made if it is not there.
    func creating<Result>(_ body: (DatabaseQueue) throws -> Result) throws -> Result {
        try using(body) { try DatabaseQueue.opening(path: path) }
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
