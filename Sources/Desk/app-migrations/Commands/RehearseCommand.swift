import ArgumentParser
import Foundation
import MigrationTesting
import MigrationTools
import SchemaMigrations
import TextOutput

/// Does a dry run of the migrations on a copy of a database.
struct RehearseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rehearse",
        abstract: "Do a dry run: migrate a copy of a database, and report what that does.",
        discussion: """
            SQLite's backup reads the database; nothing writes to it. The copy is made in the temporary folder, and \
            removed in the end, also after Control-C, SIGTERM or SIGHUP; only its owner can read it. The report has the \
            time of each migration, the changes of the schema, the number of rows in each table, the number of changed \
            values in each column, violated foreign keys, the size, and the most space that the database took \
            meanwhile. If code.rules names a file of types, it also has the rows that they cannot read. Run it on the \
            biggest database that you have. It prints no value of the database without \
            --show-values.

            EXAMPLE
              app-migrations rehearse --database library.sqlite
            """)

    @OptionGroup var database: DatabaseOption
    @OptionGroup var folder: DirectoryOption

    @Flag(help: "Show one of the changed values in each column.")
    var showValues = false

    @OptionGroup var format: JSONOption

    func run() throws {
        let migrator = try folder.migrator()
        let rules = try CodeRules(in: folder.url)
        let oldSchemas = rules.outputs[.types].map { OldSchemas(at: $0.url, mapping: rules.mapping) }
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let rehearsal = try database.reading { queue in
            try folder.suggestingUndo(in: queue) {
                try InterruptibleWork(
                    bar: format.json ? nil : ProgressBar(on: .standardError), temporaryFolder: scratch.url
                )
                .run {
                    try migrator.rehearse(
                        queue, in: scratch.url, showing: showValues ? .examples : .none, reading: oldSchemas,
                        progress: $0)
                }
            }
        }
        if format.json {
            try printJSON(RehearseOutput(rehearsal, database: database.database))
        } else {
            print(rehearsal.text(calling: database.database, style: Style()))
        }
    }
}

/// The JSON output of `rehearse`.
private struct RehearseOutput: Encodable {
    let database: String
    let seconds: Double
    let migrations: [Step]
    let schema: [Change]
    let rows: [RowCount]
    let values: [ValueChange]
    let foreignKeyViolations: [Violation]
    let unreadableRows: [UnreadableRows]
    let warnings: [String]
    let sizeBefore: Int64
    let sizeAfter: Int64
    let sizeAtMost: Int64

    struct Step: Encodable {
        let version: String
        let name: String
        let seconds: Double
    }

    struct Change: Encodable {
        let subject: String
        let before: String?
        let after: String?
        let sentence: String
    }

    struct RowCount: Encodable {
        let table: String
        let before: Int?
        let after: Int?
        let gone: Int
        let new: Int
    }

    struct ValueChange: Encodable {
        let table: String
        let column: String
        let rows: Int
        let changed: Int
        let lost: Int
        let refersToOtherRows: Bool
        let example: String?
    }

    struct UnreadableRows: Encodable {
        let version: String
        let table: String
        let column: String
        let type: String
        let rows: Int
        let firstKey: String?
    }

    struct Violation: Encodable {
        let table: String
        let parent: String
        let before: Int
        let after: Int
    }

    init(_ rehearsal: Rehearsal, database: String) {
        self.database = database
        seconds = rehearsal.duration / .seconds(1)
        migrations = rehearsal.steps.map {
            Step(version: "\($0.version)", name: $0.name, seconds: $0.duration / .seconds(1))
        }
        schema = rehearsal.schema.changes.map {
            Change(subject: $0.subject, before: $0.before, after: $0.after, sentence: $0.sentence)
        }
        rows = rehearsal.rows.map {
            RowCount(table: $0.table, before: $0.before, after: $0.after, gone: $0.gone, new: $0.new)
        }
        values = rehearsal.values.map {
            ValueChange(
                table: $0.table, column: $0.column, rows: $0.rows, changed: $0.changed, lost: $0.lost,
                refersToOtherRows: $0.refersToOtherRows, example: $0.example)
        }
        foreignKeyViolations = rehearsal.violations.map {
            Violation(table: $0.table, parent: $0.parent, before: $0.before, after: $0.after)
        }
        unreadableRows = rehearsal.unreadableRows.map {
            UnreadableRows(
                version: "\($0.version)", table: $0.table, column: $0.column, type: $0.type, rows: $0.rows,
                firstKey: $0.firstKey)
        }
        warnings = rehearsal.warnings
        sizeBefore = rehearsal.sizeBefore
        sizeAfter = rehearsal.sizeAfter
        sizeAtMost = rehearsal.sizeAtMost
    }
}
