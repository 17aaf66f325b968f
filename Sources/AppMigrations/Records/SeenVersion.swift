package import Foundation

/// An app version that a store has seen, and when it saw it first.
package struct SeenVersion: Sendable, Hashable {
    package let version: AppVersion
    package let first: Date
    /// True if evidence named the version, and no launch: the install is then an old one, even at the current version.
    package let isAdopted: Bool

    package init(version: AppVersion, first: Date, isAdopted: Bool = false) {
        self.version = version
        self.first = first
        self.isAdopted = isAdopted
    }
}
