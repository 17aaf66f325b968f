package import Foundation

/// An app version that a store has seen, and when it saw it first.
package struct SeenVersion: Sendable, Hashable {
    package let version: AppVersion
    package let first: Date
    /// Whether an answer or other evidence has named it, and no launch: then the install is old, whichever version it is.
    package let isAdopted: Bool

    package init(version: AppVersion, first: Date, isAdopted: Bool = false) {
        self.version = version
        self.first = first
        self.isAdopted = isAdopted
    }
}
