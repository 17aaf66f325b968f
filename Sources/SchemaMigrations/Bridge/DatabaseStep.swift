import AppMigrations
import GRDB
import MigrationDiagnostics

/// The body of a step that works in one database.
struct DatabaseStep: TransactionWork {
    let place: DatabasePlace
    let body: @Sendable (Database, MigrationContext) throws -> Void

    func perform(_ context: MigrationContext, settlement: Settlement) throws {
        let records = place.records
        try place.database.unsafeReentrantWrite { db in
            guard !db.isInsideTransaction else { throw SQLiteStore.insideTransaction(place.name) }
            try db.withDurableCommits(waitingUpTo: .defaultBusyTimeout) {
                try db.withWriteTransaction(waitingUpTo: .defaultBusyTimeout) {
                    guard try !settlement.isRecorded(in: records.state(of: context.manager, db)) else {
                        return  // Another process has done it.
                    }
                    try TransactionWatch().keepOpen(db, orThrow: ended) { try body(db, context) }
                    try records.update(context.manager, db, settlement.record)
                }
            }
        }
    }

    /// The error of a body that has ended the transaction that it ran in.
    private var ended: MigrationError {
        MigrationError(
            .stepFailed,
            Diagnostic(
                at: .store(place.name), "the step ended the transaction that it ran in",
                remedy: "Remove what commits or rolls back: a step and its record are committed together."))
    }
}
