public import Foundation
import TextOutput

/// A random history of launches has come to a bad end.
public struct SimulatedHistoryError: Error, Sendable {
    /// The seed for which the history is the first one.
    public let seed: UInt64

    /// The shortest history that was found to fail: a line for each event.
    public let events: [String]

    /// What has happened to the device in that history.
    public let log: [String]

    /// What the app or the invariant has thrown in the end.
    public let underlyingError: any Error
}

extension SimulatedHistoryError: CustomStringConvertible, LocalizedError {
    /// What went wrong, the history, and how to play it again.
    public var description: String {
        func numbered(_ lines: [String]) -> [String] {
            lines.enumerated().map { "  \($0.offset + 1). \($0.element)" }
        }
        return
            (["A history of \(events.count.counting("event")) fails: \(underlyingError)"]
            + numbered(events) + ["What has happened:"] + numbered(log)
            + ["Play it again with histories(seed: \(seed), count: 1, …)."])
            .joined(separator: "\n")
    }

    /// What went wrong, the history, and how to play it again.
    public var errorDescription: String? { description }
}
