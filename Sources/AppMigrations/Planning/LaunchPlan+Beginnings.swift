extension LaunchPlan {
    /// Determines where the manager begins in places without a record, and plans.
    ///
    /// - Parameters:
    ///   - needed: the steps that are done and needed again.
    ///   - answer: the app's answer about data without a record; nil until it has been asked.
    convenience init(
        _ request: LaunchRequest, _ states: [PlaceState], of steps: [PlaceSteps],
        again needed: [MigrationStep], deadlines: [AppVersion: AppVersion], answer: inout AdoptionAnswer?,
        asking ask: (LaunchRequest) throws -> AdoptionAnswer
    ) throws {
        var places: [PlacePlan] = []
        for (index, state) in states.enumerated() {
            let store = places.first
            guard state.record == nil else {
                places.append(
                    try PlacePlan(request, steps[index], state, nil, again: needed, store: store))
                continue
            }
            let isMadeAnew =
                store?.record.map { $0.isMadeAnew(state, at: steps[index].place.path, among: states) }
                ?? false
            func beginning() throws -> Beginning {
                let beginnings = Beginnings(
                    request: request, places: states, steps: steps.map(\.closures), answer: answer)
                let found =
                    store.map { beginnings.inDatabase(index, $0.launch, $0.record, isMadeAnew: isMadeAnew) }
                    ?? beginnings.inStore()
                switch found {
                case .askTheApp:
                    answer = try ask(request)
                    return try beginning()
                case .undecided(let culprit):
                    throw MigrationError.undecided(steps[culprit], states[culprit], request)
                case .unknown(let culprit, let unknown):
                    throw MigrationError.lostRecord(steps[culprit], unknown, request)
                default: return found
                }
            }
            let found = try beginning()
            places.append(
                try PlacePlan(
                    request, steps[index], state, found, again: needed, store: store,
                    isMadeAnew: isMadeAnew))
        }
        self.init(request, places, deadlines: deadlines)
    }
}

extension MigrationRecord {
    /// Returns true if the manager has worked in a database that has no record of it now, or in another one at its path that is
    /// in no other place.
    fileprivate func isMadeAnew(_ state: PlaceState, at path: String, among states: [PlaceState]) -> Bool {
        databases.contains { known in
            known.id == state.storeID
                || known.path == path && !states.contains { $0.storeID == known.id }
        }
    }
}
