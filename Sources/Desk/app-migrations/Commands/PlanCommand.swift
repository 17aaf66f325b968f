import ArgumentParser
import GRDB
import MigrationTools
import SchemaMigrations
import TextOutput

/// Lists the migrations that `migrate` would apply.
struct PlanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Show what migrate would do, without doing it.",
        discussion: """
            Reads the database and the pending files, and changes nothing.

            EXAMPLE
              app-migrations plan --database library.sqlite
              app-migrations plan --database library.sqlite --up-to 20240601120000000
            """)

    @OptionGroup var database: DatabaseOption
    @OptionGroup var folder: DirectoryOption

    @Option(help: ArgumentHelp("The version to go to; the latest by default.", valueName: "version"))
    var upTo: SchemaVersion?

    @OptionGroup var format: JSONOption

    func run() throws {
        let migrator = try folder.migrator()
        let (pending, status) = try database.reading { queue in
            try folder.suggestingUndo(in: queue) {
                try queue.read { db in (try migrator.pending(db, upTo: upTo), try migrator.status(db)) }
            }
        }
        let plan = PlanOutput(
            database: database.database, currentVersion: status.currentVersion.map(String.init),
            pending: try migrator.migrations.filter { pending.contains($0.version) }.map {
                PlanOutput.Step(
                    try MigrationOutline($0), isOutOfOrder: $0.version < status.currentVersion ?? $0.version)
            })
        if format.json { try printJSON(plan) } else { plan.print() }
    }
}

/// The output of `plan`.
private struct PlanOutput: Encodable {
    let database: String
    let currentVersion: String?
    let pending: [Step]

    struct Step: Encodable {
        let version: String
        let name: String
        let file: String
        let statements: Int?
        let redefines: Bool
        let foreignKeys: String
        let transaction: String
        let isReversible: Bool
        let isOutOfOrder: Bool

        init(_ outline: MigrationOutline, isOutOfOrder: Bool) {
            version = "\(outline.version)"
            name = outline.name
            file = outline.title
            statements = outline.statements
            redefines = outline.redefines
            foreignKeys = "\(outline.foreignKeys)"
            transaction = outline.isInTransaction ? "wrapped" : "none"
            isReversible = outline.isReversible
            self.isOutOfOrder = isOutOfOrder
        }

        var words: String {
            let work = statements.map {
                redefines ? "redefines \($0.counting("table"))" : $0.counting("statement")
            }
            var words = [work ?? "in Swift: only the app can run it"]
            if foreignKeys != "deferred" { words.append("\(foreignKeys) foreign keys") }
            if transaction == "none" { words.append("without a transaction") }
            if isOutOfOrder { words.append("out of order: a later migration is applied") }
            return words.joined(separator: ", ")
        }
    }

    func print() {
        guard !pending.isEmpty else {
            Swift.print("Nothing is pending.")
            return
        }
        Swift.print("\(Style().heading(database)): \(pending.count.counting("migration")) would be applied")
        var table = Table(.right, .left, .left)
        for step in pending { table.add(step.version, step.name, step.words) }
        table.print()
    }
}
