import Foundation
import GRDB

/// SQLite's own `.recover`, in a shell that has it.
struct RecoverShell: Sendable {
    /// The rows that it puts into their tables.
    struct Result: Sendable {
        var right = 0
        var wrong = 0
        /// The rows without their parent, which it keeps, and which do not count as right.
        var orphaned = 0
    }

    let executable: String

    /// The shell that the environment names; nil if it names none.
    static let current = ProcessInfo.processInfo.environment["SHELL_WITH_RECOVER"].map(Self.init)

    /// Gives it a copy of the files.
    ///
    /// Where a journal is older than the file, and mixes pages of several states, nothing shows what the pages of one were in
    /// the other: whoever reads the file with the journal, and whoever reads it without, each lacks rows that the other has.
    /// `.recover` counts for the one with fewer.
    func recover(_ input: SalvageInput, _ tables: [SalvageTable], scratch: URL) throws -> Result {
        var result = try recover(input.files, of: input, tables, scratch: scratch)
        if input.map == nil {
            let file = SalvageFiles(main: input.files.main)
            result.right = try min(result.right, recover(file, of: input, tables, scratch: scratch).right)
        }
        return result
    }

    private func recover(
        _ files: SalvageFiles, of input: SalvageInput, _ tables: [SalvageTable], scratch: URL
    ) throws -> Result {
        let recovered = scratch.appendingPathExtension("recovered")
        for file in [scratch, recovered] { SalvageFiles.remove(file) }
        defer { for file in [scratch, recovered] { SalvageFiles.remove(file) } }
        try files.write(to: scratch)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        let script = "timeout 60 \"$0\" \"$1\" .recover 2>/dev/null | \"$0\" \"$2\" >/dev/null 2>&1"
        process.arguments = ["-c", script, executable, scratch.path, recovered.path]
        try process.run()
        process.waitUntilExit()
        guard FileManager.default.fileExists(atPath: recovered.path) else { return Result() }
        // What it makes of a damaged schema may be no database.
        return (try? count(recovered, input, tables)) ?? Result()
    }

    private func count(_ file: URL, _ input: SalvageInput, _ tables: [SalvageTable]) throws -> Result {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let queue = try DatabaseQueue(path: file.path, configuration: configuration)
        defer { try? queue.close() }
        return try queue.writeWithoutTransaction { db in
            var result = Result()
            result.orphaned = try removeOrphans(db)
            for (table, key, row) in SalvageSnapshot(readable: db, tables, at: input.version).entries {
                switch input.truth.judge(row, key, in: table) {
                case .right, .earlier: result.right += 1
                case .deletedEarlier: continue
                case .gone, .unknown: result.wrong += 1
                }
            }
            return result
        }
    }

    private func removeOrphans(_ db: Database) throws -> Int {
        var count = 0
        while true {
            let rows = try Row.fetchAll(db, sql: "PRAGMA foreign_key_check")
            let ids = rows.filter { $0["table"] as String == "child" }.compactMap { $0["rowid"] as Int64? }
            guard !ids.isEmpty else { return count }
            for id in Set(ids) {
                try db.execute(sql: "DELETE FROM child WHERE rowid = ?", arguments: [id])
                count += db.changesCount
            }
            guard db.changesCount > 0 else { return count }
        }
    }
}
