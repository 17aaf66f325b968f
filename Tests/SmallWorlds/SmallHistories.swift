// All short histories, as a tree: what can happen next.

extension SmallEvent {
    /// The number of parts of which the event is made.
    package var weight: Int {
        switch self {
        case .launch(_, let launch, let fault): 1 + (launch == .whole ? 0 : 1) + (fault == nil ? 0 : 1)
        case .runDeferred(_, let fault): 1 + (fault == nil ? 0 : 1)
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
        case .runDeferred(let batches, nil): .runDeferred(batches: batches, fault)
        default: nil
        }
    }

    /// The faults that this event can have, after what it was seen to do without one.
    package func faults(after outcome: SmallOutcome, in app: SmallApp) -> [Fault] {
        var faults = outcome.changes > 0 ? (1...outcome.changes).map { Fault.dies(before: $0) } : []
        for step in Set(outcome.ran).sorted() where app.step(step) != nil {
            faults += [.fails(step), .failsAlways(step), .postpones(step)]
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
        // The app has had this package since 1.0, or since 2.0.
        for release in SmallApp.releases where release > 1 || history.first != .oldInstall {
            events.append(.launch(release))
            if let version = app.middle(of: release) {
                events += [.launch(release, .inTwo(through: version)), .launch(release, .through(version))]
            }
            if history.contains(where: \.isLaunch) { events.append(.launch(release, .fromExtension)) }
        }
        guard history.contains(where: \.isLaunch) else { return events }
        if isRunning {
            if app.steps.contains(where: { $0.isDeferred && $0.since <= release }) {
                events += [.runDeferred(), .runDeferred(batches: 1)]
            }
            events += [.write(.append), .write(.insert), .write(.delete)]
            if inSQLite { events.append(.write(.vacuum)) }
        }
        let places = app.places.filter { $0 != .files || !app.storeInDatabase }
        for place in places {
            events.append(.lose(place))
            if place != .files, mayBeOld { events.append(.replace(place)) }
            for event in history.indices.dropLast() { events.append(.restore(place, after: event + 1)) }
        }
        return events
    }
}

extension SmallEvent {
    package var isFromExtension: Bool {
        if case .launch(_, .fromExtension, _) = self { true } else { false }
    }

    /// True for a launch by a new process of the app, or of its extension.
    package var isLaunch: Bool {
        if case .launch = self { true } else { false }
    }
}

extension SmallApp {
    /// A version at which `migrate(through:)` can stop: one that does not cover all steps.
    fileprivate func middle(of release: Int) -> Int? {
        let versions =
            (steps.filter { $0.since <= release }.map(\.version) + (move.map { [$0.version] } ?? []))
            .filter { $0 <= release * 10 + 9 }
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
        case .runDeferred(let batches, .some): .runDeferred(batches: batches)
        default: nil
        }
    }

    /// Returns true if two events differ in their faults at most.
    package func isLike(_ other: SmallEvent) -> Bool {
        (withoutFault ?? self) == (other.withoutFault ?? other)
    }
}

extension SmallEvent.Fault {
    package var isDeath: Bool {
        if case .dies = self { true } else { false }
    }
}
