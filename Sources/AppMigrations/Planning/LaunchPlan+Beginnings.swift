extension LaunchPlan {
    /// Determines where the manager begins in places without a record, and plans.
    ///
    /// - Parameters:
    ///   - states: the states of the places, the store's first.
    ///   - steps: the steps of these places.
    ///   - answer: the app's answer about data without a record; nil until it has been asked.
    ///   - ask: asks the app, if its answer is needed.
    convenience init(
        _ request: LaunchRequest, _ states: [PlaceState], of steps: [PlaceSteps],
        deadlines: [AppVersion: AppVersion], answer: inout AdoptionAnswer?,
        asking ask: (LaunchRequest) throws -> AdoptionAnswer
    ) throws {
        var places: [PlacePlan] = []
        for (index, state) in states.enumerated() {
            let store = places.first
            guard state.record == nil else {
                places.append(try PlacePlan(request, steps[index], state, nil, store: store))
                continue
            }
            let name = steps[index].name
            let found = zip(steps, states).dropFirst().count {
                $0.name == name && $1.record?.completed != nil
            }
            // Of the databases with this name, one has no record any more.
            let isKnown = store?.record?.databases[name].map { $0 > found } ?? false
            func beginning() throws -> Beginning {
                let beginnings = Beginnings(
                    request: request, places: states, steps: steps.map(\.closures), answer: answer)
                let found =
                    store.map { beginnings.inDatabase(index, $0.launch, $0.record, isKnown: isKnown) }
                    ?? beginnings.inStore()
                switch found {
                case .askTheApp:
                    answer = try ask(request)
                    return try beginning()
                case .undecided(let culprit):
                    throw MigrationError.undecided(steps[culprit], states[culprit].evidence, request)
                case .unknown(let culprit, let unknown):
                    throw MigrationError.lostRecord(steps[culprit], unknown, request)
                default: return found
                }
            }
            places.append(
                try PlacePlan(
                    request, steps[index], state, try beginning(), store: store, isKnown: isKnown))
        }
        self.init(request, places, deadlines: deadlines)
    }
}
