import GRDB

/// The settings of a connection that are changed while it migrates, and put back.
struct ConnectionSettings {
    private let db: Database
    private let foreignKeys: Int
    private let synchronous: Int
    private let isWAL: Bool

    init(_ db: Database) throws {
        self.db = db
        foreignKeys = try db.pragma("foreign_keys")
        synchronous = try db.pragma("main.synchronous")
        // Asking for the journal mode reads the file.
        isWAL = try retryingWhileBusy(for: .seconds(10)) {
            try String.fetchOne(db, sql: "PRAGMA main.journal_mode") == "wal"
        }
    }

    /// Raises what keeps commits through a power cut, runs the body, and puts everything back.
    func whileMigrating(_ body: () throws -> Void) throws {
        // In rollback mode a commit is the unlinking of the journal, which only EXTRA syncs (pragma.html).
        try db.execute(sql: "PRAGMA main.synchronous = \(max(synchronous, isWAL ? 2 : 3))")
        do {
            try body()
        } catch {
            try? restore()
            throw error
        }
        try restore()
    }

    private func restore() throws {
        try db.execute(sql: "PRAGMA main.synchronous = \(synchronous); PRAGMA foreign_keys = \(foreignKeys)")
    }
}
