import ArgumentParser
import Foundation
import MigrationTools
import SchemaMigrations

/// Which migrations.
struct DirectoryOption: ParsableArguments {
    @Option(
        help: ArgumentHelp("The folder of the migrations.", valueName: "dir"), completion: .directory)
    var directory = "Migrations"

    var url: URL { URL(fileURLWithPath: directory, isDirectory: true) }

    /// The migrations of the folder.
    ///
    /// Those in Swift are known by name, and can be run by the app only.
    func migrator(options: SchemaOptions = SchemaOptions()) throws -> SchemaMigrator {
        try SchemaMigrator(sourcesIn: url, options: options)
    }
}
