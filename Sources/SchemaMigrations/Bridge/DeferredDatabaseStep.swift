import AppMigrations
import Foundation
public import GRDB

/// The body of a deferred step that works in one database, batch by batch.
struct DeferredDatabaseStep: BatchWork {
    let place: SQLiteStore
    let batches: any StepBatches

    func begin() throws -> StepPosition {
        try place.database.readSnapshot(waitingUpTo: .defaultBusyTimeout) { try batches.begin($0) }
    }

    func run(_ batch: Batch) throws -> BatchOutcome {
        // Waits outside the access to the database, so that the app can use its connection meanwhile.
        try waitWhileBusy(upTo: batch.patience) {
            var outcome = BatchOutcome.endedElsewhere
            try place.database.unsafeReentrantWrite { db in
                guard !db.isInsideTransaction else { throw SQLiteStore.insideTransaction(place.name) }
                try db.withDurableCommits(waitingUpTo: .zero) { outcome = try run(batch, db) }
            }
            return outcome
        }
    }

    /// Runs a batch and records how far the step is, in one transaction.
    private func run(_ batch: Batch, _ db: Database) throws -> BatchOutcome {
        let body = BatchBody(batch, orThrow: place.stepEndedTransaction)
        do {
            return try db.withWriteTransaction(waitingUpTo: .zero, committingWithin: Batch.limit) {
                try body.watch.observe(db) { try run(batch, body, db) }
            }
        } catch let error as DatabaseError where error.isBusy && !body.isRunning {
            throw error
        } catch {
            throw body.failure(error)
        }
    }

    private func run(_ batch: Batch, _ body: BatchBody, _ db: Database) throws -> BatchOutcome {
        let (manager, version) = (batch.settlement.manager, batch.settlement.version)
        let record = try place.state(of: manager, db).record(of: manager)
        guard let record, !record.hasSettled(version) else { return .endedElsewhere }
        var position = try record.position(of: version) ?? batches.begin(db)
        let start = ContinuousClock.now
        let isAtEnd = try batches.run(batch.part, &position, body, db)
        let duration = ContinuousClock.now - start
        let isDone = isAtEnd && position.setAside.isEmpty
        try place.update(manager, db) { stored in
            if isDone { return try batch.settlement.record(in: &stored) }
            try stored.changeRecord(of: manager) { record in
                record?.changeOpen(WorkID(version)) {
                    $0.position = position
                    $0.restart()
                }
            }
        }
        if isDone { return .done }
        // The other rows that are set aside come next.
        if case .retry = batch.part { return .more(position, duration) }
        return isAtEnd ? .rowsLeft(position, batches.title(of: position.setAside)) : .more(position, duration)
    }
}

/// The body of one batch, as it runs: in a transaction that it must not end, for a limited time.
final class BatchBody {
    let batch: Batch
    let watch = TransactionWatch()
    private let ended: () -> any Error
    private let interrupter: Interrupter
    private let untimed = Interrupter(observing: nil)
    private var current: (title: String, smallerSize: Int?, isRow: Bool)?
    private(set) var isRunning = false

    init(_ batch: Batch, orThrow ended: @autoclosure @escaping () -> any Error) {
        self.batch = batch
        self.ended = ended
        interrupter = Interrupter(
            observing: nil, until: batch.isTimed ? .now + Batch.limit : nil, orThrow: BatchTimeOver())
    }

    /// Calls the app's closure.
    ///
    /// - Parameters:
    ///   - title: the batch, as in `row 5 of table photo`.
    ///   - smallerSize: the size of a smaller batch to try after a failure; nil if this is the smallest one, which may take
    ///     as long as it needs.
    ///   - isRow: whether it is a row that can be set aside.
    func run<Result>(
        _ title: String, smallerSize: Int?, isRow: Bool, _ db: Database, _ body: () throws -> Result
    ) throws -> Result {
        current = (title, smallerSize, isRow)
        isRunning = true
        var result: Result?
        try (smallerSize == nil ? untimed : interrupter).allowInterrupts(of: db) {
            try watch.refuseEnd(of: db, orThrow: ended()) { result = try body() }
        }
        isRunning = false
        guard let result else { throw ended() }
        // Whatever the time was spent on: an interrupt stops statements only.
        if smallerSize != nil, batch.isTimed, ContinuousClock.now >= start + Batch.limit {
            throw BatchTimeOver()
        }
        return result
    }

    /// True if the time is over that a batch should take.
    var isTimeOver: Bool {
        batch.isTimed && ContinuousClock.now >= start + Batch.target
    }

    private let start = ContinuousClock.now

    /// Returns the failure of the batch that an error has caused, in the body or at the commit.
    func failure(_ error: any Error) -> any Error {
        guard let current else { return error }
        // No row is to blame for a statement that cannot be compiled.
        let isAboutRows = (error as? DatabaseError)?.isAboutStatement != true
        return BatchFailure(
            current.title, smallerSize: isAboutRows ? current.smallerSize : nil,
            isRow: isAboutRows && current.isRow, error)
    }
}

/// A way to cut work into batches.
protocol StepBatches: Sendable {
    /// Returns where the step begins.
    func begin(_ db: Database) throws -> StepPosition

    /// Runs a part in the open transaction, and moves the position behind it.
    ///
    /// - Returns: whether nothing is left, except what is set aside.
    func run(_ part: Batch.Part, _ position: inout StepPosition, _ body: BatchBody, _ db: Database) throws
        -> Bool

    /// Returns a title for rows that are set aside.
    func title(of rows: [[String]]) -> String
}

// MARK: Rows

/// The rows of one batch of a deferred step.
public struct DeferredRows: Sendable {
    /// The SQL condition that selects these rows, for the `WHERE` clause of a statement on their table.
    ///
    /// ```swift
    /// try db.execute(literal: "UPDATE photo SET hash = sha(data) WHERE hash IS NULL AND \(rows.condition)")
    /// ```
    ///
    /// It names the columns of the primary key together with the table, so the table must not have an alias.
    public let condition: SQL
}

/// Batches of the rows of a table, in the order of its primary key.
struct RowBatches: StepBatches {
    /// The longest time to count rows, which only the progress needs.
    private static let longestCount: Duration = .milliseconds(500)

    let table: SQLName
    let body: @Sendable (Database, DeferredRows) throws -> Void

    /// The rows that are left of those that there were at the start.
    private struct Rest: Codable {
        let key: [String]
        /// True if the rows are left whose key has a NULL.
        var hasNulls: Bool
        var range: TableKey.Range?

        var isEmpty: Bool { !hasNulls && range == nil }
    }

    /// Returns where the step begins; nowhere yet, if the table does not exist.
    ///
    /// A later release may have dropped it. That is the step's failure, and no reason to keep the app from launching.
    func begin(_ db: Database) throws -> StepPosition {
        guard let key = try TableKey(of: table, db) else { return StepPosition() }
        let rest = Rest(
            key: key.columns.map(\.text), hasNulls: try key.hasNulls(db), range: try key.fullRange(db))
        var position = StepPosition()
        try position.advance(to: rest, done: 0)
        let interrupter = Interrupter(
            observing: nil, until: SimulatedLaunch.limitsTime ? .now + Self.longestCount : nil,
            orThrow: BatchTimeOver())
        do {
            try interrupter.allowInterrupts(of: db) { position.total = try key.count("1", db) }
        } catch is BatchTimeOver {
            position.total = rest.range?.estimatedCount
        }
        return position
    }

    func run(_ part: Batch.Part, _ position: inout StepPosition, _ body: BatchBody, _ db: Database) throws
        -> Bool
    {
        guard let key = try TableKey(of: table, db) else {
            throw MigrationError(
                .stepFailed, "there is no table \(table)",
                remedy: "Name the table as it is once `migrate()` has returned.")
        }
        var known = try position.cursor(as: Rest.self)
        if known == nil {
            position = try begin(db)
            known = try position.cursor(as: Rest.self)
        }
        guard var rest = known else { return true }
        guard key.columns == rest.key.map({ SQLName($0) }) else { throw keyChanged(key, from: rest.key) }
        let isAside = part == .setAside
        switch part {
        case .retry(let index):
            guard position.setAside.indices.contains(index) else { return false }
            guard let row = RowKey(literals: position.setAside[index]) else {
                throw keyChanged(key, from: rest.key)
            }
            let condition = key.condition(row)
            let count = try key.count(condition, db)
            if count > 0 {
                try run(condition, title(of: [row.literals]), smallerSize: nil, body, db)
            }
            position.setAside.remove(at: index)
            position.done += count
        case .next, .setAside:
            var size = 1
            if case .next(let most) = part { size = max(1, most) }
            let next = try next(size, &rest, key, db)
            if let next, isAside {
                position.setAside.append(next.last.literals)
            } else if let next {
                let title =
                    next.count == 1
                    ? title(of: [next.last.literals])
                    : "\(next.count) rows of table \(table) up to \(next.last)"
                // Rows without an order cannot be halved.
                let smaller = next.count > 1 && !next.last.hasNull ? next.count / 2 : nil
                try run(next.condition, title, smallerSize: smaller, body, db)
            }
            try position.advance(to: rest, done: isAside ? 0 : next?.count ?? 0)
        }
        return rest.isEmpty
    }

    private func run(
        _ condition: SQL, _ title: String, smallerSize: Int?, _ body: BatchBody, _ db: Database
    ) throws {
        try body.run(title, smallerSize: smallerSize, isRow: true, db) {
            try self.body(db, DeferredRows(condition: condition))
        }
    }

    /// Takes the next rows off the rest; nil if there are none.
    private func next(
        _ size: Int, _ rest: inout Rest, _ key: TableKey, _ db: Database
    ) throws -> (condition: SQL, count: Int, last: RowKey)? {
        if rest.hasNulls {
            rest.hasNulls = false
            let nulls = RowKey(values: key.columns.map { _ in .null })
            let condition = key.condition(nulls)
            let count = try key.count(condition, db)
            if count > 0 { return (condition, count, nulls) }
        }
        guard let range = rest.range else { return nil }
        if let last = try key.lastKey(ofBatch: size, in: range, db) {
            rest.range = range.rest(after: last)
            return (key.condition(range.part(upTo: last)), size, last)
        }
        rest.range = nil
        let condition = key.condition(range)
        let count = try key.count(condition, db)
        guard count > 0, let last = try key.lastKey(ofBatch: count, in: range, db) else { return nil }
        return (condition, count, last)
    }

    func title(of rows: [[String]]) -> String {
        let keys = rows.prefix(3).map(StepPosition.description(ofKey:)).joined(separator: ", ")
        return switch rows.count {
        case 1: "row \(keys) of table \(table)"
        case 2, 3: "rows \(keys) of table \(table)"
        default: "\(rows.count) rows of table \(table): \(keys) …"
        }
    }

    private func keyChanged(_ key: TableKey, from old: [String]) -> MigrationError {
        let names = key.columns.map(\.text).joined(separator: ", ")
        let was = ", and was (\(old.joined(separator: ", "))) when the step began"
        return MigrationError(
            .stepFailed, "the primary key of table \(table) is (\(names))\(was)",
            remedy: "Start the step over with rerun(_:), or restore the key.")
    }
}

extension TableKey.Range {
    /// The rows up to and including a key.
    fileprivate func part(upTo key: RowKey) -> Self {
        Self(lower: lower, isLowerDone: isLowerDone, upper: key)
    }

    /// The rows behind a key; nil at the end.
    fileprivate func rest(after key: RowKey) -> Self? {
        key == upper ? nil : Self(lower: key, isLowerDone: true, upper: upper)
    }

    /// The number of rows, if integers number them without gaps; nil for other keys.
    fileprivate var estimatedCount: Int? {
        guard case .integer(let first) = lower.values.first, case .integer(let last) = upper.values.first,
            lower.values.count == 1
        else { return nil }
        let (count, overflows) = last.subtractingReportingOverflow(first)
        return overflows ? nil : Int(clamping: count)
    }
}

// MARK: Cursors

/// Batches of calls of a closure, which says itself where the next one begins.
struct CursorBatches<Cursor: Codable & Sendable>: StepBatches {
    let start: Cursor
    let body: @Sendable (Database, Cursor) throws -> DeferredCursor<Cursor>

    func begin(_ db: Database) throws -> StepPosition { StepPosition() }

    func run(_ part: Batch.Part, _ position: inout StepPosition, _ body: BatchBody, _ db: Database) throws
        -> Bool
    {
        var calls = 1
        if case .next(let most) = part { calls = max(1, most) }
        var cursor = try position.cursor(as: Cursor.self) ?? start
        for call in 1...calls {
            let result = try body.run(
                "the batch at \(cursor)", smallerSize: call > 1 ? call - 1 : nil, isRow: false, db
            ) {
                try self.body(db, cursor)
            }
            position.done += 1
            guard case .more(let next) = result else { return true }
            cursor = next
            if body.isTimeOver { break }
        }
        try position.advance(to: cursor, done: 0)
        try checkReturn(of: cursor, from: position)
        return false
    }

    /// Throws unless a cursor comes back from the record as it is.
    private func checkReturn(of cursor: Cursor, from position: StepPosition) throws {
        if let back = try position.cursor(as: Cursor.self) {
            let isSame = (cursor as? any Equatable).map { $0.isEqual(to: back) } ?? true
            if isSame, try StepPosition.text(of: back) == StepPosition.text(of: cursor) { return }
        }
        throw MigrationError(
            .stepFailed, "the cursor \(cursor) changes when it is encoded and decoded",
            remedy: "Use a cursor that comes back as it was, such as an integer or a text.")
    }

    func title(of rows: [[String]]) -> String { "" }
}

extension Equatable {
    fileprivate func isEqual(to other: Any) -> Bool { self == other as? Self }
}

/// Where a deferred step continues.
///
/// ```swift
/// manager.whenMigratingToVersion("2.1", deferredIn: dbQueue, startingAt: 0) { db, page in
///     let notes = try importPage(page, into: db)
///     return notes.isEmpty ? .done : .more(page + 1)
/// }
/// ```
public enum DeferredCursor<Cursor: Sendable>: Sendable {
    /// There is more to do, from this cursor on.
    case more(Cursor)
    /// Everything is done.
    case done
}
