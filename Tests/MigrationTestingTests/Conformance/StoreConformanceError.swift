import Foundation

/// An error that lists the rules of `RecordStorage` that a store breaks.
struct StoreConformanceError: Error, Sendable {
    /// The store's description of itself.
    let store: String

    /// The broken rules: one sentence for each, which says how the store breaks it.
    let violations: [String]
}

extension StoreConformanceError: CustomStringConvertible, LocalizedError {
    /// One line for each broken rule.
    var description: String {
        (["\(store) does not keep the rules of a store:"] + violations.map { "- \($0)" })
            .joined(separator: "\n")
    }

    /// One line for each broken rule.
    var errorDescription: String? { description }
}
