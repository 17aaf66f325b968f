import ArgumentParser
import Foundation
import GRDB
import MigrationDiagnostics
import SchemaMigrations

/// The option that names the database.
struct DatabaseOption: ParsableArguments {
    @Option(help: ArgumentHelp("The SQLite database.", valueName: "file"), completion: .file())
    var database: String

    /// Reads the database, which must exist, and leaves the file as it is.
    func reading<Result>(_ body: (DatabaseQueue) throws -> Result) throws -> Result {
        try DatabaseFile(path: database).reading(body)
    }

    /// Changes the database, which must exist.
    func writing<Result>(_ body: (DatabaseQueue) throws -> Result) throws -> Result {
        try DatabaseFile(path: database).writing(body)
    }
}
