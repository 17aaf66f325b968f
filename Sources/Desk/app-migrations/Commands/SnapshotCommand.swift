import ArgumentParser
import Foundation
import MigrationTools
import SchemaMigrations
import TextOutput

/// Writes and verifies snapshots of the schema.
struct SnapshotCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snapshot",
        abstract: "Write or verify a snapshot, from which a fresh database starts.",
        discussion: """
            A fresh database that starts from a snapshot need not run every migration.

            EXAMPLE
              app-migrations snapshot write --output Migrations/schema.sql
              app-migrations snapshot verify --output Migrations/schema.sql
            """,
        subcommands: [WriteCommand.self, VerifyCommand.self])

    /// The options of a snapshot command.
    struct Options: ParsableArguments {
        @OptionGroup var folder: DirectoryOption

        @Option(help: ArgumentHelp("The snapshot.", valueName: "file"), completion: .file())
        var output: String

        var url: URL { URL(fileURLWithPath: output) }
    }

    /// Writes a snapshot.
    struct WriteCommand: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "write",
            abstract: "Write a snapshot of the schema that the migrations make.",
            discussion: """
                The migrations run on an empty database in memory. The file's name must not begin with a digit if it \
                stands among the migrations.

                EXAMPLE
                  app-migrations snapshot write --output Migrations/schema.sql
                """)

        @OptionGroup var options: Options

        func run() throws {
            let migrator = try options.folder.migrator()
            let standIns = try options.folder.standIns()
            try InterruptibleWork(bar: nil).run {
                try SnapshotWriter(migrator, standIns: standIns, progress: $0).write(to: options.url)
            }
            print("\(options.output): \(migrator.migrations.count.counting("migration"))")
        }
    }

    /// Verifies a snapshot.
    struct VerifyCommand: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify",
            abstract: "Verify that a snapshot makes the same schema as the migrations do.",
            discussion: """
                For CI: a snapshot is out of date as soon as a migration in it is edited.

                EXAMPLE
                  app-migrations snapshot verify --output Migrations/schema.sql
                """)

        @OptionGroup var options: Options

        func run() throws {
            try SnapshotWriter(options.folder.migrator(), standIns: options.folder.standIns())
                .verify(options.url)
            print("\(Style().good("✓")) \(options.output) makes the same schema as the migrations do")
        }
    }
}
