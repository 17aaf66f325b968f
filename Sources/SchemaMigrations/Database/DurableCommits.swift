import GRDB

extension Database {
    /// Runs the body with commits that survive a power cut, and then restores the connection's settings.
    ///
    /// It restores the foreign key setting as well, so that the body may change it.
    ///
    /// - Parameter limit: the longest time to wait for another connection.
    func withDurableCommits(waitingUpTo limit: Duration, _ body: () throws -> Void) throws {
        let foreignKeys = try pragma("foreign_keys")
        let synchronous = try pragma("main.synchronous")
        func restore() throws {
            try execute(sql: "PRAGMA main.synchronous = \(synchronous); PRAGMA foreign_keys = \(foreignKeys)")
        }
        // Asking for the journal mode reads the file.
        let isWAL = try waitWhileBusy(upTo: limit) {
            try String.fetchOne(self, sql: "PRAGMA main.journal_mode") == "wal"
        }
        // pragma.html, synchronous: in rollback mode a commit is the unlinking of the journal, which only
        // EXTRA syncs.
        try execute(sql: "PRAGMA main.synchronous = \(max(synchronous, isWAL ? 2 : 3))")
        do {
            try body()
        } catch {
            try? restore()
            throw error
        }
        try restore()
    }
}
