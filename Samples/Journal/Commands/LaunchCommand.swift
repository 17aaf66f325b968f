import AppMigrations
import ArgumentParser
import Foundation

/// Launches one release on a folder of data.
struct LaunchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "launch",
        abstract: "Launch one release, and print what it did.",
        discussion: "Releases: 1.0, 1.1, 1.1 --build 2 (which adds the sub-migration 1.1-1), 2.0, 2.1, 3.0.")

    @Option(name: .customLong("as"), help: "The version of the app to launch.")
    var version: String

    @Option(help: "The build of that version.")
    var build = 1

    @Flag(help: "Pause at every step, to watch its progress.")
    var slow = false

    @Option(help: "Kill the process after this number of batches of the work after the launch.")
    var killAfter: Int?

    @OptionGroup var options: DataOptions

    func run() async throws {
        let release = try Release(version, build: build)
        let printer = LaunchPrinter(isSlow: slow, killAfter: killAfter)
        do {
            try await printer.play(JournalApp(folder: options.folder, release: release))
        } catch let error as MigrationError {
            // For the person first, and then for the developer.
            let text = """
                \(error.localizedDescription) \(error.advice.localizedDescription)
                \(error)

                """
            FileHandle.standardError.write(Data(text.utf8))
            throw ExitCode.failure
        }
    }
}
