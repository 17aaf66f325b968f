/// The plan of a launch: its kind and its pending steps, place by place.
///
/// A pure value, computed from what is registered and what the places remember. A step is pending if
///
/// 1. it is not settled in its place,
/// 2. it is above the version with which the place's record begins, or owed,
/// 3. it is at most the target,
/// 4. it is not for fresh installs only, unless it is owed, and
/// 5. the manager has not given up on it.
///
/// A move is pending if the database's own ledger lacks one of its migrations, or has unknown ones that the move undoes.
/// On a downgrade nothing else than such undoing is pending.
/// Deferred steps wait for `runDeferred`, except those that another pending step is `finishing:`.
///
/// A class, because copies of so many fields would weigh more than the code that reads them.
final class LaunchPlan: Sendable {
    let request: LaunchRequest
    /// The store's place first.
    let places: [PlacePlan]
    /// Every step to run now, in order.
    let pending: [PendingStep]
    /// The deferred steps that wait for `runDeferred`, in order.
    let deferred: [PendingStep]
    /// The weight of what stays pending above the version at which this call of `migrate` stops.
    let weightAbove: Int64
    let decision: LaunchDecision
    /// The versions of deferred steps that a downgrade of their place keeps from running.
    private let held: Set<AppVersion>

    /// One place's part of a plan; a class for the same reason.
    final class PlacePlan: Sendable {
        let steps: PlaceSteps
        let launch: Launch
        /// The state in which the place was found.
        let state: PlaceState
        /// The record with which this launch begins its work.
        let record: MigrationRecord

        fileprivate init(
            steps: PlaceSteps, launch: Launch, state: PlaceState, _ request: LaunchRequest
        ) throws {
            self.steps = steps
            self.launch = launch
            self.state = state
            var record = state.record ?? MigrationRecord(floor: launch.previousVersion ?? request.current)
            record.begin(launch, current: request.current, due: steps.closures)
            self.record = record
            // Where nothing has ever counted versions, there is none to be too old.
            guard let oldest = request.oldestSupported, let version = record.dataVersion(of: launch),
                version < oldest, version != .zero
            else { return }
            throw MigrationError(
                .tooOld,
                "the data of \(steps.name) is at version \(version); the oldest that can be migrated is \(oldest)",
                remedy:
                    "Nothing was changed. Launch an app version that still migrates it first, then this one.",
                manager: request.manager, version: version)
        }
    }

    /// A step that is pending.
    struct PendingStep: Sendable {
        let step: MigrationStep
        /// The index of its place.
        let place: Int
        let isOutOfOrder: Bool
        /// The schema versions that the step, if it is a move, will undo and apply.
        let move: PendingMove

        /// The number of migrations that a move still has to undo or apply.
        var remaining: Int? { step.isMove ? move.count : nil }

        /// The step's share of the run's progress: a schema migration counts as much as a step.
        var weight: Int64 { step.kind == .versionChange ? 0 : Int64(max(1, move.count)) }
    }

    /// Plans a launch.
    ///
    /// - Parameters:
    ///   - steps: what is due, place by place.
    ///   - states: what these places remember.
    ///   - launches: the kind of launch in each place.
    ///   - earlier: what an earlier call for the same launch has decided.
    init(
        _ request: LaunchRequest, _ steps: [PlaceSteps], _ states: [PlaceState], launches: [Launch],
        earlier: LaunchDecision?
    ) throws {
        self.request = request
        places = try steps.indices.map {
            try PlacePlan(steps: steps[$0], launch: launches[$0], state: states[$0], request)
        }
        var pending: [PendingStep] = []
        var held: Set<AppVersion> = []
        for (index, place) in places.enumerated() {
            let here = place.pending(at: index, request)
            if case .downgrade = place.launch {
                held.formUnion(here.filter(\.step.isDeferred).map(\.step.version))
                pending += here.filter { !$0.move.undo.isEmpty }
            } else {
                pending = pending.isEmpty ? here : pending + here
            }
        }
        self.held = held
        pending.sort { $0.step.runsBefore($1.step) }
        var above: [PendingStep] = []
        var deferred: [PendingStep] = []
        let target = request.target
        if pending.contains(where: \.step.isDeferred) {
            let finished = Set(
                pending.filter { !$0.step.isDeferred && $0.step.version <= target }.flatMap(\.step.finishing))
            func waits(_ pending: PendingStep) -> Bool {
                pending.step.isDeferred && !finished.contains(pending.step.version)
            }
            deferred = pending.filter(waits)
            pending.removeAll(where: waits)
        }
        while let last = pending.last, last.step.version > target { above.append(pending.removeLast()) }
        if let change = places[0].versionChange(request) { pending.append(change) }
        self.pending = pending
        self.deferred = deferred
        weightAbove = above.reduce(0) { $0 + $1.weight }
        decision = LaunchDecision(places, request, earlier: earlier)
    }

    /// Returns the attempts that died in a step, if they are as many as to give up on it.
    ///
    /// - Parameter hasDied: whether the last run may have died.
    func exhausted(_ pending: PendingStep, hasDied: Bool) -> MigrationRecord.Attempt? {
        places[pending.place].record.exhausted(
            pending.step.work, remaining: pending.remaining, by: request, hasDied: hasDied)
    }

    /// Returns a version that a step is `finishing:`, and that cannot run; nil if there is none.
    func unfinished(_ pending: PendingStep) -> AppVersion? {
        held.isEmpty ? nil : pending.step.finishing.first(where: held.contains)
    }

    /// True if everything is done and written down: then there is nothing to lock and nothing to write.
    var isSettled: Bool {
        pending.isEmpty && unprepared.isEmpty && places.allSatisfy { $0.isWritten(request) }
    }

    /// The deferred steps that wait, and of which no launch has noted where they begin.
    var unprepared: [PendingStep] {
        guard request.stop == nil else { return [] }
        return deferred.filter { places[$0.place].record.positions[$0.step.version] == nil }
    }

    /// True if a launch has completed what deferred steps build on; best-effort steps may still be pending.
    var isReadyForDeferred: Bool {
        pending.allSatisfy { $0.step.onError != .stop } && places.allSatisfy { $0.isWritten(request) }
    }

    /// Throws if the data is not as it should be, for a process that waits for another one to migrate.
    ///
    /// The app goes on without its best-effort steps, and so can this process.
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
        let isReady = pending.allSatisfy { $0.step.kind == .versionChange || $0.step.onError != .stop }
        if isReady, places[0].state.record != nil { return }
        throw MigrationError(
            .notYetMigrated, "the data is not yet at version \(request.current)",
            remedy: "Leave the data alone until the app has been launched.", manager: request.manager)
    }
}

extension LaunchPlan.PlacePlan {
    /// Returns true if the place has written down all that this launch has to say.
    func isWritten(_ request: LaunchRequest) -> Bool {
        var record = record
        if request.stop == nil { record.finish(launch, current: request.current) }
        return state.record == record && state.hasSeen(request.current, in: request.line)
    }

    /// The steps that are pending in this place, whatever the target.
    fileprivate func pending(at index: Int, _ request: LaunchRequest) -> [LaunchPlan.PendingStep] {
        let (record, reached) = (record, state.record?.reached)
        let plan = MigrationPlan(
            known: steps.closures, by: { $0.version }, floor: record.floor, settled: record.settled,
            owed: record.owed, target: nil)
        var pending: [LaunchPlan.PendingStep] = []
        pending.reserveCapacity(steps.moves.count + plan.pending.count)
        for (step, move) in zip(steps.moves, state.pending) where move.count > 0 {
            pending.append(.init(step: step, place: index, isOutOfOrder: false, move: move))
        }
        for step in plan.pending {
            let isOnly = step.onFreshInstall == .only
            if isOnly, !record.owed.contains(step.version) { continue }
            if record.hasGivenUp(step), step.version != request.retrying { continue }
            let isOutOfOrder = !isOnly && reached.map { step.version < $0 } ?? false
            pending.append(.init(step: step, place: index, isOutOfOrder: isOutOfOrder, move: PendingMove()))
        }
        return pending
    }

    /// The closures for a change of the app's version, if this launch changes it and they have not run.
    fileprivate func versionChange(_ request: LaunchRequest) -> LaunchPlan.PendingStep? {
        guard request.hasVersionChanges, request.stop == nil, let from = launch.upgradedVersion,
            from != request.current, from != .zero,
            // Once they have run, the record is that of a relaunch.
            state.record?.launch(current: request.current) != .relaunch
        else { return nil }
        let step = MigrationStep(
            version: request.current, place: steps.id, kind: .versionChange, number: -1,
            source: SourceLocation(fileID: #fileID, line: #line))
        return LaunchPlan.PendingStep(step: step, place: 0, isOutOfOrder: false, move: PendingMove())
    }
}

extension LaunchDecision {
    /// Keeps what an earlier call has decided, and adds what this one has.
    fileprivate init(
        _ places: [LaunchPlan.PlacePlan], _ request: LaunchRequest, earlier: LaunchDecision?
    ) {
        var launches = earlier?.launches ?? [:]
        for place in places where launches[place.steps.id] == nil { launches[place.steps.id] = place.launch }
        self.launches = launches
        if let earlier {
            (returnedFromDowngrade, isFirstLaunchOfVersion) =
                (earlier.returnedFromDowngrade, earlier.isFirstLaunchOfVersion)
            return
        }
        let (launch, record) = (places[0].launch, places[0].state.record)
        (returnedFromDowngrade, isFirstLaunchOfVersion) =
            switch launch {
            case .upgrade:
                (record?.downgradedTo != nil, record?.highest.map { $0 < request.current } ?? true)
            case .freshInstall, .adoption: (false, record?.highest.map { $0 < request.current } ?? true)
            case .relaunch, .downgrade: (false, false)
            }
    }
}
