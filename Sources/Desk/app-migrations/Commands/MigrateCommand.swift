import ArgumentParser
import Foundation
import GRDB
import MigrationTools
import SchemaMigrations
import TextOutput

/// Applies the pending migrations.
struct MigrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Apply the pending migrations, oldest first.",
        discussion: """
            Creates the database if it does not exist. Each migration is atomic; when one fails, those before it \
            stay, unless --all-or-nothing is given. A new database stays too, because other processes may have \
            opened it. Control-C stops it, and leaves nothing half-done.

            A migration of another branch has no file here. --undo-unknown rolls such migrations back first, newest \
            first, all or none, by the down migrations that the database keeps; rows that only they can hold are lost.

            EXAMPLE
              app-migrations migrate --database library.sqlite
              app-migrations migrate --database library.sqlite --all-or-nothing
              app-migrations migrate --database library.sqlite --undo-unknown
            """)

    @OptionGroup var database: DatabaseOption
    @OptionGroup var folder: DirectoryOption

    @Option(help: ArgumentHelp("The version to go to; the latest by default.", valueName: "version"))
    var upTo: SchemaVersion?

    @Flag(help: "Commit all migrations together: when one fails, none stays.")
    var allOrNothing = false

    @Flag(help: "Undo migrations that have no file, such as those of another branch, first.")
    var undoUnknown = false

    @OptionGroup var format: JSONOption

    @Flag(help: "Print nothing but errors.")
    var quiet = false

    func run() throws {
        let options = SchemaOptions(
            commits: allOrNothing ? .allOrNothing : .grouped(),
            newerDatabases: undoUnknown ? .rollBack : .refuse)
        let migrator = try folder.migrator(options: options)
        let output = try database.creating { queue in
            let report = try folder.suggestingUndo(in: queue) {
                try InterruptibleWork(
                    bar: format.json || quiet ? nil : ProgressBar(on: .standardError)
                ).run {
                    try migrator.migrate(queue, upTo: upTo, progress: $0)
                }
            }
            // Another branch undoes by what the ledger keeps, even where nothing was pending here.
            let corrected = try migrator.correctDownMigrations(queue)
            let status = try queue.read(migrator.status)
            return MigrateOutput(
                database: database.database, currentVersion: status.currentVersion.map(String.init),
                applied: report.applied.map { version in
                    let note = status.history.first { $0.version == version }
                    return .init(
                        version: "\(version)", name: note?.name,
                        seconds: note?.duration.map { $0 / .seconds(1) })
                },
                undone: report.undone.map(String.init),
                corrected: corrected.isEmpty ? nil : corrected.map(String.init),
                unknown: report.newer.map(String.init),
                warnings: report.warnings, edited: status.editedVersions.map(String.init))
        }
        if quiet { return }
        if format.json { try printJSON(output) } else { output.print() }
    }
}

/// The output of `migrate`.
private struct MigrateOutput: Encodable {
    let database: String
    let currentVersion: String?
    let applied: [Step]
    let undone: [String]
    /// The migrations whose down migrations were corrected after they had been applied.
    let corrected: [String]?
    let unknown: [String]
    let warnings: [String]
    let edited: [String]

    struct Step: Encodable {
        let version: String
        let name: String?
        let seconds: Double?
    }

    func print() {
        let style = Style()
        var table = Table(.left, .right, .left, .right)
        for step in applied {
            table.add(
                .init(text: "✓", highlight: style.good), .init(text: step.version),
                .init(text: step.name ?? ""),
                .init(text: step.seconds.map { Duration.seconds($0).asText } ?? "", highlight: style.faint))
        }
        if !undone.isEmpty {
            Swift.print("\(style.heading(database)): undone, newest first: \(undone.joined(separator: ", "))")
        }
        let version = currentVersion.map { "at version \($0)" } ?? "at no version"
        if applied.isEmpty {
            Swift.print("Nothing is pending: \(style.heading(database)) is \(version).")
        } else {
            Swift.print(
                "\(style.heading(database)): \(applied.count.counting("migration")) applied, now \(version)")
        }
        table.print()
        for version in corrected ?? [] {
            Swift.print("The ledger now has the down migration of \(version) as it is in its file.")
        }
        for version in unknown {
            Swift.print("\(style.notable("warning:")) \(version) is applied, has no file, and is compatible.")
        }
        for warning in warnings { Swift.print("\(style.notable("warning:")) \(warning)") }
        for version in edited {
            Swift.print("\(style.notable("warning:")) \(version) was edited after it was applied.")
        }
    }
}
