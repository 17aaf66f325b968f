import AppMigrations
import GRDB

/// The statements that run on one connection, in order.
final class StatementTrace: Sendable {
    private let found = Locked<[TracedStatement]>([])

    var statements: [TracedStatement] { found.withLock { $0 } }

    /// Begins to record, in the place of an app's own trace.
    func start(_ db: Database) {
        db.trace { [found] event in
            guard case .statement(let statement) = event else { return }
            found.withLock {
                $0.append(TracedStatement(sql: statement.sql, expanded: statement.expandedSQL))
            }
        }
    }

    func stop(_ db: Database) { db.trace(nil) }
}
