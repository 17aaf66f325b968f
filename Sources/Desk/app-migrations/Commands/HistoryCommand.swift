import AppMigrations
import ArgumentParser
import Foundation
import GRDB
import SchemaMigrations
import TextOutput

/// Lists the events of a database's history, each with its time and the version of the app.
struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Show the history of a database or a store: what ran, when, and by which app version.",
        discussion: """
            The history of a database lists its schema migrations and the steps that work in it. A store is a \
            JSON file; its history is a file beside it. Deferred steps that are not complete follow, with the rows \
            that are done.

            EXAMPLE
              app-migrations history --database library.sqlite
              app-migrations history --store migrations.json --json
            """)

    @Option(help: ArgumentHelp("The SQLite database.", valueName: "file"), completion: .file())
    var database: String?

    @OptionGroup var passphrase: PassphraseOptions

    @Option(help: ArgumentHelp("The JSON file of a store.", valueName: "file"), completion: .file())
    var store: String?

    @OptionGroup var format: JSONOption

    func validate() throws {
        guard (database == nil) != (store == nil) else {
            throw ValidationError("Pass either --database or --store.")
        }
    }

    func run() throws {
        let output =
            if let database {
                try passphrase.file(database).reading { queue in
                    try queue.read { db in
                        HistoryOutput(
                            migrations: try AppliedMigration.fetchAll(db),
                            entries: try SQLiteStore.fullHistory(db),
                            deferred: try SQLiteStore.unfinishedSteps(db).map(DeferredLine.init))
                    }
                }
            } else {
                try history(ofStore: store ?? "")
            }
        if format.json { try printJSON(output) } else { output.print() }
    }

    private func history(ofStore path: String) throws -> HistoryOutput {
        let kind = FileKind(path)
        guard kind == .regular else {
            throw Failure(
                kind == .missing ? "There is no store \(path)" : "\(path) is not a regular file",
                remedy: "Pass the path of a store's JSON file as --store.")
        }
        let store = try JSONStore(at: URL(fileURLWithPath: path))
        return HistoryOutput(
            migrations: [], entries: try store.fullHistory(),
            deferred: try store.unfinishedSteps().map(DeferredLine.init), managers: try store.managerNames())
    }
}

/// The output of `history`.
private struct HistoryOutput: Encodable {
    let migrations: [Migration]
    let managers: [Manager]

    struct Migration: Encodable {
        let version: String
        let name: String?
        let origin: String
        let applied: Date?
        let seconds: Double?
        let appVersion: String?
    }

    struct Manager: Encodable {
        let name: String
        let steps: [Step]
        let deferred: [DeferredLine]
    }

    struct Step: Encodable {
        let version: String
        let outcome: String
        let date: Date
        let seconds: Double?
        let appVersion: String
    }

    init(
        migrations: [AppliedMigration], entries: [SettledStep], deferred: [DeferredLine],
        managers names: [String] = []
    ) {
        self.migrations = migrations.map {
            Migration(
                version: "\($0.version)", name: $0.name, origin: $0.origin.rawValue, applied: $0.date,
                seconds: $0.duration.map { $0 / .seconds(1) }, appVersion: $0.appVersion?.description)
        }
        managers = Set(names + entries.map(\.manager) + deferred.map(\.manager)).sorted().map { name in
            Manager(
                name: name,
                steps: entries.filter { $0.manager == name }.map {
                    Step(
                        version: "\($0.version)", outcome: $0.outcome.rawValue, date: $0.date,
                        seconds: $0.duration.map { $0 / .seconds(1) }, appVersion: "\($0.appVersion)")
                }, deferred: deferred.filter { $0.manager == name })
        }
    }

    func print() {
        let style = Style()
        if migrations.isEmpty, managers.isEmpty { Swift.print("Nothing was done yet.") }
        if !migrations.isEmpty {
            Swift.print(style.heading("Schema migrations"))
            var table = Table(.right, .left, .left, .left, .right, .left)
            for migration in migrations {
                table.add(
                    migration.version, migration.name ?? "", migration.applied?.asText ?? "",
                    migration.origin,
                    migration.seconds.map { Duration.seconds($0).asText } ?? "",
                    migration.appVersion.map { "by \($0)" } ?? "")
            }
            table.print()
        }
        for manager in managers {
            Swift.print(style.heading(manager.name))
            var table = Table(.left, .left, .left, .right, .left)
            for step in manager.steps {
                table.add(
                    step.version, step.date.asText, step.outcomeInWords,
                    step.seconds.map { Duration.seconds($0).asText } ?? "",
                    "by \(step.appVersion)")
            }
            table.print()
            DeferredLine.printTable(manager.deferred, style)
            if manager.steps.isEmpty, manager.deferred.isEmpty { Swift.print("  no step was settled") }
        }
    }
}

extension HistoryOutput.Step {
    fileprivate var outcomeInWords: String {
        outcome == SettledStep.Outcome.notNeeded.rawValue ? "not needed" : outcome
    }
}
