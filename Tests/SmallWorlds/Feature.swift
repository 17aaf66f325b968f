/// A kind of work, or an option, that an app can ask for: the unit in which coverage by pairs is counted.
package enum Feature: String, CaseIterable, Comparable, Sendable {
    // Kinds of work.
    case closure
    case step = "in:"
    case move = "schema step"
    case rebuildingMove = "schema step that rebuilds a parent"
    case deferredRows = "deferred rows"
    case deferredCursor = "deferred cursor"
    case deferredClosure = "deferred closure"
    case versionChange = "whenVersionChanges"
    // Options of a step.
    case finishing
    case runsOnFreshInstall = "onFreshInstall: .run"
    case onlyOnFreshInstall = "onFreshInstall: .only"
    case enforcedForeignKeys = "foreignKeys: .immediate"
    case insertedLater = "inserted by a later release"
    case laterBuild = "brought by a later build of a release"
    case imports = "an import into a new database"
    // What an app says of an install without a record.
    case newApp = "adopting: .newApp"
    case adoptsByTables = "adopting: .databaseHasTables"
    case adoptsByFile = "adopting: .fileExists"
    case adoptsByClosure = "adopting: closure"
    case adoptsByKey = "adopting: .mfMigrationManager"
    case adoptsByAny = "adopting: .any"
    // Options of a manager, and of a launch.
    case line
    case waits = "role: .waitsForApp"
    case through = "migrate(through:)"
    // Where things are.
    case secondManager = "two managers"
    case secondDatabase = "two databases"
    case storeInDatabase = "SQLiteStore"

    package static func < (one: Feature, other: Feature) -> Bool {
        (allCases.firstIndex(of: one) ?? 0) < (allCases.firstIndex(of: other) ?? 0)
    }
}

/// The pairs of features that apps have together.
package struct FeaturePairs: Sendable {
    private var counts: [Set<Feature>: Int] = [:]

    package init() {}

    /// Counts an app that has these features.
    package mutating func count(_ features: Set<Feature>) {
        let features = features.sorted()
        for (index, one) in features.enumerated() {
            for other in features[(index + 1)...] { counts[[one, other], default: 0] += 1 }
        }
    }

    /// Adds the counts of other apps.
    package mutating func add(_ other: FeaturePairs) { counts.merge(other.counts, uniquingKeysWith: +) }

    /// The pairs that no app had, each in order, without those that have a reason to be missing.
    ///
    /// - Parameter reasons: for a feature, or for a pair, why no app has it.
    package func missing(except reasons: [Set<Feature>: String] = [:]) -> [[Feature]] {
        var missing: [[Feature]] = []
        for (index, one) in Feature.allCases.enumerated() {
            for other in Feature.allCases[(index + 1)...] {
                let pair: Set = [one, other]
                let isExcused = reasons[pair] != nil || reasons[[one]] != nil || reasons[[other]] != nil
                if counts[pair] == nil, !isExcused { missing.append([one, other]) }
            }
        }
        return missing
    }
}
