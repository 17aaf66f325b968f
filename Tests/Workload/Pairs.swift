import ArgumentParser
import SmallWorlds

/// Counts the pairs of features that scenarios have, and prints those that none has.
struct Pairs: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "pairs")

    @Argument var scenarios: [Scenario]

    func run() {
        var pairs = FeaturePairs()
        for scenario in scenarios { pairs.count(scenario.features) }
        for pair in pairs.missing(except: Self.reasons) {
            print("no scenario has \(pair.map(\.rawValue).joined(separator: " with "))")
        }
        print("tried \(scenarios.count) of \(scenarios.count)")
    }

    /// Why no scenario has a feature, or a pair of them.
    static let reasons: [Set<Feature>: String] = {
        var reasons: [Set<Feature>: String] = [
            [.line]: "A line only says which versions are compared, which the fleet tries.",
            [.laterBuild]: "A build only says which versions are compared, which the fleet tries.",
            [.adoptsByKey]:
                "An exact answer is one, wherever it comes from; the small worlds ask for each kind.",
            [.adoptsByAny]:
                "What an app says is decided before anything is written; the small worlds join it.",
            [.imports]: "What the app writes into a new database is its own; the fleet has such apps.",
            [.secondDatabase]:
                "Each file multiplies the calls at which launches are disturbed; the fleet has two databases.",
            [.newApp, .adoptsByFile]: "A scenario is one install, and both managers know it as old.",
            [.newApp, .adoptsByClosure]: "A scenario is one install, and both managers know it as old.",
            [.newApp, .adoptsByTables]: "A scenario is one install, and both managers know it as old.",
            [.newApp, .secondManager]: "The second manager takes the app for an old one that had none.",
            [.adoptsByFile, .adoptsByClosure]: "There are two managers, and one of them has the tables.",
            [.adoptsByFile, .storeInDatabase]: "Where the store is does not matter before there is a record.",
            [.adoptsByClosure, .through]: "The second manager, which alone has the closure, has one step.",
        ]
        let laterWork: [Feature] = [
            .deferredRows, .deferredCursor, .deferredClosure, .finishing, .insertedLater,
        ]
        for feature in laterWork {
            for adoption in [Feature.adoptsByTables, .adoptsByFile, .adoptsByClosure] {
                reasons[[feature, adoption]] =
                    "Deferred work comes in 2.1, when there has long been a record."
            }
            reasons[[feature, .secondManager]] = "The second manager has no part in what comes after 2.0."
        }
        return reasons
    }()
}

extension Scenario {
    /// The features that a launch has: what it registers, and how it is called.
    var features: Set<Feature> {
        var features: Set<Feature> = [.versionChange, .waits]
        for step in Plan.steps where step.version <= version && step.since.map({ $0 <= version }) ?? true {
            features.formUnion(step.features)
        }
        if stop != nil { features.insert(.through) }
        if store == .sqlite { features.insert(.storeInDatabase) }
        if managers == .two { features.insert(.secondManager) }
        switch (start, managers, journal) {
        case (.unrecorded, _, .wal): features.formUnion([.adoptsByFile, .adoptsByTables])
        case (.unrecorded, _, .rollback): features.formUnion([.adoptsByTables, .adoptsByClosure])
        case (_, .two, _): features.insert(.adoptsByTables)
        case (_, .one, _): features.insert(.newApp)
        }
        return features
    }
}

extension Plan.Step {
    fileprivate var features: Set<Feature> {
        var features: Set<Feature> =
            switch work {
            case .closure: [.closure]
            case .inside: [.step, .runsOnFreshInstall]
            case .move(let target): Schema.rebuilds.contains { $0 <= target } ? [.rebuildingMove] : [.move]
            case .deferred where version == Deferral.rows: [.deferredRows]
            case .deferred where version == Deferral.calls: [.deferredCursor]
            case .deferred: [.deferredClosure]
            }
        if !finishing.isEmpty { features.insert(.finishing) }
        if isForFreshInstall { features.insert(.onlyOnFreshInstall) }
        if enforcesKeys { features.insert(.enforcedForeignKeys) }
        if since != nil { features.insert(.insertedLater) }
        return features
    }
}
