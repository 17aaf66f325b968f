import Foundation
import GRDB
import SchemaMigrations

/// A connection that keeps all others out of a database, which is one whole file meanwhile.
///
/// The connection recovers what a crash has left, and takes everything in from the write-ahead log, which then does not
/// exist. Where others have the database open in WAL mode, it waits for them to close it; in rollback mode, for the end of
/// their transactions. While it waits it has no lock, so that it keeps none of them from ending.
final class SoleConnection {
    let queue: DatabaseQueue
    /// True if the database was in WAL mode.
    private(set) var wasWAL = false
    private let interrupter: Interrupter

    /// Opens a database and locks it.
    ///
    /// - Parameter destination: the place that is noted in the database, for good, as the one to which it is being moved.
    /// - Throws: `DatabaseError`, which is busy when the time is over.
    init(
        to url: URL, _ configuration: Configuration, movingTo destination: URL? = nil,
        waitingFor limit: Duration,
        _ interrupter: Interrupter
    ) throws {
        self.interrupter = interrupter
        var configuration = configuration.forCopying()
        // SQLite may wait with a lock.
        configuration.busyMode = .immediateError
        queue = try waitWhileBusy(upTo: limit, interrupter: interrupter) {
            try DatabaseQueue(path: url.path, configuration: configuration)
        }
        do {
            try waitWhileBusy(upTo: limit, interrupter: interrupter) { try lock(url, movingTo: destination) }
        } catch {
            try? queue.close()
            throw error
        }
    }

    func close() {
        try? queue.close()
    }

    private func lock(_ url: URL, movingTo destination: URL?) throws {
        try queue.inDatabase { db in
            // An interrupt may come before the last statement.
            defer { db.rollbackIfOpen() }
            try interrupter.allowInterrupts(of: db) {
                wasWAL = try wasWAL || journalMode(db) == "wal"
                try db.execute(sql: "PRAGMA main.locking_mode = NORMAL")
                try db.leaveWAL()
                try checkJournal(db)
                if let destination {
                    try db.withDurableCommits(waitingUpTo: .zero) {
                        try db.withWriteTransaction(waitingUpTo: .zero) {
                            try MoveMark.write(movedTo: destination, from: url, db)
                        }
                    }
                }
                // In the normal mode, so that a failure leaves no lock behind: in the exclusive mode a shared one
                // would stay, with which no other connection can commit (pragma.html, locking_mode).
                try db.execute(sql: "BEGIN EXCLUSIVE")
                // Now the lock outlives the transaction. Nothing was written in it, so there is no journal.
                try db.execute(sql: "PRAGMA main.locking_mode = EXCLUSIVE; ROLLBACK")
                try checkJournal(db)
            }
        }
    }

    /// Throws if the database is in WAL mode, because of another connection.
    private func checkJournal(_ db: Database) throws {
        guard try journalMode(db) != "wal" else {
            throw DatabaseError(resultCode: .SQLITE_BUSY, message: "another connection has the database open")
        }
    }

    private func journalMode(_ db: Database) throws -> String? {
        try String.fetchOne(db, sql: "PRAGMA main.journal_mode")
    }
}
