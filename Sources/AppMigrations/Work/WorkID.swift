/// Names a piece of work among all of one manager in one place.
package struct WorkID: Sendable, Hashable {
    package enum Kind: String, Sendable, Codable, CaseIterable {
        case step
        /// A step outside databases, where the store is in one: the version can have a step in that database, too.
        case closure
        case schemaStep = "schema step"
        case versionChange = "version change"

        /// Where the kind stands among sorted work.
        fileprivate var rank: Int {
            switch self {
            case .step: 0
            case .closure: 1
            case .schemaStep: 2
            case .versionChange: 3
            }
        }

        /// The kind as people know it: they see where a step works by the database's name.
        var forPeople: Kind { self == .closure ? .step : self }
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
    @inline(never)
    var title: String {
        let kind = kind.forPeople.rawValue
        return givenVersion.map { "\(kind) \($0)" } ?? kind
    }

    /// True for a step, in a database or not.
    package var isStep: Bool { kind.forPeople == .step }

    /// The step of the same version in the database that is the store, or outside it; nil for other work.
    package var counterpart: WorkID? { isStep ? WorkID(version, kind == .step ? .closure : .step) : nil }

    /// Hashes the version alone: few versions have work of two kinds in one place.
    @inline(never)
    package func hash(into hasher: inout Hasher) { hasher.combine(version) }
}

extension WorkID: Comparable {
    package static func < (one: WorkID, other: WorkID) -> Bool {
        one.kind == other.kind ? one.version < other.version : one.kind.rank < other.kind.rank
    }
}
