import SmallWorlds

/// The pairs of features that devices of the fleet have together.
enum FleetPairs {
    /// Why no device has a feature, or a pair of them.
    static let reasons: [Set<Feature>: String] = [
        [.laterBuild]: "small worlds have it", [.imports]: "small worlds have it",
    ]

    /// The pairs that no device of these seeds has, and that have no reason.
    static func missing(seeds: Range<UInt64>) -> [String] {
        var pairs = FeaturePairs()
        for seed in seeds {
            let (app, events) = FleetTest.device(seed: seed)
            pairs.count(app.features(in: events))
        }
        return pairs.missing(except: reasons).map { pair in
            pair.map(\.rawValue).joined(separator: " with ")
        }
    }
}

extension FleetApp {
    /// The features that the app has, in the builds that are launched in a history.
    func features(in events: [FleetEvent]) -> Set<Feature> {
        let launches = events.compactMap { event in
            if case .launch(let launch) = event { launch } else { nil }
        }
        var features: Set<Feature> = storage == .storeInDatabase ? [.storeInDatabase] : []
        if launches.contains(where: { $0.waits == true }) { features.insert(.waits) }
        if launches.contains(where: { $0.through != nil }) { features.insert(.through) }
        for build in Set(launches.map(\.build) + launches.compactMap(\.outrunBy)) {
            for manager in managers(in: build) {
                features.formUnion(self.features(of: manager, in: build))
            }
        }
        return features
    }

    private func features(of manager: Int, in build: Int) -> Set<Feature> {
        var features: Set<Feature> = [baselines[manager].feature]
        if manager > 0 { features.insert(.secondManager) }
        if lines[manager] != lines[0] { features.insert(.line) }
        if hasVersionChange(manager, in: build) { features.insert(.versionChange) }
        for step in steps(of: manager, in: build) {
            features.formUnion(step.features)
            if step.since > Self.firstBuild(of: step.rank / 100) { features.insert(.insertedLater) }
        }
        for move in moves(of: manager, in: build) {
            let isRebuild = schema.contains {
                $0.home == move.home && $0.isRebuild && move.numbers.contains($0.number)
            }
            features.insert(isRebuild ? .rebuildingMove : .move)
            if move.home == .archive { features.insert(.secondDatabase) }
            if !finishes(moveOf: move.rank, of: manager, in: build).isEmpty { features.insert(.finishing) }
        }
        return features
    }
}

extension FleetApp.Step {
    fileprivate var features: Set<Feature> {
        var features: Set<Feature> =
            switch batches {
            case nil: [isInDatabase ? .step : .closure]
            case .rows: [.deferredRows]
            case .cursor: [.deferredCursor]
            case .closure: [.deferredClosure]
            }
        switch onFreshInstall {
        case .skip: break
        case .run: features.insert(.runsOnFreshInstall)
        case .only: features.insert(.onlyOnFreshInstall)
        }
        if !finishes.isEmpty { features.insert(.finishing) }
        if isBestEffort { features.insert(.givesUp) }
        if enforcesKeys { features.insert(.enforcedForeignKeys) }
        return features
    }
}

extension FleetApp.Baseline {
    fileprivate var feature: Feature {
        switch self {
        case .newApp: .newApp
        case .version: .adoptsByClosure
        case .databaseHasTables: .adoptsByTables
        case .fileExists: .adoptsByFile
        }
    }
}
