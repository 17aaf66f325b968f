import ArgumentParser
import Foundation

/// A journal that keeps its data through all versions of itself.
@main
struct JournalCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "Journal",
        abstract: "A small journal that keeps its data through all versions of itself.",
        subcommands: [LaunchCommand.self, ShowCommand.self, HistoryCommand.self, DemoCommand.self])
}

/// Which data to use.
struct DataOptions: ParsableArguments {
    @Option(help: "The folder that holds the journal's data.")
    var data = "JournalData"

    var folder: DataFolder { DataFolder(url: URL(fileURLWithPath: data, isDirectory: true)) }
}
