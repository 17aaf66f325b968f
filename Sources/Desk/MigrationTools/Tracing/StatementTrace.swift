import AppMigrations
package import GRDB

/// The statements that run on one connection, in order.
package final class StatementTrace: Sendable {
    private let found = Locked<[TracedStatement]>([])

    package init() {}

    package var statements: [TracedStatement] { found.withLock { $0 }.withWholeRedefinitions }

    /// Begins to record, in the place of an app's own trace.
    package func start(_ db: Database) {
        db.trace { [found] event in
            guard case .statement(let statement) = event else { return }
            found.withLock {
                $0.append(TracedStatement(sql: statement.sql, expanded: statement.expandedSQL))
            }
        }
    }

    package func stop(_ db: Database) { db.trace(nil) }
}
