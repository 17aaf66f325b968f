public import Foundation

/// A store breaks rules of `MigrationStore`.
public struct StoreConformanceError: Error, Sendable {
    /// How the store calls itself.
    public let store: String

    /// The rules that are broken, and how: a sentence each.
    public let violations: [String]
}

extension StoreConformanceError: CustomStringConvertible, LocalizedError {
    /// A line for each rule that is broken.
    public var description: String {
        (["\(store) does not keep the rules of a store:"] + violations.map { "- \($0)" })
            .joined(separator: "\n")
    }

    /// A line for each rule that is broken.
    public var errorDescription: String? { description }
}
