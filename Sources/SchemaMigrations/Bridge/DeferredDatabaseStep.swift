import AppMigrations
import Foundation
import GRDB

/// The body of a deferred step that works in one database, batch by batch.
struct DeferredDatabaseStep: BatchWork {
    let place: SQLiteStore
    let batches: any StepBatches

    func runBatch(_ settlement: Settlement, size: Int) throws -> BatchOutcome {
        var outcome = BatchOutcome(position: nil)
        try place.database.unsafeReentrantWrite { db in
            guard !db.isInsideTransaction else { throw SQLiteStore.insideTransaction(place.name) }
            try db.withDurableCommits(waitingUpTo: .defaultBusyTimeout) {
                outcome = try db.withWriteTransaction(waitingUpTo: .defaultBusyTimeout) {
                    try runBatch(db, settlement, size)
                }
            }
        }
        return outcome
    }

    /// Runs a batch and records how far the step is, in the open transaction.
    private func runBatch(_ db: Database, _ settlement: Settlement, _ size: Int) throws -> BatchOutcome {
        let (manager, version) = (settlement.manager, settlement.version)
        let record = try place.state(of: manager, db).record(of: manager)
        // Another process has done it.
        guard let record, !record.settled.contains(version) else { return BatchOutcome(position: nil) }
        var position = record.positions[version] ?? StepPosition()
        var isDone = false
        let start = ContinuousClock.now
        try TransactionWatch().keepOpen(db, orThrow: place.stepEndedTransaction) {
            isDone = try batches.runNext(db, &position, size: size)
        }
        let duration = ContinuousClock.now - start
        try place.update(manager, db) { stored in
            if isDone { return try settlement.record(in: &stored) }
            try stored.changeRecord(of: manager) { record in
                record?.positions[version] = position
                record?.attempts[MigrationRecord.Work(version)]?.restart()
            }
        }
        return BatchOutcome(position: isDone ? nil : position, duration: duration)
    }
}

/// A way to cut work into batches.
protocol StepBatches: Sendable {
    /// Runs the next batch in the open transaction, and moves the cursor behind it.
    ///
    /// - Returns: whether that was the last one.
    func runNext(_ db: Database, _ position: inout StepPosition, size: Int) throws -> Bool
}

/// Batches of the rows of a table, by their row ids.
struct RowBatches: StepBatches {
    let table: SQLName
    let body: @Sendable (Database, ClosedRange<Int64>) throws -> Void

    /// The rows that are left: those that there were when the step began.
    private struct Cursor: Codable {
        var next: Int64
        let last: Int64
    }

    func runNext(_ db: Database, _ position: inout StepPosition, size: Int) throws -> Bool {
        guard let cursor = try position.cursor(as: Cursor.self) ?? firstCursor(db, &position),
            let batch = try rows(from: cursor, size, db)
        else { return true }
        do {
            try body(db, batch.rows)
        } catch {
            let rows = batch.count == 1 ? "row \(batch.rows.lowerBound)" : "rows \(batch.rows)"
            throw BatchFailure("\(rows) of table \(table)", isDivisible: batch.count > 1, error)
        }
        let (next, isLast) = batch.rows.upperBound.addingReportingOverflow(1)
        try position.advance(to: Cursor(next: next, last: cursor.last), done: batch.count)
        return isLast || next > cursor.last
    }

    /// Counts apart from the ends: SQLite then looks at pages, and not at rows.
    private func firstCursor(_ db: Database, _ position: inout StepPosition) throws -> Cursor? {
        let bounds = try Row.fetchOne(
            db,
            sql: """
                SELECT (SELECT min(_rowid_) FROM \(table.inMain)), (SELECT max(_rowid_) FROM \(table.inMain)),
                    (SELECT count(*) FROM \(table.inMain))
                """)
        guard let bounds, let first: Int64 = bounds[0], let last: Int64 = bounds[1] else { return nil }
        position.total = bounds[2]
        return Cursor(next: first, last: last)
    }

    private func rows(
        from cursor: Cursor, _ size: Int, _ db: Database
    ) throws -> (rows: ClosedRange<Int64>, count: Int)? {
        // To skip rows takes an eighth of the time that it takes to count them.
        let full = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT (SELECT min(_rowid_) FROM \(table.inMain) WHERE _rowid_ >= ?1),
                        (SELECT _rowid_ FROM \(table.inMain) WHERE _rowid_ >= ?1 ORDER BY _rowid_ LIMIT 1 OFFSET ?2)
                    """), arguments: [cursor.next, size - 1])
        if let full, let first: Int64 = full[0], let last: Int64 = full[1], last <= cursor.last {
            return (first...last, size)
        }
        let rest = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT min(_rowid_), max(_rowid_), count(*) FROM \(table.inMain) WHERE _rowid_ BETWEEN ? AND ?
                    """), arguments: [cursor.next, cursor.last])
        guard let rest, let first: Int64 = rest[0], let last: Int64 = rest[1] else { return nil }
        return (first...last, rest[2])
    }
}

/// Batches of calls of a closure, which says itself where the next one begins.
struct CursorBatches<Cursor: Codable & Sendable>: StepBatches {
    let start: Cursor
    let body: @Sendable (Database, Cursor) throws -> DeferredCursor<Cursor>

    func runNext(_ db: Database, _ position: inout StepPosition, size: Int) throws -> Bool {
        var cursor = try position.cursor(as: Cursor.self) ?? start
        for call in 1...max(1, size) {
            do {
                guard case .more(let next) = try body(db, cursor) else { return true }
                cursor = next
            } catch {
                throw BatchFailure("the batch at \(cursor)", isDivisible: call > 1, error)
            }
        }
        try position.advance(to: cursor, done: max(1, size))
        return false
    }
}

/// Where a deferred step continues.
///
/// ```swift
/// manager.whenMigratingToVersion("2.1", deferredIn: dbQueue, startingAt: "") { db, lastName in
///     guard let name = try String.fetchOne(
///         db, sql: "SELECT name FROM tag WHERE name > ? ORDER BY name", arguments: [lastName])
///     else { return .done }
///     try db.execute(sql: "UPDATE tag SET folded = lower(name) WHERE name = ?", arguments: [name])
///     return .more(name)
/// }
/// ```
public enum DeferredCursor<Cursor: Sendable>: Sendable {
    /// There is more to do, from this cursor on.
    case more(Cursor)
    /// Everything is done.
    case done
}
