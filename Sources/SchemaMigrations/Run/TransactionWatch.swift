import GRDB

/// Keeps a migration from ending the transaction that it is run in.
///
/// A commit is refused before it happens (c3ref/commit_hook.html), so that no work stays without its record; a
/// rollback is noticed after.
final class TransactionWatch: TransactionObserver {
    private struct CommitRefused: Error {}

    /// Whether the transaction has been ended, and with it all that was done in it.
    private(set) var sawEnd = false

    func databaseWillCommit() throws {
        sawEnd = true
        throw CommitRefused()
    }

    func databaseDidRollback(_ db: Database) {
        sawEnd = true
    }

    // Rows are none of its business: SQLite may truncate tables, and nothing is buffered.
    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ db: Database) {}
}
