/// The steps of one place that are due.
struct PlaceSteps: Sendable {
    let place: any MigrationPlace
    let id: PlaceID
    let name: String
    /// The schema steps, ascending.
    private(set) var schemaSteps: [MigrationStep] = []
    /// All other steps, ascending.
    private(set) var closures: [MigrationStep] = []

    init(of place: any MigrationPlace) {
        self.place = place
        id = place.id
        name = place.name
    }

    /// Returns the work of a step, for people and for calls of the manager's.
    @inline(never)
    func work(of step: MigrationStep, manager: String) -> MigrationWork {
        MigrationWork(step.id, of: manager, in: id, database: step.worksInDatabase ? name : nil)
    }

    /// The store that keeps the place's records.
    var store: any RecordStorage { place.store }

    /// True if some of them work in a database.
    var worksInDatabases: Bool { !schemaSteps.isEmpty || closures.contains(where: \.worksInDatabase) }

    /// Returns the steps whose counterparts a record has, and the app has no more: it has moved them into the database that is
    /// the store, or out of it.
    func carriedOver(to record: MigrationRecord) -> [WorkID] {
        guard id != .store else { return [] }
        return closures.filter { step in
            guard record[step.id] == nil, let former = closures.formerID(of: step) else { return false }
            // A step that is owed was never done, and may be another build's: above the start, this one is pending anyway, and at or
            // below it, a new install may not need it.
            let isOwed = record.isDone(step.id) && step.onFreshInstall == .run
            return record[former] != nil && (isOwed || !record.isOwed(former))
        }.map(\.id)
    }

    /// Returns the steps that are pending beside their counterparts: what becomes of one says nothing of the other, also when
    /// the app has no more than one of them.
    func owed(in record: MigrationRecord) -> [WorkID] {
        guard id != .store else { return [] }
        return closures.filter { step in
            record[step.id] == nil && step.onFreshInstall != .only
                && !record.isDone(step.id)
                && step.id.counterpart.map(closures.has) == true
        }.map(\.id)
    }

    /// Returns true if a step has a condition that can be asked.
    ///
    /// Before the step has run, there may be nothing yet that its condition could ask about, as while work that makes this is
    /// pending: an older build may have undone a migration. What the app has skipped is settled for good. Nor is it asked where a
    /// newer version has been, which may have removed what it asks about: nothing runs there.
    ///
    /// - Parameter places: all places, with what was found in them.
    func canAsk(
        _ step: MigrationStep, _ state: PlaceState, at current: AppVersion,
        among places: Zip2Sequence<[PlaceSteps], [PlaceState]>
    ) -> Bool {
        guard step.hasCondition, state.records.allSatisfy({ !$0.isNewer(than: current) }),
            isDone(step, state, where: { $0[step.id] != .skipped })
        else { return false }
        return !places.contains { $0.hasPending($1, before: step) }
    }

    /// Returns true if work is pending here that makes what the condition of a step may ask about: a schema step, or a step that
    /// a new install or a new database needs.
    private func hasPending(_ state: PlaceState, before step: MigrationStep) -> Bool {
        zip(schemaSteps, state.pending).contains { step.mayAsk(about: $0) && !$1.isEmpty }
            || closures.contains { !$0.isDeferred && step.mayAsk(about: $0) && isOwed($0, state) }
    }

    private func isOwed(_ step: MigrationStep, _ state: PlaceState) -> Bool {
        state.record.map { $0.isOwed(step.id) } ?? (step.onFreshInstall == .run && !isDone(step, state))
    }

    /// Returns true if a step is done, by this manager or by a former one.
    func isDone(
        _ step: MigrationStep, _ state: PlaceState, where condition: (MigrationRecord) -> Bool = { _ in true }
    ) -> Bool {
        func isDone(_ record: MigrationRecord) -> Bool { record.isDone(step.id) && condition(record) }
        return state.record.map(isDone)
            ?? state.leavingRecords.contains { step.version < $0.end && $0.record.map(isDone) == true }
    }

    /// The versions of the deferred steps that must be done before a step of the place.
    var finishing: [AppVersion] { (closures + schemaSteps).flatMap(\.finishing) }

    /// Returns the versions of the deferred steps that had to be done before a step that has run.
    ///
    /// - Parameter version: the lowest version of such a step.
    func finished(_ state: PlaceState, from version: AppVersion = .zero) -> [AppVersion] {
        let closures = closures.filter { isDone($0, state) }
        let schemaSteps = zip(schemaSteps, state.pending).filter { $1.isEmpty }.map(\.0)
        return (closures + schemaSteps).filter { $0.version >= version }.flatMap(\.finishing)
    }

    /// Returns true if there may be nothing left that the condition of a deferred step could ask about, since a step has run that is
    /// finishing it.
    ///
    /// The steps of its own place know best.
    ///
    /// - Parameter elsewhere: the versions that steps of all places have finished.
    func isOver(_ deferred: MigrationStep, _ state: PlaceState, _ elsewhere: Set<AppVersion>) -> Bool {
        finishing.contains(deferred.version)
            ? finished(state).contains(deferred.version) : elsewhere.contains(deferred.version)
    }

    /// Adds a step, and returns true if it is in order behind those that are there.
    @discardableResult
    mutating func add(_ step: MigrationStep) -> Bool {
        let isAbove = isBelow(step)
        if step.isSchemaStep {
            schemaSteps.append(step)
        } else {
            if closures.isEmpty { closures.reserveCapacity(Registration.usualCount) }
            closures.append(step)
        }
        return isAbove
    }

    /// A schema step may have the version of the closure behind it.
    private func isBelow(_ step: MigrationStep) -> Bool {
        if let last = closures.last, last.version >= step.version { return false }
        guard let schemaStep = schemaSteps.last else { return true }
        return step.isSchemaStep ? schemaStep.version < step.version : schemaStep.version <= step.version
    }
}

extension [MigrationStep] {
    /// Returns true if a step is among them.
    func has(_ id: WorkID) -> Bool { contains { $0.id == id } }

    /// Returns the counterpart of a step, unless it is among them too: then the app may have moved the step.
    func formerID(of step: MigrationStep) -> WorkID? {
        step.id.counterpart.flatMap { has($0) ? nil : $0 }
    }
}
