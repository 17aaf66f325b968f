import ArgumentParser
import Foundation
import MigrationTools
import TextOutput

/// Writes the migrations of a folder as Swift code that is committed.
struct EmbedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "embed",
        abstract: "Write the migrations as Swift code, for apps that do not use the build plugin.",
        discussion: """
            The file declares Migrations.all, as the plugin EmbedMigrations does at each build. Commit it, and write it \
            again after each new migration: check says when it is out of date.

            The file code.rules in the folder of the migrations has the path of the output.

            EXAMPLE
              app-migrations embed --output Sources/App/Migrations.swift
              app-migrations embed
            """)

    @OptionGroup var folder: DirectoryOption

    @Option(
        help: ArgumentHelp("The Swift file. Needed once; code.rules notes it.", valueName: "file"),
        completion: .file())
    var output: String?

    func run() throws {
        var rules = try CodeRules(in: folder.url)
        let url = try rules.url(of: .embed, output)
        let migrations = try CommittedMigrations(in: folder.url)
        let isNew = try migrations.write(to: url)
        print("\(url.shortPath): \(migrations.count.counting("migration"))\(isNew ? "" : ", unchanged")")
        try rules.announce(url, as: .embed, in: folder)
    }
}
