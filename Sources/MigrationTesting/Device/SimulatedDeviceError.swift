public import Foundation

/// A device's history is not what it should be.
public struct SimulatedDeviceError: Error, Sendable {
    /// What is wrong, in a sentence.
    public let message: String

    /// What has happened to the device.
    public let log: [String]

    /// What should have happened; nil where that was not said.
    public let expected: [String]?

    init(_ message: String, log: [String], expected: [String]? = nil) {
        self.message = message
        self.log = log
        self.expected = expected
    }
}

extension SimulatedDeviceError: CustomStringConvertible, LocalizedError {
    /// The message, and what has happened; an arrow points at the first line that is not as expected.
    public var description: String {
        var lines = [message]
        let other = expected.map { expected in
            (0..<max(log.count, expected.count)).first { index in
                index >= log.count || index >= expected.count || log[index] != expected[index]
            } ?? 0
        }
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

    /// The message, and what has happened.
    public var errorDescription: String? { description }
}
