import AppMigrations
import Foundation
package import GRDB

/// The settings of a connection that last beyond a transaction, so that they can be put back.
///
/// They are the pragmas that concern the connection and can be read and written (pragma.html). A file that
/// contains one of the others, or `temp_store`, is refused: see `SQLScript.lastingPragmas`.
package struct ConnectionSettings {
    /// The pragmas, in the order in which they can be put back.
    ///
    /// First what would keep the others from being put back. A pragma with a schema's name comes after the same
    /// without, which sets all schemas.
    private static let pragmas = [
        "query_only", "writable_schema", "ignore_check_constraints", "legacy_alter_table",
        "recursive_triggers",
        "reverse_unordered_selects", "trusted_schema", "read_uncommitted", "defer_foreign_keys",
        "foreign_keys",
        "cell_size_check", "checkpoint_fullfsync", "fullfsync", "automatic_index", "count_changes",
        "empty_result_callbacks", "full_column_names", "short_column_names", "analysis_limit", "threads",
        "soft_heap_limit", "busy_timeout", "locking_mode", "main.locking_mode", "main.synchronous",
        "cache_size", "cache_spill", "journal_size_limit", "mmap_size", "secure_delete",
        "temp_store",
    ]

    /// The values, without the pragmas that this SQLite does not know.
    private let values: [String: String]
    /// The attached databases.
    package let attached: AttachedDatabases

    package init(_ db: Database) throws {
        values = try Self.values(db)
        attached = try AttachedDatabases(db)
    }

    /// Puts back the settings that have changed.
    ///
    /// Works inside a transaction too, in which SQLite changes none of those that it could not put back there.
    package func restore(_ db: Database) throws {
        let changed = try Self.values(db)
        for pragma in Self.pragmas {
            guard let value = values[pragma], changed[pragma] != value else { continue }
            switch pragma {
            // Only the word means 2.
            case "secure_delete" where value == "2": try db.runPastGRDB("PRAGMA \(pragma) = FAST")
            // Once there is something temporary, SQLite changes it in no transaction. Only code can have set it.
            case "temp_store": _ = try? db.runPastGRDB("PRAGMA \(pragma) = \(value)")
            default: try db.runPastGRDB("PRAGMA \(pragma) = \(value)")
            }
        }
    }

    /// Puts back what a step has changed, outside the transaction, whose outcome stands.
    ///
    /// SQLite forgets broken foreign keys if `defer_foreign_keys` is turned off before the commit.
    package func giveBack(_ db: Database) {
        try? restore(db)
        attached.detachOthers(db)
    }

    private static func values(_ db: Database) throws -> [String: String] {
        try pragmas.reduce(into: [:]) { values, pragma in
            values[pragma] = try db.runPastGRDB("PRAGMA \(pragma)").first?.first
        }
    }
}

extension Database {
    /// Returns the integer value of a pragma.
    package func pragma(_ name: String) throws -> Int {
        try Int.fetchOne(self, sql: "PRAGMA \(name)") ?? 0
    }

    /// Turns the enforcement of foreign keys on or off.
    func setForeignKeys(_ foreignKeys: ForeignKeys) throws {
        // pragma.html, foreign_keys: "This pragma is a no-op within a transaction".
        try execute(sql: "PRAGMA foreign_keys = \(foreignKeys == .immediate ? 1 : 0)")
    }
}

extension Database {
    /// Runs the body with commits that survive a power cut, and then restores the connection's settings.
    ///
    /// It restores the foreign key setting as well, so that the body may change it.
    ///
    /// - Parameter limit: the longest time to wait for another connection.
    package func withDurableCommits(waitingUpTo limit: Duration, _ body: () throws -> Void) throws {
        let settings = try CommitSettings(self, waitingUpTo: limit)
        do {
            try raiseDurability(above: settings)
            try body()
        } catch {
            try? settings.restore(self)
            throw error
        }
        try settings.restore(self)
    }

    /// Makes commits survive a power cut, and transactions the end of the process.
    fileprivate func raiseDurability(above settings: CommitSettings) throws {
        // pragma.html, journal_mode: without a journal on the disk, a crash in a transaction damages the file.
        if settings.hasNoJournal, try canMakeJournal() {
            try execute(sql: "PRAGMA main.journal_mode = DELETE")
        }
        // pragma.html, synchronous: in rollback mode a commit is the unlinking of the journal, which only
        // EXTRA syncs.
        // pragma.html, fullfsync: on Apple's systems a plain sync may leave a commit in the drive's cache.
        let synchronous = max(settings.synchronous, settings.journalMode == "wal" ? 2 : 3)
        try execute(sql: "PRAGMA main.synchronous = \(synchronous); PRAGMA fullfsync = 1")
    }

    /// False if nothing can be written beside the file, as in a sandbox that has been granted the file alone.
    private func canMakeJournal() throws -> Bool {
        guard let file = try mainFile() else { return true }
        return FileManager.default.isWritableFile(atPath: file.deletingLastPathComponent().path)
    }
}

extension DatabaseWriter {
    /// Runs the body, which writes by several accesses, with commits that survive a power cut, and then restores the
    /// connection's settings.
    package func withDurableCommits(waitingUpTo limit: Duration, _ body: () throws -> Void) throws {
        let settings = try unsafeReentrantWrite { try CommitSettings($0, waitingUpTo: limit) }
        do {
            try unsafeReentrantWrite { try $0.raiseDurability(above: settings) }
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
    let journalMode: String

    /// True if SQLite keeps the journal in memory, or none.
    var hasNoJournal: Bool { journalMode == "memory" || journalMode == "off" }

    init(_ db: Database, waitingUpTo limit: Duration) throws {
        foreignKeys = try db.pragma("foreign_keys")
        synchronous = try db.pragma("main.synchronous")
        fullFsync = try db.pragma("fullfsync")
        // This one reads the file.
        journalMode = try waitWhileBusy(upTo: limit) {
            try String.fetchOne(db, sql: "PRAGMA main.journal_mode") ?? ""
        }
    }

    func restore(_ db: Database) throws {
        // The last one may have to read the schema, and so fail.
        try db.runPastGRDB(
            """
            PRAGMA foreign_keys = \(foreignKeys); PRAGMA fullfsync = \(fullFsync);
            PRAGMA main.synchronous = \(synchronous)
            """)
        // A file without a transaction may have chosen another one.
        if hasNoJournal, try db.runPastGRDB("PRAGMA main.journal_mode").first == ["delete"] {
            try db.runPastGRDB("PRAGMA main.journal_mode = \(journalMode)")
        }
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
            guard let file = try db.mainFile() else { return }
            do {
                try DurableFile(at: file).syncName()
            } catch let error as POSIXError {
                // A sandbox can grant the file without its folder. SQLite, too, then syncs the file alone.
                if error.saysThatFileIsRefused { return }
                throw DatabaseError(resultCode: .SQLITE_IOERR, message: error.reason)
            }
        }
    #endif
}
