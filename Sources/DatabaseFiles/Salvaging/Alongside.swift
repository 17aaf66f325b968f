import AppMigrations
import Foundation

/// Runs a body, and other work on a thread of its own meanwhile, and waits for both.
///
/// If no thread has begun the work when the body ends, as where the system creates none, this one does it.
///
/// - Throws: the body's error, or else the work's. If the body throws, work that has not begun is left out.
func alongside<Value>(
    _ work: @escaping @Sendable () throws -> Void, _ body: () throws -> Value
) throws -> Value {
    let hasBegun = Locked(false)
    let outcome = Locked(Result<Void, any Error>.success(()))
    let end = DispatchSemaphore(value: 0)
    /// Returns true to the first one that asks.
    @Sendable func begin() -> Bool {
        hasBegun.withLock { hasBegun in
            defer { hasBegun = true }
            return !hasBegun
        }
    }
    onNewThread(Thread.current.qualityOfService) {
        guard begin() else { return }
        let result = Result { try work() }
        outcome.withLock { $0 = result }
        end.signal()
    }
    let result = Result { try body() }
    if begin() {
        let value = try result.get()
        try work()
        return value
    }
    // Nothing of it goes on when this returns, not even where the body has failed.
    end.wait()
    let value = try result.get()
    try outcome.withLock { $0 }.get()
    return value
}
