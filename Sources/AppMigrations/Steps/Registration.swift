/// Everything that an app has registered with a manager.
struct Registration {
    let manager: String
    let current: AppVersion
    let storePlace: StorePlace
    let aboveCurrent: MigrationOptions.AboveCurrentRule
    private(set) var steps: [MigrationStep] = []
    private(set) var versionChanges: [VersionChange] = []
    /// Whether there are only closures in the store, each above the one before it: then there is nothing to review.
    private var isPlain = true
    /// Whether a step may need the asynchronous form of `migrate`.
    private var hasAsynchronousSteps = false

    init(
        manager: String, current: AppVersion, storePlace: StorePlace,
        aboveCurrent: MigrationOptions.AboveCurrentRule
    ) {
        self.manager = manager
        self.current = current
        self.storePlace = storePlace
        self.aboveCurrent = aboveCurrent
    }

    // What a launch would have to ask every step, it asks once, here.
    mutating func add(_ step: MigrationStep) {
        step.number = steps.count
        isPlain =
            isPlain && !step.worksInDatabase && step.finishing.isEmpty
            && steps.last.map { $0.version < step.version } ?? true
        hasAsynchronousSteps = hasAsynchronousSteps || step.isAsynchronous || step.isDeferredClosure
        steps.append(step)
    }

    mutating func add(_ change: VersionChange) { versionChanges.append(change) }

    /// The version of the next step for fresh installs: below every version of an app.
    var nextFreshInstallVersion: AppVersion {
        .freshInstall(UInt64(steps.count(where: \.isForFreshInstalls)) + 1)
    }

    /// The steps up to the current version: a place of others alone need not even exist yet.
    private var dueSteps: [MigrationStep] {
        let ceiling = current.ceiling
        return steps.filter { $0.version <= ceiling }
    }

    /// The places of the steps that are due, the store's first.
    var places: [any MigrationPlace] { places(of: dueSteps) }

    private func places(of steps: [MigrationStep]) -> [any MigrationPlace] {
        var places: [any MigrationPlace] = [storePlace]
        for place in steps.lazy.filter(\.worksInDatabase).map(\.place) {
            if let index = places.firstIndex(where: { $0.id == place.id }) {
                // A database that is the store as well is one place, and knows more than the store alone.
                if places[index] is StorePlace { places[index] = place }
            } else {
                places.append(place)
            }
        }
        return places
    }

    /// The steps that are due, place by place, the store's first.
    ///
    /// - Throws: ``MigrationError`` with the code `invalidRegistration`, which names every mistake.
    func checked() throws -> [PlaceSteps] {
        // As in nearly every launch.
        if isPlain, steps.last.map({ $0.version <= current.ceiling }) ?? true {
            return [PlaceSteps(place: storePlace, moves: [], closures: steps)]
        }
        let mistakes = try RegistrationReview(self, places(of: steps)).mistakes
        guard mistakes.isEmpty else { throw MigrationError(mistakes, manager: manager) }
        let due = dueSteps
        let places = places(of: due)
        return places.map { place in
            let here = places.count == 1 ? due : due.filter { $0.place.id == place.id }
            return PlaceSteps(
                place: place, moves: here.filter(\.isMove),
                // Those for fresh installs may be registered in any place.
                closures: here.filter { !$0.isMove }.sorted { $0.runsBefore($1) })
        }
    }

    /// The first step that the synchronous `migrate` cannot run.
    var firstAsynchronousStep: MigrationStep? {
        guard hasAsynchronousSteps else { return nil }
        let finished = Set(steps.flatMap(\.finishing))
        return steps.first { step in
            step.isAsynchronous || step.isDeferredClosure && finished.contains(step.version)
        }
    }
}

/// A closure that runs once for each change of the app's version.
enum VersionChange {
    case blocking((_ from: AppVersion, _ to: AppVersion) throws -> Void)
    case asynchronous(AsynchronousBody)

    typealias AsynchronousBody =
        nonisolated(nonsending) (_ from: AppVersion, _ to: AppVersion) async throws -> Void

    var isAsynchronous: Bool {
        if case .asynchronous = self { true } else { false }
    }
}

extension AppVersion {
    /// The version of a step for fresh installs, by its number.
    fileprivate static func freshInstall(_ number: UInt64) -> AppVersion {
        AppVersion(description: "0-\(number)", packedNumbers: .zero, suffix: .subMigration(number))
    }
}

/// The steps of one place that are due.
struct PlaceSteps {
    let place: any MigrationPlace
    /// The moves, ascending.
    let moves: [MigrationStep]
    /// All other steps, ascending.
    let closures: [MigrationStep]
}

extension [PlaceSteps] {
    /// Reads every place.
    ///
    /// The closure does input and output, on any thread.
    func look(for manager: String) -> @Sendable () throws -> [PlaceState] {
        let looks = map { steps in
            (place: steps.place, moves: steps.moves.compactMap(\.move))
        }
        return { try looks.map { try $0.place.look(manager: manager, moves: $0.moves) } }
    }
}
