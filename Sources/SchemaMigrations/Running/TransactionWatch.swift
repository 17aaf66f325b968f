import AppMigrations
package import GRDB

/// An observer that keeps a migration from ending its transaction, and records the tables that it changes.
///
/// It refuses a commit before it happens (c3ref/commit_hook.html), so that no work stays without its record.
/// It notices a rollback afterwards.
package final class TransactionWatch: TransactionObserver {
    private struct CommitRefused: Error {}

    /// True if the migration ended the transaction.
    private(set) var sawEnd = false

    /// The tables into which statements write rows, triggers included.
    private(set) var tables: Set<SQLName> = []
    /// The table of the last one, which is often that of the next one.
    private var lastName: String?

    package init() {}

    package func databaseWillCommit() throws {
        sawEnd = true
        throw CommitRefused()
    }

    package func databaseDidRollback(_ db: Database) {
        sawEnd = true
    }

    /// Records the table that a statement is about to change, and declines to observe its rows.
    ///
    /// As a result, SQLite may truncate tables, and nothing is buffered.
    package func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
        let name = eventKind.tableName
        // By bytes, as SQLite compares: equal characters may be written in several ways.
        if lastName.map({ !$0.utf8.elementsEqual(name.utf8) }) ?? true {
            tables.insert(SQLName(name))
            lastName = name
        }
        return false
    }

    package func databaseDidChange(with event: DatabaseEvent) {}
    package func databaseDidCommit(_ db: Database) {}
}

extension TransactionWatch {
    /// Runs a body while the watch observes the connection.
    package func observe<Result>(_ db: Database, _ body: () throws -> Result) rethrows -> Result {
        db.add(transactionObserver: self)
        defer { db.remove(transactionObserver: self) }
        return try body()
    }

    /// Runs a body in an open transaction that the watch observes, and makes sure that the transaction stays open.
    ///
    /// - Parameter ended: the error to throw if the body ends the transaction, unless the device or a cancellation
    ///   made it fail.
    package func refuseEnd(
        of db: Database, orThrow ended: @autoclosure () -> any Error, _ body: () throws -> Void
    ) throws {
        do {
            try body()
        } catch {
            throw sawEnd && error.isOwnFailure ? ended() : error
        }
        if sawEnd || !db.isInsideTransaction { throw ended() }
    }
}

extension DatabaseEventKind {
    fileprivate var tableName: String {
        switch self {
        case .insert(let name), .delete(let name), .update(let name, _): name
        }
    }
}

extension Savepoint {
    /// Keeps the changes made since the savepoint.
    ///
    /// - Throws: an error that blames the migration, which must have ended the savepoint.
    func release(after job: MigrationJob) throws {
        do {
            try db.cachedStatement(sql: "RELEASE \(Self.name)").execute()
        } catch {
            throw job.transactionEnded
        }
    }
}
