import ArgumentParser
import GRDB
import MigrationTesting
import SchemaMigrations

/// Takes edited files as they are.
struct AcceptCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept",
        abstract: "Take files that were edited after they had been applied as they are now.",
        discussion: """
            Nothing is run: the database only remembers the new text. For an edit that was made on purpose.

            EXAMPLE
              app-migrations accept --database library.sqlite 20240110090000000
            """)

    @OptionGroup var database: DatabaseOption
    @OptionGroup var folder: DirectoryOption

    @Argument(help: "The versions of the files.")
    var versions: [SchemaVersion]

    func run() throws {
        let migrator = try folder.migrator()
        try database.writing { queue in
            let edited = try queue.read(migrator.status).edited
            if let other = versions.first(where: { !edited.contains($0) }) {
                throw Failure(
                    "\(other) was not edited after it had been applied to \(database.database)",
                    remedy: edited.isEmpty
                        ? "No file was: there is nothing to accept."
                        : "Edited were: \(edited.map(String.init).joined(separator: ", ")). Nothing was changed."
                )
            }
            try migrator.acceptEdits(queue, of: versions)
        }
        for version in versions {
            print(
                "\(Style().good("✓")) \(version) \(migrator.migration(version: version)?.name ?? "") is taken as it is now"
            )
        }
    }
}
