import AppMigrations
import Foundation
import GRDB
import SchemaMigrations

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

    /// Runs checks, which fail because of the body, whatever its rows are.
    func blamingNoRow(_ check: () throws -> Void) throws {
        do {
            try check()
        } catch {
            current = nil
            throw error
        }
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
        return UndoneBatch(
            current.title, smallerSize: isAboutRows ? current.smallerSize : nil,
            isRow: isAboutRows && current.isRow, error)
    }
}

extension StepPosition {
    /// Decodes the cursor; nil before the first batch.
    ///
    /// - Throws: ``MigrationError``, when an earlier release of the app has left a cursor of another type.
    func cursor<Cursor: Decodable>(ofStepAs type: Cursor.Type) throws -> Cursor? {
        do {
            return try cursor(as: type)
        } catch let error as DecodingError {
            throw MigrationError(
                .stepFailed, "an earlier version of the app has left it at a cursor of another type",
                remedy: "Start the step over with rerun(_:), or restore the type of its cursor.",
                underlyingError: error)
        }
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

    /// Returns true if there are rows for which the step has to run again.
    func isNeededAgain(_ db: Database) throws -> Bool

    /// Returns a title for rows that are set aside.
    func title(of rows: [[String]]) -> String
}

extension StepBatches {
    func isNeededAgain(_ db: Database) -> Bool { false }
}
