import Foundation

/// A value that is only ever touched by one thread at a time.
///
/// `Synchronization.Mutex` would do, but needs newer systems than this package supports, and the thread
/// sanitizer reports false races on it on Linux.
///
/// Sendable although unchecked: the value is private, and every access to it holds the lock.
package final class Locked<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    package init(_ value: sending Value) {
        self.value = value
    }

    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
