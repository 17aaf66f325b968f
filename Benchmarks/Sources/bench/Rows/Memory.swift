import ArgumentParser
import Foundation
import GRDB
import SchemaMigrations

extension Benchmark {
    /// How much memory many large files take: a process of its own migrates them, and tells its peak.
    static let memory = [
        Benchmark(what: "peak memory of migrating files of 10 kB") { effort, scratch in
            let count = effort == .full ? 1000 : 20
            let folder = try MemoryCommand.folder(count: count, scratch)
            let few = try MemoryCommand.folder(count: 10, scratch)
            let growths = try (0..<(effort == .full ? 5 : 1)).map { _ in
                try MemoryCommand.peak(of: folder, scratch) - MemoryCommand.peak(of: few, scratch)
            }
            let size = Double(count - 10) * Double(MemoryCommand.fileSize)
            let shares = Sample(growths.map { max(0, $0 / size) })
            let goal = Goal.within(1)
            return [
                TableRow(
                    what: "peak memory of migrating files of 10 kB, above that of 10 files",
                    size: "\(count.grouped) files", against: "the files' size",
                    ours: "\((Sample(growths).median / 1e6).short) MB", other: "\((size / 1e6).short) MB",
                    ratio: "\(shares.median.short) times",
                    quartiles: "\(shares.quantile(0.25).short)–\(shares.quantile(0.75).short)",
                    repeated: growths.count, goal: goal.text,
                    holds: goal.holds(ours: shares.median, other: 1))
            ]
        }
    ]
}

/// Migrates a folder's files, and prints the peak of the process's memory in bytes.
struct MemoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "memory", shouldDisplay: false)
    static let fileSize = 10_000

    @Argument var folder: String
    @Argument var database: String

    func run() throws {
        let queue = try DatabaseQueue(path: database)
        try SchemaMigrator(directory: URL(fileURLWithPath: folder)).migrate(queue)
        print(try Self.peak())
    }

    /// The peak of this process's memory, in bytes.
    private static func peak() throws -> Int {
        #if os(Linux)
            // getrusage(2) would count what the process was before it was this program.
            let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
            guard let kilobytes = line?.split(separator: " ").dropLast().last.flatMap({ Int($0) }) else {
                throw CocoaError(.fileReadUnknown)
            }
            return kilobytes * 1024
        #else
            var usage = rusage()
            getrusage(RUSAGE_SELF, &usage)
            return usage.ru_maxrss
        #endif
    }

    static func folder(count: Int, _ scratch: Scratch) throws -> URL {
        let folder = try scratch.newFolder()
        try SchemaSamples.texts(
            (0..<count).map { index in
                let head = "CREATE TABLE text\(index)(value TEXT);\nINSERT INTO text\(index) VALUES ('"
                return head + String(repeating: "x", count: fileSize - head.utf8.count - 3) + "');"
            }
        ).write(to: folder)
        return folder
    }

    static func peak(of folder: URL, _ scratch: Scratch) throws -> Double {
        let process = Process()
        let output = Pipe()
        process.executableURL = Bundle.main.executableURL
        process.arguments = ["memory", folder.path, scratch.new("memory.sqlite").path]
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0,
            let bytes = Double(
                String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
        else { throw CocoaError(.executableLoad) }
        return bytes
    }
}
