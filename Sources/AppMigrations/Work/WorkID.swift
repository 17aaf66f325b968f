/// Names a piece of work among all of one manager in one place.
package struct WorkID: Sendable, Hashable {
    package enum Kind: String, Sendable, CaseIterable {
        case step
        case schemaStep = "schema step"
        case versionChange = "version change"
    }

    package let kind: Kind
    package let version: AppVersion

    package init(_ version: AppVersion, _ kind: Kind = .step) {
        self.kind = kind
        self.version = version
    }
}
