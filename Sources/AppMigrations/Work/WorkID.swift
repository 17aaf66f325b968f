/// Names a piece of work among all of one manager in one place.
package struct WorkID: Sendable, Hashable {
    package enum Kind: String, Sendable, Codable, CaseIterable {
        case step
        case schemaStep = "schema step"
        case versionChange = "version change"

        /// Where the kind stands among sorted work.
        fileprivate var rank: Int {
            switch self {
            case .step: 0
            case .schemaStep: 1
            case .versionChange: 2
            }
        }
    }

    package let kind: Kind
    package let version: AppVersion

    package init(_ version: AppVersion, _ kind: Kind = .step) {
        self.kind = kind
        self.version = version
    }
}

extension WorkID {
    /// The version that the app has given; nil for a schema step without one.
    var givenVersion: AppVersion? { version == .zero ? nil : version }

    /// The work in words, as in `schema step 2.0`; without a version where none was given.
    var title: String { givenVersion.map { "\(kind.rawValue) \($0)" } ?? kind.rawValue }

    /// Hashes the version alone: few versions have work of two kinds in one place.
    package func hash(into hasher: inout Hasher) { hasher.combine(version) }
}

extension WorkID: Comparable {
    package static func < (one: WorkID, other: WorkID) -> Bool {
        one.kind == other.kind ? one.version < other.version : one.kind.rank < other.kind.rank
    }
}
