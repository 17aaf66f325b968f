public import Foundation

/// Why a fixture could not be made, and what to do about it.
public struct FixtureError: Error, Sendable {
    /// The culprit and the cause.
    public let message: String

    /// What to do about it, in a sentence.
    public let remedy: String

    /// The error that caused this one.
    public let underlyingError: (any Error)?

    init(_ message: String, remedy: String, underlyingError: (any Error)? = nil) {
        self.message = message
        self.remedy = remedy
        self.underlyingError = underlyingError
    }
}

extension FixtureError: CustomStringConvertible, LocalizedError {
    /// The message and the remedy.
    public var description: String { "\(message) \(remedy)" }

    /// The message and the remedy.
    public var errorDescription: String? { description }
}
