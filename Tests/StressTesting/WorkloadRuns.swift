import AppMigrations
import Foundation
import TestSupport

/// Runs of the executable `Workload`, as many at a time as there are processors.
package struct WorkloadRuns {
    /// The arguments of each.
    let runs: [[String]]

    /// The name of a case, in the plural.
    let unit: String

    /// The scenarios that are tried, as `Workload` reads them.
    ///
    /// They are the journal, the store, the commits, what a launch finds, and whether it copies the database.
    static let scenarios =
        launches + deferred + moves + branches + redefinitions + squashes + salvages

    /// The scenarios that end with the launch: each value of one part is there with each value of every other one.
    static let launches = [
        "rollback-json-grouped-upgrade-unsaved", "wal-json-grouped-upgrade-saved",
        "rollback-sqlite-each-upgrade-saved", "wal-sqlite-each-upgrade-unsaved",
        "rollback-json-atonce-upgrade-unsaved", "wal-sqlite-atonce-upgrade-saved",
        "rollback-sqlite-grouped-fresh-unsaved", "wal-json-each-fresh-unsaved",
        "rollback-json-each-snapshot-unsaved", "wal-sqlite-grouped-snapshot-unsaved",
        "rollback-json-grouped-fresh-unsaved-two", "wal-sqlite-each-fresh-unsaved-two",
        "wal-json-grouped-unrecorded-unsaved-two", "rollback-sqlite-each-unrecorded-unsaved-two",
    ]

    /// The scenarios with work after the launch: before all of it, and in the middle, with an update that finishes it.
    static let deferred = [
        "rollback-json-grouped-waiting-unsaved", "wal-sqlite-grouped-waiting-unsaved",
        "wal-json-grouped-halfway-unsaved", "rollback-sqlite-grouped-halfway-unsaved",
    ]

    /// The scenarios whose files are moved to another folder, by renaming and by copying.
    static let moves = [
        "rollback-json-grouped-moved-unsaved", "wal-sqlite-each-moved-unsaved",
        "wal-json-grouped-copied-unsaved", "rollback-sqlite-grouped-copied-unsaved",
    ]

    /// The scenarios whose database has migrations of another branch, which are undone.
    static let branches = ["rollback-json-grouped-branched-unsaved", "wal-sqlite-each-branched-unsaved"]

    /// The scenarios that redefine a table with rows that are short of a column.
    static let redefinitions = [
        "rollback-json-grouped-redefined-unsaved", "wal-sqlite-each-redefined-unsaved",
    ]

    /// The scenarios whose database is damaged: the launch salvages it, by its rule, and with the rows in the log.
    static let salvages = ["rollback-json-grouped-salvaged-unsaved", "wal-sqlite-each-salvaged-unsaved"]

    /// The scenarios with a set of which the oldest migrations were squashed: a new database, one of a release that had them
    /// all, in its place and moved, and one that lacks some, which is refused.
    static let squashes = [
        "rollback-json-grouped-squashed-unsaved", "wal-sqlite-each-squashed-saved",
        "wal-json-grouped-squashedmoved-unsaved",
        "wal-json-grouped-begun-unsaved", "rollback-sqlite-each-begun-unsaved",
        "rollback-sqlite-grouped-outdated-unsaved", "wal-json-each-outdated-unsaved",
    ]

    /// The pairs of features that no scenario has, and that have no reason to be missing.
    package static func missingPairs() throws -> [String] {
        try WorkloadRuns(runs: [["pairs"] + scenarios], unit: "scenarios").outcome().failures
    }

    /// Runs all.
    ///
    /// - Throws: an error when a run did not come to its end.
    func outcome() throws -> StressOutcome {
        let executable = try Products.executable("Workload")
        let results = Locked<[Result<StressOutcome, any Error>]>([])
        DispatchQueue.concurrentPerform(iterations: runs.count) { index in
            let result = Result { try outcome(of: runs[index], executable) }
            results.withLock { $0.append(result) }
        }
        return try results.withLock { $0 }.reduce(into: StressOutcome(unit: unit)) { sum, result in
            let outcome = try result.get()
            sum.tried += outcome.tried
            sum.failures += outcome.failures
            sum.notes += outcome.notes.filter { !sum.notes.contains($0) }
        }
    }

    private func outcome(of arguments: [String], _ executable: URL) throws -> StressOutcome {
        let process = Process()
        let output = Pipe()
        process.executableURL = executable
        process.arguments = arguments
        process.standardOutput = output
        // Who is meant to die says so, at length.
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        let lines = text.split(separator: "\n").map(String.init)
        let words = lines.last?.split(separator: " ") ?? []
        guard process.terminationStatus == 0, words.count == 4, words[0] == "tried", let tried = Int(words[1])
        else { throw Incomplete(description: "Workload \(arguments) did not come to its end: \(text)") }
        let notes = lines.dropLast().filter { $0.hasPrefix("note: ") }
        return StressOutcome(
            tried: tried, unit: unit, failures: lines.dropLast().filter { !$0.hasPrefix("note: ") },
            notes: notes.map { String($0.dropFirst("note: ".count)) })
    }

    private struct Incomplete: Error, CustomStringConvertible {
        let description: String
    }
}
