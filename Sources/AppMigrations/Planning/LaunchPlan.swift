import MigrationDiagnostics

/// The plan of a launch: its kind and its pending work, place by place.
///
/// A pure value, computed from what is registered and what the places remember. A step is pending if
///
/// 1. it is not settled in its place,
/// 2. it is above the version with which the place's record begins, or owed,
/// 3. it is at most the target, and
/// 4. it is not for fresh installs only, unless it is owed.
///
/// A schema step is pending if the database's own ledger lacks one of its migrations, or has unknown ones that the step
/// undoes. On a downgrade nothing else than such undoing is pending.
///
/// Later steps elsewhere wait, too, and the launch is not complete: the version that was there will run them.
///
/// Deferred steps wait for `runDeferred`, except those whose deadline has come: a step that is `finishing:` a deferred one
/// needs its work, so that is done before any work of the manager at or above the version of that step.
///
/// A class, as ``PlaceState`` is.
final class LaunchPlan: Sendable {
    let request: LaunchRequest
    /// The store's place first.
    let places: [PlacePlan]
    /// The work to do now, in order.
    let pending: [PendingStep]
    /// The deferred steps that wait for `runDeferred`, in order.
    let deferred: [PendingStep]
    /// The weight of what stays pending above the version at which this call of `migrate` stops.
    let weightAbove: Int64
    /// The steps that a downgrade of their place keeps from running, and that others wait for.
    private let held: [StepKey]
    /// True if everything else can be done without the launch being complete: a downgrade keeps a step from running.
    private let isHeldBack: Bool

    /// Names a step among those of plans over the same places.
    struct StepKey: Hashable, Sendable {
        let place: Int
        let id: WorkID
    }

    /// Work that is pending.
    struct PendingStep: Sendable {
        let step: MigrationStep
        /// The index of its place.
        let place: Int
        let isOutOfOrder: Bool
        /// The schema versions that a schema step will undo and apply.
        fileprivate(set) var schema = PendingSchema()
        /// The deferred steps, and those that are held, that must be done before it.
        fileprivate(set) var prerequisites: [StepKey] = []

        var key: StepKey { StepKey(place: place, id: step.id) }

        /// The number of migrations that a schema step still has to undo or apply.
        var remaining: Int? { step.isSchemaStep ? schema.count : nil }

        /// The step's share of the run's progress: a schema migration counts as much as a step.
        var weight: Int64 { step.kind == .versionChange ? 0 : Int64(max(1, schema.count)) }
    }

    /// Plans a launch.
    ///
    /// - Parameter deadlines: for versions of deferred steps, the lowest version that needs their work.
    init(_ request: LaunchRequest, _ places: [PlacePlan], deadlines: [AppVersion: AppVersion]) {
        self.request = request
        self.places = places
        var pending: [PendingStep] = []
        var held: [PendingStep] = []
        for (index, place) in places.enumerated() {
            // A closure outside databases may open any of them.
            let here = place.pending(
                at: index, reached: index > 0 ? place.reached : places.compactMap(\.reached).max())
            if place.launch.isDowngrade {
                pending += here.filter { !$0.schema.undo.isEmpty }
                held += here.filter { $0.isAwaited(request) }
            } else {
                pending = pending.isEmpty ? here : pending + here
            }
        }
        self.held = held.map(\.key)
        isHeldBack = held.contains { !$0.step.isDeferred }
        // What is above the current version is not due.
        let isWhole = request.stop == nil
        weightAbove =
            isWhole ? 0 : pending.reduce(0) { $0 + (request.stopsBelow($1.step.version) ? $1.weight : 0) }
        if !deadlines.isEmpty || !held.isEmpty {
            pending.setPrerequisites(among: held + pending.filter(\.step.isDeferred), deadlines)
        }
        deferred = pending.removeWaiting(request, deadlines)
        if !isWhole { pending.removeAll { request.stopsBelow($0.step.version) } }
        if pending.count > 1 { pending = pending.inOrder { $0.step.runsBefore($1.step) } }
        if !isHeldBack, let change = places[0].versionChange(request) { pending.append(change) }
        self.pending = pending
    }

    /// Returns the number of deaths in work, if there are so many that it is not tried again.
    ///
    /// - Parameter state: the state of the work under its lock; nil if the plan knows it.
    func exhausted(_ pending: PendingStep, _ state: WorkState?) -> Int? {
        guard case .open(let open) = state ?? places[pending.place].record?[pending.step.id],
            work(of: pending) != request.retrying
        else { return nil }
        let deaths = open.countedDeaths(in: request.build, remaining: pending.remaining)
        return deaths >= request.maximumAttempts ? deaths : nil
    }

    /// Returns true if work has been settled, and is needed again.
    func isReopened(_ pending: PendingStep) -> Bool {
        places[pending.place].reopened.contains(pending.step.id)
    }

    /// Returns true if steps have conditions that can be asked once a piece of work has run, and not before.
    func hasConditions(after pending: PendingStep) -> Bool {
        let step = pending.step
        let isOwed = !step.isDeferred && places[pending.place].record?.isOwed(step.id) == true
        return (step.isSchemaStep || isOwed) && places.contains { $0.hasConditions(about: step) }
    }

    /// True if the launch is complete when everything that is pending is done.
    var isComplete: Bool { request.stop == nil && !isHeldBack }

    /// Returns true if a downgrade of its place keeps a step from running.
    func isHeld(_ step: StepKey) -> Bool { held.contains(step) }

    /// Returns the work of a step, for people and for calls of the manager's.
    func work(of pending: PendingStep) -> MigrationWork {
        places[pending.place].steps.work(of: pending.step, manager: request.manager)
    }

    /// True if everything is done and written down: then there is nothing to lock and nothing to write.
    var isSettled: Bool { isReadyForDeferred && unprepared.isEmpty && knowsDatabases }

    /// False if a database has completed a launch, and the process has died before the store could name it.
    private var knowsDatabases: Bool {
        guard places.count > 1, isComplete, let known = places[0].state.record?.databases else { return true }
        return places.dropFirst().allSatisfy { place in
            place.state.record?.completed == nil || known.contains { $0.id == place.state.storeID }
        }
    }

    /// Returns true if the record in a database names a store that the manager uses no longer: its store is new, and no launch
    /// has got as far as to name it in all databases.
    func takesOver(_ place: PlacePlan) -> Bool {
        namesAnotherStore(place) && !hasCompletedStore
    }

    private var hasCompletedStore: Bool { places[0].state.record?.completed != nil }

    /// The databases in which another store, which the manager uses elsewhere, keeps its record.
    var databasesOfOtherStores: [String] {
        guard hasCompletedStore else { return [] }
        return places.dropFirst().filter(namesAnotherStore).map(\.steps.name)
    }

    private func namesAnotherStore(_ place: PlacePlan) -> Bool {
        place.state.record?.store.map { $0 != places[0].state.storeID } ?? false
    }

    /// The deferred steps that wait, and of which no launch has noted where they begin.
    var unprepared: [PendingStep] {
        guard request.stop == nil else { return [] }
        return deferred.filter { places[$0.place].record?.position(of: $0.step.id) == nil }
    }

    /// True if a launch has completed what deferred steps build on.
    var isReadyForDeferred: Bool {
        pending.isEmpty && places.allSatisfy { $0.isWritten(request, isComplete: isComplete) }
    }

    /// Throws if the data is not as it should be, for a process that waits for another one to migrate.
    func checkMigrated() throws {
        for place in places {
            let (problem, version): (String, AppVersion?)
            if case .downgrade(let higher) = place.launch {
                (problem, version) = ("version \(higher) of the app has used this data", higher)
            } else if let undo = place.state.pending.map(\.undo).first(where: { !$0.isEmpty }) {
                (problem, version) = (
                    "\(place.steps.name) has had the unknown migrations \(undo.joined(separator: ", "))", nil
                )
            } else {
                continue
            }
            throw MigrationError(
                .newerThanThisProcess, "\(problem); this process is at \(request.current)",
                remedy: "Leave the data alone until this process has been updated as well.",
                manager: request.manager, version: version)
        }
        let isReady = pending.allSatisfy {
            $0.step.kind == .versionChange || $0.step.isSchemaStep && $0.schema.count == 0
        }
        // A process that knows no build cannot tell what a database is without a record.
        func isKnown(_ place: PlacePlan) -> Bool { !place.state.records.isEmpty }
        let areKnown = places.dropFirst().allSatisfy { isKnown($0) || $0.steps.closures.isEmpty }
        if isReady, areKnown, isKnown(places[0]) { return }
        throw MigrationError(
            .notYetMigrated, "the data is not yet at version \(request.current)",
            remedy: "Leave the data alone until the app has been launched.", manager: request.manager)
    }
}

extension LaunchPlan.PendingStep {
    /// Returns true if others wait for the step while a downgrade of its place keeps it from running.
    ///
    /// What has to be undone runs, and what a schema step would only write into the ledger can wait.
    fileprivate func isAwaited(_ request: LaunchRequest) -> Bool {
        step.isDeferred
            || step.onFreshInstall != .only && schema.undo.isEmpty && remaining != 0
                && step.version <= request.current.ceiling
    }
}

extension [LaunchPlan.PendingStep] {
    /// Notes, for each step, those that must be done before it.
    ///
    /// - Parameter awaited: the deferred steps, and others that are held.
    fileprivate mutating func setPrerequisites(
        among awaited: [LaunchPlan.PendingStep], _ deadlines: [AppVersion: AppVersion]
    ) {
        if awaited.isEmpty { return }
        for index in indices {
            let (step, place) = (self[index].step, self[index].place)
            // What is for new installs alone comes before everything else.
            if step.onFreshInstall == .only { continue }
            self[index].prerequisites = awaited.filter { other in
                guard other.step.isDeferred else {
                    return other.place != place && other.step.runsBefore(step)
                }
                return deadlines[other.step.version].map { $0 <= step.version } ?? false
                    || step.finishing.contains(other.step.version)
            }.map(\.key)
        }
    }

    /// Removes the deferred steps whose deadline has not come, and returns them, in order.
    ///
    /// - Parameter deadlines: for versions of deferred steps, the lowest version that needs their work.
    fileprivate mutating func removeWaiting(
        _ request: LaunchRequest, _ deadlines: [AppVersion: AppVersion]
    ) -> [LaunchPlan.PendingStep] {
        guard contains(where: { $0.step.isDeferred }) else { return [] }
        let latest = lazy.filter {
            !$0.step.isDeferred && $0.step.onFreshInstall != .only && !request.stopsBelow($0.step.version)
        }.map(\.step.version).max()
        func waits(_ pending: LaunchPlan.PendingStep) -> Bool {
            guard pending.step.isDeferred else { return false }
            guard let latest, let deadline = deadlines[pending.step.version] else { return true }
            return deadline > latest
        }
        defer { removeAll(where: waits) }
        return filter(waits).inOrder { $0.step.runsBefore($1.step) }
    }
}
