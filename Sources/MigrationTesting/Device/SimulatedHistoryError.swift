public import Foundation
import TextOutput

/// An error that describes a random history of launches that failed.
public struct SimulatedHistoryError: Error, Sendable {
    /// The seed whose first history is this one.
    public let seed: UInt64

    /// The shortest failing history that was found: a line for each event.
    public let events: [String]

    /// The device's log of that history.
    public let log: [String]

    /// The error of the app or the invariant that ended the history.
    public let underlyingError: any Error
}

extension SimulatedHistoryError: CustomStringConvertible, LocalizedError {
    /// The failure, the history, and how to play it again.
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

    /// The failure, the history, and how to play it again.
    public var errorDescription: String? { description }
}
