import AppMigrations
import ArgumentParser
import SchemaMigrations
import TextOutput

/// Rolls migrations back.
struct RollbackCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollback",
        abstract: "Roll back every migration above a version, newest first.",
        discussion: """
            For development only: an app never migrates down. Each migration needs its .down.sql file; when one \
            has none, nothing is changed.

            EXAMPLE
              app-migrations rollback --database library.sqlite --to 20240110090000000
              app-migrations rollback --database library.sqlite --to 0
            """)

    @OptionGroup var database: DatabaseOption
    @OptionGroup var folder: DirectoryOption

    @Option(help: ArgumentHelp("The version that stays; 0 to roll back everything.", valueName: "version"))
    var to: SchemaVersion

    func run() throws {
        let migrator = try folder.migrator()
        let versions = try database.writing { queue in
            do {
                return try folder.suggestingUndo(in: queue) { try migrator.rollback(queue, to: to) }
            } catch var error as MigrationError where !error.committed.isEmpty {
                error.remedy += " Undone before it: \(error.committed.map { "\($0)" }.asList)."
                throw error
            }
        }
        guard !versions.isEmpty else {
            print("Nothing is above version \(to).")
            return
        }
        let style = Style()
        print("\(style.heading(database.database)): \(versions.count.counting("migration")) rolled back")
        var table = Table(.left, .right, .left)
        for version in versions {
            table.add(
                .init(text: "✓", highlight: style.good), .init(text: "\(version)"),
                .init(text: migrator.migration(version: version)?.name ?? ""))
        }
        table.print()
    }
}
