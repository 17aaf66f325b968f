import ArgumentParser
import MigrationTools
import SchemaMigrations
import TextOutput

/// Replaces the oldest migrations by one file.
struct SquashCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "squash",
        abstract:
            "Replace every file up to a version by one file, a baseline, after checking that it does the same.",
        discussion: """
            The baseline has the version of the last file that it replaces. A fresh database runs it; a database that \
            has had these migrations skips it; an older one is refused as too old, and stays as it is. The check runs \
            both sets in memory: on fresh databases, and on one at every version from the baseline's on. If anything \
            differs, nothing is written.

            Squash files that every user has run. Write snapshots again afterwards.

            EXAMPLE
              app-migrations squash --before 20240601120000000 --last-release 2.4
            """)

    @OptionGroup var folder: DirectoryOption

    @Option(help: ArgumentHelp("The version of the last file to replace.", valueName: "version"))
    var before: SchemaVersion

    @Option(
        help: ArgumentHelp(
            "The last release of the app that can migrate older databases, for the error message.",
            valueName: "version"))
    var lastRelease: String?

    func run() throws {
        let squash = try Squash.verified(directory: folder.url, before: before, lastRelease: lastRelease)
        try squash.write()
        let style = Style()
        print("\(squash.fileName) replaces \(squash.replaced.count.counting("file"))")
        print("\(style.good("✓")) \(squash.databases.counting("database")) came out the same")
        if !squash.unproved.isEmpty {
            print("\(style.notable("!")) Not tried: \(squash.unproved.joined(separator: ", "))")
        }
    }
}
