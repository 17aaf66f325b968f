public import Foundation

/// An error that lists the rules of `MigrationStore` that a store breaks.
public struct StoreConformanceError: Error, Sendable {
    /// The store's description of itself.
    public let store: String

    /// The broken rules: one sentence for each, which says how the store breaks it.
    public let violations: [String]
}

extension StoreConformanceError: CustomStringConvertible, LocalizedError {
    /// One line for each broken rule.
    public var description: String {
        (["\(store) does not keep the rules of a store:"] + violations.map { "- \($0)" })
            .joined(separator: "\n")
    }

    /// One line for each broken rule.
    public var errorDescription: String? { description }
}
