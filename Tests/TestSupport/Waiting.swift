import Foundation

/// Waits until something is so.
///
/// The limit decides nothing but when to give up on a test that would hang.
public func waitUntil(
    _ what: String, atMost limit: Duration = .seconds(600), _ condition: () throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + limit
    while try !condition() {
        guard ContinuousClock.now < deadline else { throw NeverHappened(description: what) }
        try await Task.sleep(for: .milliseconds(2))
    }
}

private struct NeverHappened: Error, CustomStringConvertible {
    let description: String
}
