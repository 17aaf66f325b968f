import AppMigrations
import Foundation
import GRDB
import SchemaMigrations

/// Batches of the rows of a table, in the order of its primary key.
struct RowBatches: StepBatches {
    /// The longest time to count rows, which only the progress needs.
    private static let longestCount: Duration = .milliseconds(500)
    /// The longest time within a batch, which keeps others from writing.
    private static let longestCountInBatch: Duration = .milliseconds(50)

    let table: SQLName
    /// The condition for rows that need the step; nil if all do.
    let condition: SQL?
    let body: @Sendable (Database, DeferredRows) throws -> Void
    /// False if counting takes as long as it takes.
    let limitsTime: Bool

    /// The rows that are left of those that there were at the start.
    private struct Rest: Codable {
        /// See ``TableKey/order``; the names alone in what an earlier version has written.
        var key: [String]
        /// True if the rows are left whose key has a NULL.
        var hasNulls: Bool
        var range: TableKey.Range?
        /// True if the rows are those that have come while the step was going through the others.
        var isSecondPass: Bool?

        var isEmpty: Bool { !hasNulls && range == nil }
    }

    /// Returns where the step begins; nowhere yet, if there is no such table, or none with a key and the columns that the
    /// condition names, or if the condition fails at a row.
    ///
    /// A later release may have replaced it. That is the step's failure, and no reason to keep the app from launching.
    func begin(_ db: Database) throws -> StepPosition {
        do {
            guard let key = try TableKey(of: table, where: condition, db) else { return StepPosition() }
            return try start(key, db, countingFor: Self.longestCount)
        } catch let error as MigrationError where error.code == .stepFailed {
            return StepPosition()
        } catch let error as DatabaseError where condition != nil && error.resultCode == .SQLITE_ERROR {
            return StepPosition()
        }
    }

    private func start(
        _ key: TableKey, _ db: Database, countingFor limit: Duration = Self.longestCountInBatch
    ) throws -> StepPosition {
        let rest = Rest(key: key.order, hasNulls: try key.hasNulls(db), range: try key.fullRange(db))
        var position = StepPosition()
        try position.advance(to: rest, done: 0)
        let interrupter = Interrupter(
            observing: nil, until: limitsTime ? .now + limit : nil,
            orThrow: BatchTimeOver())
        do {
            try interrupter.allowInterrupts(of: db) { position.total = try key.count(db) }
        } catch is BatchTimeOver {
            position.total = rest.range?.estimatedCount
        }
        return position
    }

    func run(_ part: Batch.Part, _ position: inout StepPosition, _ body: BatchBody, _ db: Database) throws
        -> Bool
    {
        guard let found = try TableKey(of: table, where: condition, db) else {
            throw MigrationError(
                .stepFailed, "there is no table \(table)",
                remedy: "Name the table as it is once `migrate()` has returned.")
        }
        var cursor = try position.cursor(ofStepAs: Rest.self)
        if cursor == nil {
            position = try start(found, db)
            cursor = try position.cursor(as: Rest.self)
        }
        guard var rest = cursor else { return true }
        guard let key = found.inOrder(rest.key) else { throw keyChanged(found, from: rest.key) }
        rest.key = key.order
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
                try run(condition, title(of: [row.literals]), smallerSize: nil, body, key, db)
            }
            position.setAside.remove(at: index)
            position.done += count
        case .next, .setAside:
            var size = 1
            if case .next(let most) = part { size = max(1, most) }
            let next = try next(size, &rest, others(than: position, key), db)
            if let next, isAside {
                position.setAside.append(next.last.literals)
            } else if let next {
                let title =
                    next.count == 1
                    ? title(of: [next.last.literals])
                    : "\(next.count) rows of table \(table)\(next.last.isNumber ? " up to \(next.last)" : "")"
                // Rows without an order cannot be halved.
                let smaller = next.count > 1 && !next.last.hasNull ? next.count / 2 : nil
                try run(next.condition, title, smallerSize: smaller, body, key, db)
            }
            try position.advance(to: rest, done: isAside ? 0 : next?.count ?? 0)
        }
        guard rest.isEmpty else { return false }
        return try !goOn(after: rest, with: &position, others(than: position, key), db)
    }

    /// Begins a second pass if rows need the step that have come since it began, from wherever.
    ///
    /// One in a run: what comes meanwhile is found by the next run, so that none goes on for ever.
    private func goOn(
        after rest: Rest, with position: inout StepPosition, _ key: TableKey, _ db: Database
    ) throws -> Bool {
        guard condition != nil else { return false }
        var next = rest
        let isSecondPass = try rest.isSecondPass != true && key.hasRows(db)
        if isSecondPass {
            let late = try start(key, db)
            next = try late.cursor(as: Rest.self) ?? rest
            position.total = late.total.map { position.done + $0 }
        }
        next.isSecondPass = isSecondPass
        try position.advance(to: next, done: 0)
        return isSecondPass
    }

    /// Returns the key for all rows but those that are set aside, which have a try of their own.
    private func others(than position: StepPosition, _ key: TableKey) -> TableKey {
        key.leavingOut(position.setAside.compactMap(RowKey.init(literals:)))
    }

    private func run(
        _ rows: SQL, _ title: String, smallerSize: Int?, _ body: BatchBody, _ key: TableKey, _ db: Database
    ) throws {
        try body.run(title, smallerSize: smallerSize, isRow: true, db) {
            try self.body(db, DeferredRows(condition: rows))
            guard condition != nil, try key.count(rows, db) > 0 else { return }
            throw MigrationError(
                .stepFailed, "the step has visited it, and its condition still holds",
                remedy:
                    "Let the step change what its condition asks for, or throw an error that says why it cannot."
            )
        }
    }

    func isNeededAgain(_ db: Database) throws -> Bool {
        guard condition != nil, let key = try TableKey(of: table, where: condition, db) else { return false }
        return try key.hasRows(db)
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

    /// Names the rows if their keys are numbers; other keys are values of rows, which no message quotes.
    func title(of rows: [[String]]) -> String {
        guard rows.allSatisfy({ RowKey(literals: $0)?.isNumber == true }) else {
            return "\(rows.count == 1 ? "a row" : "\(rows.count) rows") of table \(table)"
        }
        let keys = rows.prefix(3).map(StepPosition.description(ofKey:)).joined(separator: ", ")
        return switch rows.count {
        case 1: "row \(keys) of table \(table)"
        case 2, 3: "rows \(keys) of table \(table)"
        default: "\(rows.count) rows of table \(table): \(keys) …"
        }
    }

    private func keyChanged(_ key: TableKey, from old: [String]) -> MigrationError {
        let names = key.order.joined(separator: ", ")
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
        // Two texts that Swift takes for equal may be two keys.
        let isLast = key.literals.elementsEqual(upper.literals) { $0.utf8.elementsEqual($1.utf8) }
        return isLast ? nil : Self(lower: key, isLowerDone: true, upper: upper)
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
