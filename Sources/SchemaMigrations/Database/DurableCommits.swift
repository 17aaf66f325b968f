import AppMigrations
import Foundation
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
        // pragma.html, fullfsync: on Apple's systems a plain sync may leave a commit in the drive's cache.
        try execute(
            sql: """
                PRAGMA main.synchronous = \(max(settings.synchronous, isWAL ? 2 : 3)); PRAGMA fullfsync = 1
                """)
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
    let fullFsync: Int

    init(_ db: Database) throws {
        foreignKeys = try db.pragma("foreign_keys")
        synchronous = try db.pragma("main.synchronous")
        fullFsync = try db.pragma("fullfsync")
    }

    func restore(_ db: Database) throws {
        try db.execute(
            sql: """
                PRAGMA main.synchronous = \(synchronous); PRAGMA fullfsync = \(fullFsync);
                PRAGMA foreign_keys = \(foreignKeys)
                """)
        #if canImport(Darwin)
            try flushDrive(db)
        #endif
    }

    #if canImport(Darwin)
        /// Empties the drive's cache.
        ///
        /// In Apple's build of SQLite even `fullfsync` only keeps the drive from reordering what it is handed: commits
        /// stay whole, but the last ones can be lost. This syncs the folder, since closing any other file of the
        /// database would give up the locks that this process has on it (howtocorrupt.html, 2.2).
        private func flushDrive(_ db: Database) throws {
            let path = try String.fetchOne(
                db, sql: "SELECT file FROM pragma_database_list WHERE name = 'main'")
            guard let path, !path.isEmpty else { return }
            do {
                try DurableFile(at: URL(fileURLWithPath: path)).syncName()
            } catch let error as POSIXError {
                throw DatabaseError(resultCode: .SQLITE_IOERR, message: error.reason)
            }
        }
    #endif
}
