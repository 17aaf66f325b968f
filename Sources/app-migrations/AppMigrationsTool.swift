import ArgumentParser

/// The command line tool, which makes, reviews and runs migrations of SQLite databases.
@main
struct AppMigrationsTool: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app-migrations",
        abstract: "Write, review and run migrations of SQLite databases.",
        discussion: """
            A folder holds the migrations as files <version>_<name>.sql; a database records the applied ones in \
            its table schema_migrations.

            Exit status: 0; 1 for a failure, 64 for wrong usage, and with status --exit-code 2 when something \
            is pending. Colour obeys NO_COLOR.

            EXAMPLE
              app-migrations new create_books
              app-migrations check
              app-migrations migrate --database library.sqlite
              app-migrations status --database library.sqlite
            """,
        subcommands: [
            NewCommand.self, StatusCommand.self, PlanCommand.self, MigrateCommand.self, RollbackCommand.self,
            CheckCommand.self, RehearseCommand.self, FixtureCommand.self, SnapshotCommand.self,
            DumpCommand.self, HistoryCommand.self, AdoptCommand.self, AcceptCommand.self,
        ])

    /// Runs a command, and prints a failure as one line of cause and one of remedy.
    static func main() {
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch {
            guard let failure = Failure(error) else { exit(withError: error) }
            failure.print()
            exit(withError: ExitCode.failure)
        }
    }
}
