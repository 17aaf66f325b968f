import ArgumentParser
import Foundation
import TextOutput

/// Prints the migration that leads to a schema.
struct DiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Print the migration that leads to a schema, without writing it.",
        discussion: """
            Compares what the migrations make with the schema that FILE creates, and prints the SQL that new --from \
            would write. What it would leave out is printed to standard error.

            EXAMPLE
              app-migrations diff --from schema.sql
              app-migrations diff --from schema.sql --exit-code
            """)

    @Option(help: ArgumentHelp("The file that creates the schema.", valueName: "file"), completion: .file())
    var from: String

    @OptionGroup var folder: DirectoryOption
    @OptionGroup var renames: RenameOptions

    @Flag(help: "Print the down migration.")
    var down = false

    @Flag(help: "End with status 2 if the schemas differ.")
    var exitCode = false

    func run() throws {
        let generation = try Generation(from: from, folder, renames, goingBack: down)
        let style = Style(for: .standardError)
        print(down ? generation.downSQL : generation.sql, terminator: "")
        let text =
            generation.isEmpty
            ? "\(style.good("✓")) The migrations make the schema of \(from)" : generation.report(style)
        FileHandle.standardError.writeIfPossible("\(text)\n")
        if exitCode, !generation.isEmpty { throw ExitCode(2) }
    }
}
