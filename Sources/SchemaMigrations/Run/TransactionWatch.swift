import GRDB

/// Keeps a migration from ending the transaction that it is run in, and notes which tables it changes.
///
/// A commit is refused before it happens (c3ref/commit_hook.html), so that no work stays without its record;
/// a rollback is noticed after.
final class TransactionWatch: TransactionObserver {
    private struct CommitRefused: Error {}

    /// Whether the transaction has been ended, and with it all that was done in it.
    private(set) var sawEnd = false

    /// The tables into which statements write rows, triggers included.
    private(set) var tables: Set<String> = []

    func databaseWillCommit() throws {
        sawEnd = true
        throw CommitRefused()
    }

    func databaseDidRollback(_ db: Database) {
        sawEnd = true
    }

    /// Notes the table that a statement is about to change, and declines to hear of its rows: so SQLite may
    /// truncate tables, and nothing is buffered.
    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
        tables.insert(eventKind.tableName)
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
