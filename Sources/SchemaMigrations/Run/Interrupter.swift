import AppMigrations
import Foundation
import GRDB
import GRDBSQLite

/// Stops a migration that is running, when it is cancelled: from any thread, and inside a statement too.
final class Interrupter: Sendable {
    private struct State {
        var isCancelled = false
        /// The connection that may be interrupted now.
        var connection: Connection?
        var isInterrupting = false
        /// Its handler may be called a while after it was cancelled, and refers to this object: hence it is
        /// weak.
        weak var progress: Progress?

        var isToStop: Bool { isCancelled || progress?.isCancelled == true }
    }

    private let state = Locked(State())

    var isCancelled: Bool { state.withLock { $0.isToStop } }

    /// Throws `CancellationError` once it is cancelled.
    func check() throws {
        if isCancelled { throw CancellationError() }
    }

    /// Stops when a progress is cancelled that has ``cancel()`` as its handler.
    func listen(to progress: Progress) {
        state.withLock { $0.progress = progress }
    }

    /// Stops what is running, and all that would run after it.
    func cancel() {
        let begins = state.withLock { state in
            state.isCancelled = true
            defer { state.isInterrupting = true }
            return !state.isInterrupting
        }
        guard begins else { return }
        // An interrupt between two statements is lost (c3ref/interrupt.html), so it is repeated.
        Thread.detachNewThread { [self] in
            while interruptOnce() { Thread.sleep(forTimeInterval: 0.01) }
        }
    }

    private func interruptOnce() -> Bool {
        state.withLock { state in
            guard let connection = state.connection else {
                state.isInterrupting = false
                return false
            }
            // Under the lock: `allowInterrupts` cannot return, and nobody commit, while this is going on.
            sqlite3_interrupt(connection.pointer)
            return true
        }
    }

    /// Runs the body, whose statements may be interrupted; nothing before or after it is.
    ///
    /// - Throws: `CancellationError` when it was cancelled, or what the body throws.
    func allowInterrupts(of db: Database, _ body: () throws -> Void) throws {
        try state.withLock { state in
            // Under one lock: a cancellation comes before, and is seen here, or after, and interrupts.
            if state.isToStop { throw CancellationError() }
            state.connection = db.sqliteConnection.map(Connection.init)
        }
        defer { state.withLock { $0.connection = nil } }
        do {
            try body()
        } catch {
            throw isCancelled ? CancellationError() : error
        }
    }

    /// Sendable although unchecked: `sqlite3_interrupt` is made to be called from other threads, as long as
    /// the connection is open, which ``allowInterrupts(of:_:)`` sees to.
    private struct Connection: @unchecked Sendable {
        let pointer: SQLiteConnection
    }
}
