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
