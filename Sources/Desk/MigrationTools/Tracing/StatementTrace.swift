import AppMigrations
package import GRDB

/// The statements that run on one connection, in order.
package final class StatementTrace: Sendable {
    private let found = Locked<[TracedStatement]>([])
    private let isSchemaAlone: Bool

    /// - Parameter isSchemaAlone: true to leave out statements about rows, of which there may be many and large ones.
    package init(ofSchemaAlone isSchemaAlone: Bool = false) { self.isSchemaAlone = isSchemaAlone }

    package var statements: [TracedStatement] { found.withLock { $0 }.withWholeRedefinitions }

    /// Begins to record, in the place of an app's own trace.
    package func start(_ db: Database) {
        db.trace { [found, isSchemaAlone] event in
            guard case .statement(let statement) = event else { return }
            if isSchemaAlone,
                !["CREATE", "ALTER", "DROP"].contains(statement.sql.prefix(while: \.isLetter).uppercased())
            {
                return
            }
            found.withLock {
                $0.append(TracedStatement(sql: statement.sql, expanded: statement.expandedSQL))
            }
        }
    }

    package func stop(_ db: Database) { db.trace(nil) }
}
