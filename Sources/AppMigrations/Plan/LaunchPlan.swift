import Foundation

/// The plan of a launch: its kind and its pending steps, place by place.
///
/// A pure value, computed from what is registered and what the places remember.
struct LaunchPlan {
    let request: LaunchRequest
    /// The store's place first.
    let places: [PlacePlan]
    /// Every pending step, in the order in which the steps will run.
    let pending: [PendingStep]
    /// The deferred steps that wait for `runDeferred`, in order: all but those that a pending step finishes.
    let deferred: [PendingStep]
    /// The weight of what stays pending above the version at which this call of `migrate` stops.
    let weightAbove: Int64
    let decision: LaunchDecision

    /// One place's part of a plan.
    struct PlacePlan {
        let place: any MigrationPlace
        let launch: Launch
        /// The state in which the place was found.
        let state: PlaceState
        /// The record with which this launch begins its work.
        let record: MigrationRecord

        /// Notes in what the place keeps the versions that it has seen by this launch.
        ///
        /// An adopted version counts as seen: other managers of the store came from it too.
        func noteSeen(in state: inout StoreState, _ request: LaunchRequest) {
            let versions = [launch.previousVersion, request.current].compactMap { $0 }.filter { $0 != .zero }
            // Without a record, evidence has named the previous version.
            let adopted = self.state.record == nil ? launch.previousVersion : nil
            state.see(versions, in: request.line, at: Date(), adopted: adopted)
        }
    }

    /// A step that is pending.
    struct PendingStep {
        let step: MigrationStep
        let isOutOfOrder: Bool
        /// The schema versions that the step, if it is a move, will apply.
        let schemaVersions: [String]
        /// What earlier launches have left of the step; nil for nearly all steps.
        private var past: Past?

        private final class Past: Sendable {
            let deferred: DeferredState
            let exhausted: MigrationRecord.Running?

            init(_ deferred: DeferredState, exhausted: MigrationRecord.Running?) {
                self.deferred = deferred
                self.exhausted = exhausted
            }
        }

        /// How far the step is, if it is deferred.
        var deferred: DeferredState { past?.deferred ?? DeferredState() }

        /// The attempts that died, when they are too many to try again.
        var exhausted: MigrationRecord.Running? { past?.exhausted }

        /// The step as a record notes that it is running.
        func running(build: String) -> MigrationRecord.Running {
            let (work, remaining): (MigrationRecord.Work, Int?) =
                if step.isMove {
                    (.move, schemaVersions.count)
                } else if step.isDeferred {
                    (.batch, deferred.done)
                } else {
                    (.step, nil)
                }
            return MigrationRecord.Running(
                work, version: step.version, remaining: remaining, attempt: 1, build: build, since: Date())
        }

        /// The number of the attempt at a deferred step that a run makes, from 1.
        var attempt: Int { deferred.running.map { $0.attempt + 1 } ?? 1 }

        /// The step's share of the run's progress: a schema migration counts as much as a step.
        var weight: Int64 { Int64(max(1, schemaVersions.count)) }
    }

    /// Plans a launch.
    ///
    /// - Parameters:
    ///   - steps: what is due, place by place.
    ///   - states: what these places remember.
    ///   - decided: what an earlier call for the same launch has decided.
    ///   - answer: the app's answer, if ``needsAdoption(_:_:_:_:decided:)``.
    init(
        _ request: LaunchRequest, _ steps: [PlaceSteps], _ states: [PlaceState], decided: LaunchDecision?,
        answer: AdoptionAnswer?
    ) throws {
        var places: [PlacePlan] = []
        var pending: [PendingStep] = []
        for (index, (here, state)) in zip(steps, states).enumerated() {
            let launch =
                Self.recordedLaunch(of: here.place, state, request, decided)
                ?? (index == 0
                    ? Launch(ofStore: state, request, answer: answer, witnesses: Array(states.dropFirst()))
                    : Launch(ofDatabase: state, request, answer: answer))
            guard let launch else { throw MigrationError.undecided(request, steps, states, answer) }
            let record = Self.record(with: state, by: launch, here, request)
            try Self.checkSupported(record.dataVersion(of: launch), request, here.place)
            places.append(PlacePlan(place: here.place, launch: launch, state: state, record: record))
            if case .downgrade = launch { continue }
            let pendingHere = Self.pending(here, state, record, request)
            pending = pending.isEmpty ? pendingHere : pending + pendingHere
        }
        self.request = request
        self.places = places
        pending.sort { $0.step.runsBefore($1.step) }
        let target = request.target
        var deferred: [PendingStep] = []
        if pending.contains(where: { $0.step.isDeferred }) {
            let finished = Set(
                pending.filter { !$0.step.isDeferred && $0.step.version <= target }.flatMap(\.step.finishing))
            func waits(_ pending: PendingStep) -> Bool {
                pending.step.isDeferred && !finished.contains(pending.step.version)
            }
            deferred = pending.filter(waits)
            pending.removeAll(where: waits)
        }
        self.deferred = deferred
        var above: [PendingStep] = []
        while let last = pending.last, last.step.version > target { above.append(pending.removeLast()) }
        weightAbove = above.reduce(0) { $0 + $1.weight }
        self.pending = pending
        var decision = decided ?? LaunchDecision(places[0], request)
        for place in places where decision.launches[place.place.id] == nil {
            decision.launches[place.place.id] = place.launch
        }
        self.decision = decision
    }

    /// Whether everything is done and written down: then there is nothing to lock and nothing to write.
    var isSettled: Bool {
        pending.isEmpty
            && places.allSatisfy { place in
                place.state.record == ending(place.record, by: place.launch)
                    && place.state.hasSeen(request.current, in: request.line)
            }
    }

    /// Throws if work is pending or nothing was ever recorded, for a process that waits for another one to migrate.
    func checkMigrated() throws {
        for place in places {
            guard case .downgrade(let version) = place.launch else { continue }
            throw MigrationError(
                .newerThanThisProcess,
                "version \(version) of the app has used this data; this process is at \(request.current)",
                remedy: "Leave the data alone until this process has been updated as well.",
                manager: request.manager, version: version)
        }
        if pending.isEmpty, places[0].state.record != nil { return }
        throw MigrationError(
            .notYetMigrated, "the data is not yet at version \(request.current)",
            remedy: "Leave the data alone until the app has been launched.", manager: request.manager)
    }

    /// The record with which this call of `migrate` ends.
    func ending(_ record: MigrationRecord, by launch: Launch) -> MigrationRecord {
        request.stop == nil ? record.finished(by: launch, current: request.current) : record
    }

    /// The report of a launch on which nothing has run yet.
    var report: MigrationReport {
        var report = MigrationReport(
            manager: request.manager, launch: places[0].launch,
            returnedFromDowngrade: decision.returnedFromDowngrade,
            isFirstLaunchOfVersion: decision.isFirstLaunchOfVersion)
        report.deferred = deferred.map(\.step.version)
        return report
    }

    /// Whether planning needs the app's answer about a subject: some place has neither a record nor a decision, and
    /// nothing stronger decides.
    static func needsAdoption(
        _ subject: Adoption.Subject, _ request: LaunchRequest, _ steps: [PlaceSteps], _ states: [PlaceState],
        decided: LaunchDecision?
    ) -> Bool {
        zip(steps, states).enumerated().contains { index, place in
            let (steps, state) = place
            guard state.record == nil, decided?.launches[steps.place.id] == nil else { return false }
            let hasSeen = !state.versions(in: request.line).isEmpty
            if subject == .install, hasSeen { return false }
            // A database that has nothing is new, whatever the app answers.
            if index > 0, !hasSeen, case .empty = state.evidence { return false }
            return true
        }
    }

    // MARK: One place

    /// The kind of launch that is known without evidence; nil where there is neither a record nor a decision.
    private static func recordedLaunch(
        of place: any MigrationPlace, _ state: PlaceState, _ request: LaunchRequest,
        _ decided: LaunchDecision?
    ) -> Launch? {
        let recorded = state.record?.launch(current: request.current)
        // An earlier decision holds, unless a newer version of the app has been here meanwhile.
        if case .downgrade = recorded { return recorded }
        return decided?.launches[place.id] ?? recorded
    }

    private static func checkSupported(
        _ version: AppVersion?, _ request: LaunchRequest, _ place: any MigrationPlace
    ) throws {
        // Where nothing has ever counted versions, there is none to be too old.
        guard let oldest = request.oldestSupported, let version, version < oldest, version != .zero
        else { return }
        throw MigrationError(
            .tooOld,
            "the data of \(place.name) is at version \(version); the oldest that can be migrated is \(oldest)",
            remedy: "Nothing was changed. Launch an app version that still migrates it first, then this one.",
            manager: request.manager, version: version)
    }

    private static func record(
        with state: PlaceState, by launch: Launch, _ steps: PlaceSteps, _ request: LaunchRequest
    ) -> MigrationRecord {
        var record = MigrationRecord.begun(
            state.record, by: launch, current: request.current,
            due: DueSteps(
                versions: SortedSet(steps.closures.map(\.version)),
                runningOnFreshInstall: SortedSet(
                    steps.closures.filter { $0.onFreshInstall == .run }.map(\.version))))
        if let running = record.running, running.version == request.retrying {
            record.running?.forgiven = running.attempt
        }
        return record
    }

    private static func pending(
        _ steps: PlaceSteps, _ state: PlaceState, _ record: MigrationRecord, _ request: LaunchRequest
    ) -> [PendingStep] {
        let reached = state.record?.reached
        let plan = MigrationPlan(
            known: steps.closures, by: { $0.version }, floor: record.floor, settled: record.settled,
            owed: record.owed, target: nil)
        var pending: [PendingStep] = []
        pending.reserveCapacity(steps.moves.count + plan.pending.count)
        for (step, versions) in zip(steps.moves, state.pending) where !versions.isEmpty {
            pending.append(PendingStep(step, schemaVersions: versions))
        }
        for step in plan.pending where !step.isForFreshInstalls || record.owed.contains(step.version) {
            let isOutOfOrder = !step.isForFreshInstalls && reached.map { step.version < $0 } ?? false
            pending.append(PendingStep(step, isOutOfOrder: isOutOfOrder))
        }
        let hasDied = record.running != nil
        for index in pending.indices where hasDied || pending[index].step.isDeferred {
            pending[index].recall(record, request)
        }
        return pending
    }
}

extension LaunchPlan.PendingStep {
    fileprivate init(_ step: MigrationStep, isOutOfOrder: Bool = false, schemaVersions: [String] = []) {
        self.step = step
        self.isOutOfOrder = isOutOfOrder
        self.schemaVersions = schemaVersions
    }

    /// Adds what a record knows of earlier attempts.
    fileprivate mutating func recall(_ record: MigrationRecord, _ request: LaunchRequest) {
        let deferred = step.isDeferred ? record.deferred[step.version] : nil
        past = Past(deferred ?? DeferredState(), exhausted: nil)
        guard let died = step.isDeferred ? deferred?.running : record.running,
            died.version != request.retrying,
            died.exhausts(running(build: request.build), maximumAttempts: request.maximumAttempts)
        else { return }
        past = Past(deferred ?? DeferredState(), exhausted: died)
    }
}

extension LaunchDecision {
    fileprivate init(_ store: LaunchPlan.PlacePlan, _ request: LaunchRequest) {
        let record = store.state.record
        launches = [:]
        returnedFromDowngrade =
            if case .upgrade = store.launch { record?.downgradedTo != nil } else { false }
        isFirstLaunchOfVersion =
            switch store.launch {
            case .freshInstall, .adoption, .upgrade: record?.highest.map { $0 < request.current } ?? true
            case .relaunch, .downgrade: false
            }
    }
}

extension MigrationError {
    fileprivate static func undecided(
        _ request: LaunchRequest, _ steps: [PlaceSteps], _ states: [PlaceState], _ answer: AdoptionAnswer?
    ) -> MigrationError {
        let culprit = zip(steps, states).first { _, state in
            if case .empty = state.evidence { return false }
            return state.versions(in: request.line).isEmpty
        }
        let name = culprit?.0.place.name ?? steps[0].place.name
        if case .replaced = culprit?.1.evidence {
            return MigrationError(
                .undecided,
                "\(name) was damaged and has been replaced, and knows no version of line \(request.line)",
                remedy: "Call replaceRecord(assuming:) for this manager as well. Nothing was changed.",
                manager: request.manager)
        }
        return MigrationError(
            .undecided,
            "\(name) has tables, but no record\(answer == nil ? "" : " or `adopting`") says which app version left them",
            remedy: answer == nil
                ? """
                Pass the version that they mean: MigrationOptions(adopting: .databaseHasTables(dbQueue, means: \
                "1.0")). Nothing was changed.
                """
                : """
                Return a version from `adopting` for these tables, too: the current one, if the app has just made \
                them. Nothing was changed.
                """,
            manager: request.manager)
    }
}
