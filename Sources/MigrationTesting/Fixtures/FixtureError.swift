public import Foundation
package import MigrationDiagnostics

/// An error that says why a fixture could not be made, and what to do about it.
public struct FixtureError: Error, Sendable {
    /// The problem and the remedy.
    package let diagnostic: Diagnostic

    /// The culprit and the cause, in a sentence.
    public var message: String { diagnostic.message }

    /// The remedy, in a sentence.
    public var remedy: String { diagnostic.remedy }

    /// The error that caused this one.
    public let underlyingError: (any Error)?

    init(_ problem: String, remedy: String, underlyingError: (any Error)? = nil) {
        diagnostic = Diagnostic(problem, remedy: remedy)
        self.underlyingError = underlyingError
    }
}

extension FixtureError: CustomStringConvertible, LocalizedError {
    /// The message and the remedy.
    public var description: String { diagnostic.description }

    /// The message and the remedy.
    public var errorDescription: String? { description }
}
