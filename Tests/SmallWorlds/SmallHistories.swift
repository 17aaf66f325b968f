// All short histories, as a tree: what can happen next.

extension SmallEvent {
    /// The number of parts of which the event is made.
    package var weight: Int {
        switch self {
        case .launch(let release, let launch, let fault):
            release.build + (launch == .whole ? 0 : 1) + (fault == nil ? 0 : 1)
        case .twice(let release, _): release.build + 1
        case .runDeferred(_, let work, let fault): 1 + (work == nil ? 0 : 1) + (fault == nil ? 0 : 1)
        case .call(_, let fault): 1 + (fault == nil ? 0 : 1)
        default: 1
        }
    }

    /// The features that the event adds to those of the app.
    package var features: Set<Feature> {
        switch self {
        case .launch(_, .fromExtension, _): [.waits]
        case .launch(_, .through, _), .launch(_, .inTwo, _): [.through]
        default: []
        }
    }

    /// The same event, with a fault.
    package func with(_ fault: Fault) -> SmallEvent? {
        switch self {
        case .launch(let release, let launch, nil): .launch(release, launch, fault)
        case .runDeferred(let batches, let work, nil): .runDeferred(batches: batches, retrying: work, fault)
        case .call(let call, nil): .call(call, fault)
        default: nil
        }
    }

    /// The faults that this event can have, after what it was seen to do without one.
    package func faults(after outcome: SmallOutcome, in app: SmallApp) -> [Fault] {
        var faults = outcome.changes > 0 ? (1...outcome.changes).map { Fault.dies(before: $0) } : []
        if case .call = self { return faults }
        faults += outcome.changes > 0 ? (0...outcome.changes).map { Fault.cancels(before: $0) } : []
        for step in Set(outcome.ran).sorted() {
            guard let known = app.step(step) else { continue }
            faults += [.fails(step), .failsAlways(step), .postpones(step)]
            if known.isDeferred { faults.append(.postponesAlways(step)) }
        }
        return faults
    }
}

extension Promises {
    /// The events that can happen to a device next.
    ///
    /// - Parameter history: what has happened to it.
    package func next(after history: [SmallEvent], inSQLite: Bool) -> [SmallEvent] {
        // With steps for 1.0, the app has had this package from the start.
        let mayBeOld = app.steps.allSatisfy { $0.version > 19 }
        var events: [SmallEvent] = history.isEmpty && mayBeOld ? [.oldInstall] : []
        let wasLaunched = history.contains(where: \.isLaunch)
        // The app has had this package since 1.0, or since 2.0.
        for release in app.launchable where release.number > 1 || history.first != .oldInstall {
            events.append(.launch(release))
            if let version = app.middle(of: release) {
                events += [.launch(release, .inTwo(through: version)), .launch(release, .through(version))]
            }
            if app.managers(in: release).count > 1 {
                events += [.launch(release, .without(manager: 0)), .launch(release, .without(manager: 1))]
            }
            if wasLaunched { events.append(.launch(release, .fromExtension)) }
            if let work = culprits.values.first { events.append(.launch(release, .retrying(work))) }
            for case .database(let number) in app.places where release.build == 1 {
                events.append(.twice(release, .lose(number)))
                if mayBeOld { events.append(.twice(release, .replace(number))) }
            }
        }
        guard wasLaunched else { return events }
        if isRunning {
            if app.steps.contains(where: { $0.isDeferred && $0.since <= release }) {
                events += [.runDeferred(), .runDeferred(batches: 1)]
            }
            events += [.write(.append), .write(.insert), .write(.delete)]
            if inSQLite { events.append(.write(.vacuum)) }
        }
        events += calls
        let places = app.places.filter { $0 != .files || !app.storeInDatabase }
        for place in places {
            events.append(.lose(place))
            if place != .files, mayBeOld { events.append(.replace(place)) }
            if self.places[place]?.managers.isEmpty == false { events.append(.damage(place)) }
            for event in history.indices.dropLast() { events.append(.restore(place, after: event + 1)) }
        }
        return events
    }

    /// The functions that the app of the last launch can call.
    private var calls: [SmallEvent] {
        var calls: [SmallEvent.Call] = []
        for manager in app.managers(in: release) {
            var works = app.steps(of: manager, in: release).map { SmallWork.step($0.id) }
            if manager == 0, app.move(in: release) != nil { works.append(.move) }
            calls += works.map { .skip($0) }
            if app.managers[manager].hasVersionChanges { calls.append(.skip(.versionChange(manager))) }
            for case .step(let id) in works { calls.append(.rerun(.step(id))) }
            calls += [.rerunAllSteps(manager: manager), .removeRecord(manager: manager)]
            let used = app.places.filter { uses($0, manager, release) }
            if used.contains(where: { places[recordPlace($0)]?.isDamaged == true }) {
                calls.append(.replaceRecord(manager: manager, assuming: release.version))
            }
            calls.append(.replaceRecord(manager: manager, assuming: 10))
        }
        return calls.map { .call($0) }
    }
}

extension SmallEvent {
    package var isFromExtension: Bool {
        if case .launch(_, .fromExtension, _) = self { true } else { false }
    }

    /// True for a launch by a new process of the app, or of its extension.
    package var isLaunch: Bool {
        switch self {
        case .launch, .twice: true
        default: false
        }
    }

    /// The work that is retried although its manager has given up on it.
    package var retried: SmallWork? {
        switch self {
        case .launch(_, .retrying(let work), _), .runDeferred(_, let work?, _): work
        default: nil
        }
    }
}

extension SmallApp {
    /// The releases that can be launched: the second build of one, where that brings something.
    fileprivate var launchable: [SmallRelease] {
        let builds = Set((steps.map(\.since) + managers.map(\.since)).filter { $0.build > 1 })
        return Self.releases.map { SmallRelease($0) } + builds.sorted()
    }

    /// A version at which `migrate(through:)` can stop: one that does not cover all steps.
    fileprivate func middle(of release: SmallRelease) -> Int? {
        let versions =
            (steps.filter { $0.since <= release }.map(\.version) + (move.map { [$0.version] } ?? []))
            .filter { $0 <= release.ceiling }
        guard let first = versions.min(), versions.contains(where: { $0 > first }) else { return nil }
        return first
    }
}

// MARK: Simpler worlds

extension SmallEvent {
    /// The same event without a fault; nil if it has none.
    package var withoutFault: SmallEvent? {
        switch self {
        case .launch(let release, let launch, .some): .launch(release, launch)
        case .runDeferred(let batches, let work, .some): .runDeferred(batches: batches, retrying: work)
        case .call(let call, .some): .call(call)
        default: nil
        }
    }

    /// Simpler events of the same kind.
    package var simpler: [SmallEvent] {
        var events = withoutFault.map { [$0] } ?? []
        switch self {
        case .launch(let release, let launch, let fault):
            if launch != .whole { events.append(.launch(release, .whole, fault)) }
            if release.build > 1 { events.append(.launch(SmallRelease(release.number), launch, fault)) }
        case .twice(let release, _): events.append(.launch(release))
        case .runDeferred(.some, let work, let fault): events.append(.runDeferred(retrying: work, fault))
        default: break
        }
        return events
    }

    /// Returns true if two events differ in their faults at most.
    package func isLike(_ other: SmallEvent) -> Bool {
        (withoutFault ?? self) == (other.withoutFault ?? other)
    }
}

extension SmallEvent.Fault {
    package var isDeath: Bool {
        switch self {
        case .dies, .diesIn: true
        default: false
        }
    }
}
