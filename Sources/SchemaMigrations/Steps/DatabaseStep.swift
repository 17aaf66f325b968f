package import AppMigrations
import Foundation
import GRDB
import MigrationDiagnostics

/// The body of a step that works in one database.
struct DatabaseStep: TransactionWork {
    let place: SQLiteStore
    let foreignKeys: ForeignKeys
    var condition: (@Sendable (Database) throws -> Bool)?
    let body: @Sendable (Database, MigrationContext) throws -> Void

    func isNeededAgain() throws -> Bool {
        guard let condition else { return false }
        return try place.database.readSnapshot(waitingUpTo: .defaultBusyTimeout, condition)
    }

    func perform(_ context: MigrationContext, settlement: Settlement) throws {
        try place.database.unsafeReentrantWrite { db in
            try SQLiteStore.refuseTransactions(on: db, place.name)
            try db.withDurableCommits(waitingUpTo: .defaultBusyTimeout) {
                try db.setForeignKeys(foreignKeys)
                do {
                    try commit(db, context, settlement, retrying: nil)
                } catch let suspicion as SuspectWork {
                    try commit(db, context, settlement, retrying: suspicion.suspects)
                }
            }
        }
    }

    /// Runs the body and commits its work together with its record.
    ///
    /// - Throws: ``SuspectWork``, if something that the body touched is broken in the first attempt.
    private func commit(
        _ db: Database, _ context: MigrationContext, _ settlement: Settlement, retrying suspects: Suspects?
    ) throws {
        // The next attempt, or another step, would take what the body sets and attaches for the app's.
        var settings: ConnectionSettings?
        defer { settings?.giveBack(db) }
        try db.withWriteTransaction(waitingUpTo: .defaultBusyTimeout) {
            // It may have waited until long after the run was told to stop.
            if context.progress.isCancelled { throw CancellationError() }
            guard try !settlement.isRecorded(in: place.state(of: settlement.manager, db)) else {
                return  // Another process has done it.
            }
            // SQLite itself refuses what would break an enforced key.
            let inspection =
                foreignKeys == .deferred ? try Inspection(db, foreignKeys, retrying: suspects) : nil
            // Reading them waits for nobody in the transaction.
            settings = try ConnectionSettings(db)
            let watch = TransactionWatch()
            try watch.observe(db) {
                try watch.refuseEnd(of: db, orThrow: place.stepEndedTransaction) { try body(db, context) }
            }
            try settings?.attached.checkOthers(db)
            if let new = try inspection?.firstNew(touched: watch.tables, byCode: true) {
                throw place.stepLeaves(new)
            }
            _ = try inspection?.finish()
            try place.update(settlement.manager, db, settlement.record)
        }
    }
}

extension SQLiteStore {
    /// The error of a step that has ended the transaction that it ran in.
    package var stepEndedTransaction: MigrationError {
        MigrationError(
            .stepFailed,
            Diagnostic(
                at: .store(name), "the step ended the transaction that it ran in",
                remedy: "Leave the transaction open: a step and its record are committed together."))
    }

    /// The error of a step that has broken something.
    fileprivate func stepLeaves(_ finding: Finding) -> MigrationError {
        var remedies = [finding.hint, finding.remedy]
        if case .orphans = finding {
            remedies.append("A step that relies on ON DELETE CASCADE needs foreignKeys: .immediate.")
        }
        return MigrationError(
            .stepFailed,
            Diagnostic(
                at: .store(name), "the step leaves \(finding.description)",
                remedy: remedies.compactMap(\.self).joined(separator: " ")))
    }
}
