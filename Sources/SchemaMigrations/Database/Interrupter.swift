import AppMigrations
import CMigrationSQLite
package import Foundation
package import GRDB

/// A switch that stops a running migration, from any thread and inside a statement too.
///
/// Its own thread watches the progress of the run: the handler of a cancelled progress would run on a thread that
/// Dispatch shares out, and so late, or never when the app blocks them all.
package final class Interrupter: Sendable {
    private enum Reason { case cancelled, suspending, timeOver }

    private struct State {
        var reason: Reason?
        /// The connection that may be interrupted now.
        var connection: Connection?
        /// True if the thread runs that interrupts the connection.
        var isWatching = false
    }

    private let state = Locked(State())
    private let progress: Progress?
    private let deadline: ContinuousClock.Instant?
    private let timeOver: any Error

    /// Creates a switch.
    ///
    /// - Parameters:
    ///   - progress: stops the run too when it is cancelled.
    ///   - deadline: stops the run when the time is over.
    ///   - timeOver: the error with which the run then stops.
    package init(
        observing progress: Progress?, until deadline: ContinuousClock.Instant? = nil,
        orThrow timeOver: any Error = CancellationError()
    ) {
        self.progress = progress
        self.deadline = deadline
        self.timeOver = timeOver
    }

    private var reason: Reason? {
        if let reason = state.withLock({ $0.reason }) { return reason }
        if progress?.isCancelled == true { return .cancelled }
        return deadline.map { $0 <= .now } == true ? .timeOver : nil
    }

    /// The error with which the run stops; nil as long as it may go on.
    @inline(never)
    private var error: (any Error)? {
        switch reason {
        case .cancelled: CancellationError()
        case .timeOver: timeOver
        case .suspending:
            MigrationError(
                .suspended, "The system is about to suspend the app", remedy: Obstacle.suspended.remedy)
        case nil: nil
        }
    }

    /// Throws `CancellationError` once the run is cancelled, or the error `suspended`.
    package func check() throws {
        if let error { throw error }
    }

    /// Stops the running statement, and everything that would run after it.
    func cancel() { stop(.cancelled) }

    /// Stops the run because the system is about to suspend the process.
    func suspend() { stop(.suspending) }

    private func stop(_ reason: Reason) {
        state.withLock { $0.reason = $0.reason ?? reason }
        watch()
    }

    /// Runs the body while the system does not suspend the process, unless its time for that expires.
    package func whileActive<Result>(_ body: () throws -> Result) rethrows -> Result {
        let end = ExpiringActivity.current.begin("schema migrations", stop: suspend)
        defer { end() }
        return try body()
    }

    /// Sees to it that a thread runs, for as long as there is a connection, which interrupts it once the run is to
    /// stop.
    private func watch() {
        let begins = state.withLock { state in
            guard state.connection != nil, !state.isWatching else { return false }
            state.isWatching = true
            return true
        }
        guard begins else { return }
        onNewThread { [self] in
            // An interrupt between two statements is lost (c3ref/interrupt.html), so it is repeated.
            // Soon, where somebody else waits for the lock.
            while interruptIfStopped() {
                Thread.sleep(forTimeInterval: deadline.map { $0 <= .now } == true ? 0.001 : 0.01)
            }
        }
    }

    private func interruptIfStopped() -> Bool {
        let isToStop = reason != nil
        return state.withLock { state in
            guard let connection = state.connection else {
                state.isWatching = false
                return false
            }
            // Under the lock, so that meanwhile `allowInterrupts` cannot return and no transaction can
            // commit.
            if isToStop { app_migrations_interrupt(connection.pointer) }
            return true
        }
    }

    /// Runs the body, whose statements may be interrupted, unlike those before and after it.
    ///
    /// - Throws: the error of ``check()`` when the run is to stop, or the body's error.
    package func allowInterrupts(of db: Database, _ body: () throws -> Void) throws {
        try begin(db)
        defer { state.withLock { $0.connection = nil } }
        do {
            try body()
        } catch {
            throw self.error ?? db.explained(error)
        }
    }

    private func begin(_ db: Database) throws {
        state.withLock { $0.connection = db.sqliteConnection.map(Connection.init) }
        do {
            // A stop from here on finds the connection.
            try check()
        } catch {
            state.withLock { $0.connection = nil }
            throw error
        }
        if progress != nil || deadline != nil { watch() }
    }

    /// A connection that other threads may interrupt.
    ///
    /// It can be sendable because `sqlite3_interrupt` may be called from other threads as long as the
    /// connection is open, which ``allowInterrupts(of:_:)`` ensures.
    private struct Connection: @unchecked Sendable {
        let pointer: SQLiteConnection
    }
}
