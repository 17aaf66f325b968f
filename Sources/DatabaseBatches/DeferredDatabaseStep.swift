import AppMigrations
import Foundation
import GRDB
import SchemaMigrations

/// The body of a deferred step that works in one database, batch by batch.
struct DeferredDatabaseStep: BatchWork {
    let place: SQLiteStore
    let batches: any StepBatches

    func begin() throws -> StepPosition { try begin(waitingUpTo: .defaultBusyTimeout) }

    private func begin(waitingUpTo limit: Duration) throws -> StepPosition {
        try place.database.readSnapshot(waitingUpTo: limit) { try batches.begin($0) }
    }

    func isNeededAgain() throws -> Bool {
        try place.database.readSnapshot(waitingUpTo: .defaultBusyTimeout) { try batches.isNeededAgain($0) }
    }

    func mayBeNeededAgain() throws -> Bool {
        do {
            return try isNeededAgain()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            // Without a function, say, the step fails and tells why, and what it reads stays.
            return !error.isAboutMissingData && !error.isAboutMissingColumn
        } catch let error as MigrationError where error.code == .stepFailed {
            return false
        }
    }

    func batches(from position: StepPosition, in environment: Environment) -> any BatchRun {
        var hasBegun = position.hasCursor
        var beginning: StepPosition?
        return BatchRunner(rowsSetAside: position.setAside.count, in: environment) { batch in
            // Counting the rows of a large table takes long: others can write meanwhile, and it is no time of a batch.
            if !hasBegun, beginning == nil { beginning = try begin(waitingUpTo: batch.patience) }
            let result = try run(batch, from: beginning)
            (hasBegun, beginning) = (true, nil)
            return result
        }
    }

    /// - Parameter beginning: where the step begins, if no batch of it has run, and that is known.
    private func run(_ batch: Batch, from beginning: StepPosition?) throws -> (BatchOutcome, Duration) {
        // Waits outside the access to the database, so that the app can use its connection meanwhile.
        try waitWhileBusy(upTo: batch.patience) {
            var result = (BatchOutcome.endedElsewhere, Duration.zero)
            try place.database.unsafeReentrantWrite { db in
                try SQLiteStore.refuseTransactions(on: db, place.name)
                // The next batch would take what the body sets and attaches for the app's.
                let settings = try ConnectionSettings(db)
                defer { settings.giveBack(db) }
                try db.withDurableCommits(waitingUpTo: .zero) {
                    result = try run(batch, from: beginning, settings.attached, db)
                }
            }
            return result
        }
    }

    /// Runs a batch and records how far the step is, in one transaction.
    private func run(
        _ batch: Batch, from beginning: StepPosition?, _ attached: AttachedDatabases, _ db: Database
    ) throws -> (BatchOutcome, Duration) {
        let body = BatchBody(batch, orThrow: place.stepEndedTransaction)
        do {
            return try db.withWriteTransaction(waitingUpTo: .zero, committingWithin: Batch.limit) {
                try body.watch.observe(db) {
                    let result = try run(batch, from: beginning, body, db)
                    try body.blamingNoRow { try attached.checkOthers(db) }
                    return result
                }
            }
        } catch let error as DatabaseError where error.isBusy && !body.isRunning {
            throw error
        } catch {
            throw body.failure(error)
        }
    }

    private func run(
        _ batch: Batch, from beginning: StepPosition?, _ body: BatchBody, _ db: Database
    ) throws -> (BatchOutcome, Duration) {
        let (manager, id) = (batch.settlement.manager, batch.settlement.id)
        let record = try place.state(of: manager, db).record(of: manager)
        guard let record, !record.hasSettled(id) else { return (.endedElsewhere, .zero) }
        guard !record.isNewer(than: batch.settlement.appVersion) else { return (.overtaken, .zero) }
        let known = record.position(of: id)
        var position = try known.flatMap { $0.hasCursor ? $0 : nil } ?? beginning ?? batches.begin(db)
        let start = ContinuousClock.now
        let isAtEnd = try batches.run(batch.part, &position, body, db)
        let duration = ContinuousClock.now - start
        let isDone = isAtEnd && position.setAside.isEmpty
        // A batch without rows is no progress, which deaths and failures would count from.
        if isDone || position != known {
            try place.update(manager, db) { stored in
                if isDone { return try batch.settlement.record(in: &stored) }
                try stored.apply(.moved(id, position), toRecordOf: manager)
            }
        }
        if isDone { return (.done, duration) }
        // The other rows that are set aside come next.
        if case .retry = batch.part { return (.more(position), duration) }
        guard isAtEnd else { return (.more(position), duration) }
        return (.rowsLeft(position, .setAside(batches.title(of: position.setAside))), duration)
    }
}
