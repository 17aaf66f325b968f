public import ArgumentParser
import Foundation
import GRDB
public import MigrationTesting
import MigrationTools
import SchemaMigrations
import TextOutput

/// Makes a small database from a real one, without its users' texts.
struct FixtureCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fixture",
        abstract: "Make a small database from a real one, without what people wrote in it.",
        discussion: """
            For tests that upgrade what old versions of the app have left. Takes some rows of each table, and those that \
            they refer to. Every text and every blob is replaced by noise of the same shape: letters by letters, digits \
            by digits, dates by dates. Numbers stay as they are, unless --numbers says otherwise. The tables in which \
            this package keeps its records are copied as they are. The database is only read.

            What the app adds to SQLite has stand-ins, which code.rules in the folder of the migrations declares: \
            app-migrations help check. Let a test that opens such a fixture execute REINDEX first.

            EXAMPLE
              app-migrations fixture --database app.sqlite --output 1.0.sqlite
              app-migrations fixture --database app.sqlite --output 1.0.sqlite \\
                --keep book.genre --rows 50
            """)

    @OptionGroup var database: DatabaseOption
    @OptionGroup var folder: DirectoryOption

    @Option(
        help: ArgumentHelp("The file to create, which must not exist yet.", valueName: "file"),
        completion: .file())
    var output: String

    @Option(help: ArgumentHelp("How many rows of each table to take.", valueName: "number"))
    var rows = 20

    @Option(
        help: ArgumentHelp(
            "A column to keep, because the app fills it, not people.", valueName: "table.column"))
    var keep: [String] = []

    @Option(help: "How to treat numbers of two or more digits: kept or replaced.")
    var numbers = FixtureMaker.Treatment.kept

    @Option(help: "How to treat the keys of JSON objects: replaced or kept.")
    var jsonKeys = FixtureMaker.Treatment.replaced

    @OptionGroup var format: JSONOption

    func validate() throws {
        guard rows > 0 else { throw ValidationError("--rows must be at least 1.") }
    }

    func run() throws {
        let maker = FixtureMaker(rowsPerTable: rows, keeping: keep, jsonKeys: jsonKeys, numbers: numbers)
        let standIns = try folder.standIns()
        let report = try database.reading(with: standIns) { database in
            let copy = try standIns.reindexedCopy(of: database)
            var report = try InterruptibleWork(bar: nil).run {
                try maker.write(
                    copy ?? database, to: URL(fileURLWithPath: output), like: database.originalFile,
                    progress: $0)
            }
            report.notes += try copy.map { try $0.read(standIns.names(in:)) }.map(Self.note) ?? []
            return report
        }
        if format.json { try printJSON(FixtureOutput(report, path: output)) } else { print(report) }
    }

    private static func note(_ names: [String]) -> [String] {
        [
            "made with stand-ins for \(names.asList): let the test execute REINDEX, with the app's, before it reads"
        ]
    }

    private func print(_ report: FixtureReport) {
        let style = Style()
        Swift.print(
            "\(style.heading(output)): \(report.tables.count.counting("table")), \(report.size.asSize)")
        Swift.print(report)
        if numbers == .kept { Swift.print("  note: numbers are as they were") }
        if !keep.isEmpty {
            Swift.print("  note: the texts of \(keep.joined(separator: ", ")) are as they were")
        }
    }
}

extension FixtureMaker.Treatment: ExpressibleByArgument {}

/// The JSON output of `fixture`.
private struct FixtureOutput: Encodable {
    let fixture: String
    let size: Int64
    let tables: [Table]
    let notes: [String]

    struct Table: Encodable {
        let table: String
        let rows: Int
        let all: Int
    }

    init(_ report: FixtureReport, path: String) {
        fixture = path
        size = report.size
        tables = report.tables.map { Table(table: $0.name, rows: $0.rows, all: $0.all) }
        notes = report.notes
    }
}
