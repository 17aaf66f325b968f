import ArgumentParser
import Foundation

/// A journal that keeps its data through all of its versions.
@main
struct JournalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "Journal",
        abstract: "A small journal that keeps its data through all of its versions.",
        subcommands: [LaunchCommand.self, ShowCommand.self, HistoryCommand.self, DemoCommand.self])
}

/// Selects the folder of data.
struct DataOptions: ParsableArguments {
    @Option(help: "The folder with the journal's data.")
    var data = "JournalData"

    var folder: DataFolder { DataFolder(url: URL(fileURLWithPath: data, isDirectory: true)) }
}
