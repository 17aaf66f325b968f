public import Foundation

/// An error that says how a device's history differs from the expected one.
public struct SimulatedDeviceError: Error, Sendable {
    /// The problem, in a sentence.
    public let message: String

    /// The device's log.
    public let log: [String]

    /// The expected log; nil if the test gave none.
    public let expected: [String]?

    init(_ message: String, log: [String], expected: [String]? = nil) {
        self.message = message
        self.log = log
        self.expected = expected
    }
}

extension SimulatedDeviceError: CustomStringConvertible, LocalizedError {
    /// The message and the log, with an arrow at the first line that differs from the expected log.
    public var description: String {
        var lines = [message]
        let other = expected.map { zip(log, $0).prefix { $0 == $1 }.count }
        func add(_ title: String, _ history: [String]) {
            lines.append(title)
            if history.isEmpty { lines.append("  nothing") }
            lines += history.enumerated().map {
                "\($0.offset == other ? "→" : " ") \($0.offset + 1). \($0.element)"
            }
        }
        if let expected { add("Expected:", expected) }
        add(expected == nil ? "What has happened:" : "Found:", log)
        return lines.joined(separator: "\n")
    }

    /// The message and the log.
    public var errorDescription: String? { description }
}
