import ArgumentParser
import Foundation
import GRDB
import MigrationDiagnostics
import MigrationTools
import SchemaMigrations

/// The option that names the database.
struct DatabaseOption: ParsableArguments {
    @Option(help: ArgumentHelp("The SQLite database.", valueName: "file"), completion: .file())
    var database: String

    @OptionGroup var passphrase: PassphraseOptions

    /// Reads the database, which must exist, and leaves the file as it is.
    func reading<Result>(
        with standIns: StandIns = StandIns(), _ body: (DatabaseQueue) throws -> Result
    ) throws -> Result {
        try passphrase.file(database, with: standIns).reading(body)
    }

    /// Changes the database, which must exist.
    ///
    /// - Parameter standIns: what stands in for the app's functions and collations, unless the body changes tables of the app.
    func writing<Result>(
        with standIns: StandIns = StandIns(), _ body: (DatabaseQueue) throws -> Result
    ) throws -> Result {
        try passphrase.file(database, with: standIns).writing(body)
    }

    /// Changes the database, and creates it if it does not exist.
    func creating<Result>(_ body: (DatabaseQueue) throws -> Result) throws -> Result {
        try passphrase.file(database).creating(body)
    }
}
