import ArgumentParser
import MigrationTools

/// The command line tool, which makes, reviews and runs migrations of SQLite databases.
@main
struct AppMigrationsTool: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app-migrations",
        abstract: "Write, review and run migrations of SQLite databases.",
        discussion: """
            A folder holds the migrations as files <version>_<name>.sql; a database records the applied ones in \
            its table schema_migrations.

            Exit status: 0 for success; 1 for a failure, or if check finds an error or drift a difference; 64 for a \
            usage error. With --exit-code, status returns 2 if something is pending, and diff if the schemas \
            differ. Set NO_COLOR to turn off colours.

            EXAMPLE
              app-migrations new create_books
              app-migrations check
              app-migrations migrate --database library.sqlite
              app-migrations status --database library.sqlite
            """,
        version: "app-migrations 0.1.0, with SQLite \(SQLiteVersion.running)",
        subcommands: [
            NewCommand.self, DiffCommand.self, StatusCommand.self, PlanCommand.self, MigrateCommand.self,
            RollbackCommand.self, SquashCommand.self,
            TypesCommand.self, EmbedCommand.self,
            CheckCommand.self, RehearseCommand.self, FixtureCommand.self, SnapshotCommand.self,
            DumpCommand.self, DriftCommand.self, HistoryCommand.self, AdoptCommand.self, AcceptCommand.self,
        ])

    /// Runs a command, and prints a failure as one line of cause and one of remedy.
    static func main() {
        do {
            try Arguments.check()
            var command = try parseAsRoot()
            try command.run()
            try StandardOutput.finish()
        } catch {
            exit(after: error)
        }
    }

    private static func exit(after error: any Error) -> Never {
        if let failure = Failure(error) {
            if CommandLine.arguments.contains("--json") { failure.printJSON() } else { failure.print() }
            exit(withError: ExitCode.failure)
        }
        do {
            // The help is an error for the argument parser, which does not notice that it cannot be written.
            if exitCode(for: error) == .success { print(fullMessage(for: error)) }
            try StandardOutput.finish()
        } catch {
            exit(after: error)
        }
        exit(withError: exitCode(for: error) == .success ? ExitCode.success : error)
    }
}
