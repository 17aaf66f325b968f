import GRDB

extension Database {
    /// Runs the body with commits that survive a power cut, and then restores the connection's settings.
    ///
    /// It restores the foreign key setting as well, so that the body may change it.
    ///
    /// - Parameter limit: the longest time to wait for another connection.
    func withDurableCommits(waitingUpTo limit: Duration, _ body: () throws -> Void) throws {
        let settings = try raiseDurability(waitingUpTo: limit)
        do {
            try body()
        } catch {
            try? settings.restore(self)
            throw error
        }
        try settings.restore(self)
    }

    /// Makes commits survive a power cut, and returns the settings to restore.
    fileprivate func raiseDurability(waitingUpTo limit: Duration) throws -> CommitSettings {
        let settings = try CommitSettings(self)
        // Asking for the journal mode reads the file.
        let isWAL = try waitWhileBusy(upTo: limit) {
            try String.fetchOne(self, sql: "PRAGMA main.journal_mode") == "wal"
        }
        // pragma.html, synchronous: in rollback mode a commit is the unlinking of the journal, which only
        // EXTRA syncs.
        try execute(sql: "PRAGMA main.synchronous = \(max(settings.synchronous, isWAL ? 2 : 3))")
        return settings
    }
}

extension DatabaseWriter {
    /// Runs the body, which writes by several accesses, with commits that survive a power cut, and then restores the
    /// connection's settings.
    func withDurableCommits(waitingUpTo limit: Duration, _ body: () throws -> Void) throws {
        let settings = try unsafeReentrantWrite { try $0.raiseDurability(waitingUpTo: limit) }
        do {
            try body()
        } catch {
            try? unsafeReentrantWrite { try settings.restore($0) }
            throw error
        }
        try unsafeReentrantWrite { try settings.restore($0) }
    }
}

/// The settings of a connection that a run changes.
private struct CommitSettings: Sendable {
    let foreignKeys: Int
    let synchronous: Int

    init(_ db: Database) throws {
        foreignKeys = try db.pragma("foreign_keys")
        synchronous = try db.pragma("main.synchronous")
    }

    func restore(_ db: Database) throws {
        try db.execute(sql: "PRAGMA main.synchronous = \(synchronous); PRAGMA foreign_keys = \(foreignKeys)")
    }
}
