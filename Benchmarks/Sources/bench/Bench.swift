import ArgumentParser
import Foundation

/// Measures the package against what developers would use instead, and against the least that it could cost.
@main
struct Bench: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure AppMigrations against its rivals and its limits.",
        discussion: "Prints a table in Markdown. Every row is a ratio of times that were measured in turn.",
        subcommands: [TableCommand.self, MemoryCommand.self],
        defaultSubcommand: TableCommand.self)
}

/// Prints the table.
struct TableCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "table", abstract: "Print the table, or a part of it.")

    @Option(help: "How much is measured: \(Effort.allCases.map(\.rawValue).joined(separator: " or ")).")
    var effort = Effort.full

    @Option(help: "Only the rows whose description contains this text.")
    var only: String?

    @Option(help: "Draw the chief rows of the whole table, as SVG, into this file.")
    var picture: String?

    func validate() throws {
        guard picture != nil, effort != .full || only != nil else { return }
        throw ValidationError("--picture needs the whole table: leave out --effort and --only.")
    }

    func run() throws {
        let scratch = try Scratch()
        defer { scratch.remove() }
        MFMigrationManager.keepDefaults(in: scratch.folder)
        let started = ContinuousClock.now
        var rows: [TableRow] = []
        write(TableRow.header)
        for benchmark in Benchmark.all where only.map(benchmark.what.contains) ?? true {
            for row in try benchmark.rows(effort, scratch) {
                write(row.line)
                rows.append(row)
            }
        }
        let failures = rows.count { $0.holds == false }
        write("\nMeasured in \(Int(started.duration(to: .now).inSeconds)) s; \(failures) rows do not hold.")
        if let picture {
            try Picture(of: rows).svg.write(toFile: picture, atomically: true, encoding: .utf8)
        }
    }

    /// One line at a time, also into a file: a row can take a while.
    private func write(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}

/// How much is measured.
enum Effort: String, CaseIterable, ExpressibleByArgument {
    /// Everything, often enough to tell a ratio.
    case full
    /// The smallest sizes, twice: that the benchmarks still work.
    case short

    func sizes(_ all: [Int]) -> [Int] {
        self == .full ? all : Array(all.prefix(1))
    }
}
