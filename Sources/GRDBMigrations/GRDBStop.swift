import CMigrationSQLite
import Foundation
import GRDB

/// A stop for GRDB's migrator, which offers none, as soon as a progress is cancelled.
///
/// SQLite asks in the course of long statements alone (c3ref/progress_handler.html), so that GRDB's `ROLLBACK` and its
/// pragmas, which are short, still run. A migration that has taken such an error for something else is not committed.
final class GRDBStop: TransactionObserver {
    private let progress: Progress
    private var hasStopped = false

    /// Prepares to stop when the progress is cancelled.
    init(_ progress: Progress) { self.progress = progress }

    /// Runs the body, which lets GRDB migrate the database.
    ///
    /// - Throws: `CancellationError` when the progress was cancelled in the course of a statement, or the body's error.
    func watch(_ database: any DatabaseWriter, _ body: () throws -> Void) throws {
        let context = Unmanaged.passUnretained(self).toOpaque()
        database.unsafeReentrantWrite { db in
            db.add(transactionObserver: self)
            app_migrations_ask_to_stop(
                db.sqliteConnection,
                { context in
                    guard let context else { return 0 }
                    return Unmanaged<GRDBStop>.fromOpaque(context).takeUnretainedValue().isToStop ? 1 : 0
                }, context)
        }
        defer {
            database.unsafeReentrantWrite { db in
                app_migrations_ask_to_stop(db.sqliteConnection, nil, nil)
                db.remove(transactionObserver: self)
            }
        }
        do {
            try body()
        } catch {
            throw hasStopped ? CancellationError() : error
        }
    }

    /// Runs on the thread of the connection.
    private var isToStop: Bool {
        hasStopped = hasStopped || progress.isCancelled
        return hasStopped
    }

    func databaseWillCommit() throws {
        if hasStopped { throw CancellationError() }
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ db: Database) {}
    func databaseDidRollback(_ db: Database) {}
}
