import GRDB

/// An observer that keeps a migration from ending its transaction, and records the tables that it changes.
///
/// It refuses a commit before it happens (c3ref/commit_hook.html), so that no work stays without its record.
/// It notices a rollback afterwards.
final class TransactionWatch: TransactionObserver {
    private struct CommitRefused: Error {}

    /// Whether the migration ended the transaction.
    private(set) var sawEnd = false

    /// The tables into which statements write rows, triggers included.
    private(set) var tables: Set<SQLName> = []

    func databaseWillCommit() throws {
        sawEnd = true
        throw CommitRefused()
    }

    func databaseDidRollback(_ db: Database) {
        sawEnd = true
    }

    /// Records the table that a statement is about to change, and declines to observe its rows.
    ///
    /// As a result, SQLite may truncate tables, and nothing is buffered.
    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
        tables.insert(SQLName(eventKind.tableName))
        return false
    }

    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ db: Database) {}
}

extension DatabaseEventKind {
    fileprivate var tableName: String {
        switch self {
        case .insert(let name), .delete(let name), .update(let name, _): name
        }
    }
}
