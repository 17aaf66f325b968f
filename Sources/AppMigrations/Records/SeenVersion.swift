package import Foundation

/// An app version that a store has seen, and when it saw it first.
package struct SeenVersion: Sendable, Hashable {
    package let version: AppVersion
    package let first: Date

    package init(version: AppVersion, first: Date) {
        self.version = version
        self.first = first
    }
}
