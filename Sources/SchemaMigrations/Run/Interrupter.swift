import AppMigrations
import CMigrationSQLite
import Foundation
import GRDB

/// A switch that stops a running migration, from any thread and inside a statement too.
final class Interrupter: Sendable {
    private struct State {
        var isCancelled = false
        /// The connection that may be interrupted now.
        var connection: Connection?
        var isInterrupting = false
        /// The observed progress, which is weak because its handler refers to this object and may run late.
        weak var progress: Progress?

        var isToStop: Bool { isCancelled || progress?.isCancelled == true }
    }

    private let state = Locked(State())

    var isCancelled: Bool { state.withLock { $0.isToStop } }

    /// Throws `CancellationError` once the run is cancelled.
    func check() throws {
        if isCancelled { throw CancellationError() }
    }

    /// Observes a progress that calls ``cancel()`` when it is cancelled, so that cancelling it stops the run.
    func listen(to progress: Progress) {
        state.withLock { $0.progress = progress }
    }

    /// Stops the running statement, and everything that would run after it.
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
            // Under the lock, so that meanwhile `allowInterrupts` cannot return and no transaction can
            // commit.
            app_migrations_interrupt(connection.pointer)
            return true
        }
    }

    /// Runs the body, whose statements may be interrupted, unlike those before and after it.
    ///
    /// - Throws: `CancellationError` when the run was cancelled, or the body's error.
    func allowInterrupts(of db: Database, _ body: () throws -> Void) throws {
        try state.withLock { state in
            // Under one lock: an earlier cancellation is seen here, and a later one interrupts.
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

    /// A connection that other threads may interrupt.
    ///
    /// It can be sendable because `sqlite3_interrupt` may be called from other threads as long as the
    /// connection is open, which ``allowInterrupts(of:_:)`` ensures.
    private struct Connection: @unchecked Sendable {
        let pointer: SQLiteConnection
    }
}
