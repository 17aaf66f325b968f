import AppMigrations
import Foundation
import GRDB

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
        var cursor = try position.cursor(ofStepAs: Cursor.self) ?? start
        for call in 1...calls {
            let changes = db.totalChangesCount
            let result = try body.run(
                "the batch\(cursor.atNumber)", smallerSize: call > 1 ? call - 1 : nil, isRow: false, db
            ) {
                try self.body(db, cursor)
            }
            position.done += 1
            guard case .more(let next) = result else { return true }
            if db.totalChangesCount == changes { try checkAdvance(from: cursor, to: next) }
            cursor = next
            if body.isTimeOver { break }
        }
        try position.advance(to: cursor, done: 0)
        try checkReturn(of: cursor, from: position)
        return false
    }

    /// Throws if a call that has changed no row would be repeated as it was, for ever.
    private func checkAdvance(from cursor: Cursor, to next: Cursor) throws {
        let (next, cursor) = try (StepPosition.text(of: next), StepPosition.text(of: cursor))
        guard next.utf8.elementsEqual(cursor.utf8) else { return }
        throw MigrationError(
            .stepFailed, "the closure changed no row, and returned the cursor that it was given",
            remedy: "Return .more with the next cursor, or .done.")
    }

    /// Throws unless a cursor comes back from the record as it is.
    private func checkReturn(of cursor: Cursor, from position: StepPosition) throws {
        if let back = try position.cursor(as: Cursor.self) {
            let isEqual = (cursor as? any Equatable).map { $0.isEqual(to: back) }
            let (text, own) = try (StepPosition.text(of: back).utf8, StepPosition.text(of: cursor).utf8)
            // Sets, and dictionaries whose keys are no texts, come back in another order.
            let isSame = text.elementsEqual(own) || isEqual == true && text.sorted() == own.sorted()
            if isSame, isEqual != false { return }
        }
        throw MigrationError(
            .stepFailed, "the cursor, of type \(Cursor.self), changes when it is encoded and decoded",
            remedy: "Use a cursor that survives encoding, such as an integer or a string.")
    }

    func title(of rows: [[String]]) -> String { "" }
}

extension Decodable {
    /// Names a number as in ` at 5`; other cursors can hold values of rows, which no message quotes.
    fileprivate var atNumber: String { self is any FixedWidthInteger ? " at \(self)" : "" }
}

extension Equatable {
    fileprivate func isEqual(to other: Any) -> Bool { self == other as? Self }
}
