import AppMigrations
import GRDB
import MigrationDiagnostics

/// The body of a step that works in one database.
struct DatabaseStep: TransactionWork {
    let place: DatabasePlace
    /// How foreign keys are enforced; nil for as the app's connection does.
    let foreignKeys: ForeignKeys?
    let body: @Sendable (Database, MigrationContext) throws -> Void

    func perform(_ context: MigrationContext, settlement: Settlement) throws {
        let records = place.records
        try place.database.unsafeReentrantWrite { db in
            guard !db.isInsideTransaction else { throw SQLiteStore.insideTransaction(place.name) }
            try db.withDurableCommits(waitingUpTo: .defaultBusyTimeout) {
                if let foreignKeys { try db.setForeignKeys(foreignKeys) }
                try db.withWriteTransaction(waitingUpTo: .defaultBusyTimeout) {
                    guard try !settlement.isRecorded(in: records.state(of: context.manager, db)) else {
                        return  // Another process has done it.
                    }
                    try TransactionWatch().keepOpen(db, orThrow: place.stepEndedTransaction) {
                        try checkingForeignKeys(db) { try body(db, context) }
                    }
                    try records.update(context.manager, db, settlement.record)
                }
            }
        }
    }

    /// Runs the body, and throws if it leaves something broken that was not broken before.
    private func checkingForeignKeys(_ db: Database, _ body: () throws -> Void) throws {
        guard foreignKeys == .deferred else { return try body() }
        let before = try Findings(db, .everything, .deferred, label: 0)
        try body()
        let after = try Findings(db, .everything, .deferred, label: 1)
        if let new = try after.firstNew(since: before, db) {
            throw MigrationError(
                .stepFailed,
                Diagnostic(
                    at: .store(place.name), "the step leaves \(new.description)",
                    remedy: [new.hint, new.remedy].compactMap(\.self).joined(separator: " ")))
        }
        try before.drop(db)
        try after.drop(db)
    }
}

extension DatabasePlace {
    /// The error of a step that has ended the transaction that it ran in.
    var stepEndedTransaction: MigrationError {
        MigrationError(
            .stepFailed,
            Diagnostic(
                at: .store(name), "the step ended the transaction that it ran in",
                remedy: "Remove what commits or rolls back: a step and its record are committed together."))
    }
}
