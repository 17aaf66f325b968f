import ArgumentParser
import GRDB
import MigrationTools
import SchemaMigrations
import TextOutput

/// Accepts edits to migrations that were already applied.
struct AcceptCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept",
        abstract: "Accept edits to migrations that were already applied.",
        discussion: """
            Runs nothing: the database only records the new text. For an edit that was made on purpose.

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
            let edited = try queue.read(migrator.status).editedVersions
            if let other = versions.first(where: { !edited.contains($0) }) {
                throw Failure(
                    "\(other) was not edited after it was applied to \(database.database)",
                    remedy: edited.isEmpty
                        ? "No file was: there is nothing to accept."
                        : "Edited: \(edited.map(String.init).joined(separator: ", ")). Nothing was changed."
                )
            }
            try migrator.acceptEdits(queue, of: versions)
        }
        for version in versions {
            print(
                "\(Style().good("✓")) \(version) \(migrator.migration(version: version)?.name ?? "") is accepted as it is now"
            )
        }
    }
}
