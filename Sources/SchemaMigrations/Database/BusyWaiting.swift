import Foundation
import GRDB

extension Duration {
    /// The longest time that stores and steps wait for another connection; migrations use the migrator's
    /// options.
    static let defaultBusyTimeout: Duration = .seconds(10)
}

/// Runs the body again, with short pauses, while another connection is in the way.
///
/// - Parameters:
///   - limit: the longest time to wait, after which the last error is thrown.
///   - interrupter: ends the waiting with a `CancellationError` once it is cancelled.
func waitWhileBusy<Value>(
    upTo limit: Duration, interrupter: Interrupter? = nil, _ body: () throws -> Value
) throws -> Value {
    let deadline = ContinuousClock.now + limit
    while true {
        do {
            return try body()
        } catch  where error.databaseError?.isBusy == true {
            guard ContinuousClock.now < deadline else { throw error }
            try interrupter?.check()
            // A random pause keeps several waiting connections from trying in step.
            Thread.sleep(forTimeInterval: .random(in: 0.002...0.015))
        }
    }
}

extension DatabaseError {
    /// Whether another connection caused the error, so that waiting may help.
    var isBusy: Bool {
        // SQLITE_SCHEMA: others have changed the schema again and again while a statement was compiled.
        [.SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL, .SQLITE_SCHEMA].contains(resultCode)
    }
}
