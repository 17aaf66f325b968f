import ArgumentParser
import Foundation
import MigrationDiagnostics
import MigrationTools
import SchemaMigrations

/// The option that names the folder of migrations.
struct DirectoryOption: ParsableArguments {
    @Option(
        help: ArgumentHelp("The folder of the migrations.", valueName: "dir"), completion: .directory)
    var directory = "Migrations"

    var url: URL { URL(fileURLWithPath: directory, isDirectory: true) }

    /// Creates a migrator for the folder.
    ///
    /// It knows migrations in Swift by name; only the app can run them.
    func migrator(options: SchemaOptions = SchemaOptions()) throws -> SchemaMigrator {
        try SchemaMigrator(sourcesIn: url, options: options)
    }

    /// Creates a migrator for the folder; nil if it is not there, or holds no migration yet.
    func migratorIfAny() throws -> SchemaMigrator? {
        guard FileKind(url.path) != .missing else { return nil }
        let set = try MigrationFileSet(names: MigrationFolder.names(in: url), .sqlAndSwift)
        return set.entries.isEmpty && set.problems.isEmpty ? nil : try migrator()
    }
}
