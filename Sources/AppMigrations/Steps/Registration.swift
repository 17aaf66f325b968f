import MigrationDiagnostics

/// Everything that an app has registered with a manager.
struct Registration: Sendable {
    let manager: String
    let current: AppVersion
    let ignoresStepsAboveCurrent: Bool
    let environment: Environment
    /// The steps that are due, by places, the store's first: a place of later steps alone need not even exist yet.
    private(set) var due: [PlaceSteps]
    private(set) var steps: [MigrationStep] = []
    /// The bodies of the steps, by their numbers.
    private(set) var bodies: [StepBody] = []
    /// The indexes of the closures for a change of the app's version.
    private(set) var versionChanges: [Int] = []
    /// For each version of a deferred step that a later step is `finishing:`, the lowest version that needs its work.
    private(set) var deadlines: [AppVersion: AppVersion] = [:]
    /// The database of the step that was registered last in one.
    private(set) var lastPlace: (any MigrationPlace)?

    // What a launch would have to ask every step, it asks once, as the step is added.
    private let ceiling: AppVersion
    /// True if each step is above the one before it in its place, all are due, none finishes another one, and none is for fresh
    /// installs only and has a condition.
    private var isInOrder = true
    /// True if a step says when it is needed again.
    private(set) var hasConditions = false
    /// True if something may need the asynchronous forms of `migrate` and `runDeferred`.
    private var isAsynchronous = false
    private var hasAsynchronousVersionChange = false

    init(
        manager: String, current: AppVersion, storePlace: any MigrationPlace,
        ignoresStepsAboveCurrent: Bool, environment: Environment
    ) {
        self.manager = manager
        self.current = current
        self.ignoresStepsAboveCurrent = ignoresStepsAboveCurrent
        self.environment = environment
        ceiling = current.ceiling
        due = [PlaceSteps(of: storePlace)]
        steps.reserveCapacity(Self.usualCount)
        bodies.reserveCapacity(Self.usualCount)
    }

    /// Room for the steps of most managers, which no list then has to grow for.
    static let usualCount = 16

    var storePlace: any MigrationPlace { due[0].place }

    /// Adds a step.
    ///
    /// - Parameter database: the place of a step in a database; nil for one in the store.
    mutating func add(
        _ version: AppVersion, _ body: StepBody, in database: (any MigrationPlace)?,
        finishing: [AppVersion], onFreshInstall: FreshInstallRule, hasCondition: Bool, source: SourceLocation
    ) {
        let step = MigrationStep(
            version: version, place: database?.id ?? due[0].id, kind: body.kind,
            onFreshInstall: onFreshInstall, finishing: finishing, hasCondition: hasCondition,
            number: steps.count, source: source)
        steps.append(step)
        bodies.append(body)
        if let database { lastPlace = database }
        if body.isAsynchronous { isAsynchronous = true }
        if hasCondition { hasConditions = true }
        guard version <= ceiling else {
            isInOrder = false
            return
        }
        let isAbove = due[database.map { index(of: $0, step.place) } ?? 0].add(step)
        if !isAbove || onFreshInstall == .only && hasCondition || !finishing.isEmpty { isInOrder = false }
        for finished in finishing { deadlines[finished] = min(deadlines[finished] ?? version, version) }
    }

    /// Returns the index of a place, which is added if it is new.
    private mutating func index(of place: any MigrationPlace, _ id: PlaceID) -> Int {
        if let index = due.firstIndex(where: { $0.id == id }) { return index }
        due.append(PlaceSteps(of: place))
        return due.count - 1
    }

    /// Returns what a pending step does.
    func body(of step: MigrationStep) -> StepBody {
        step.kind == .versionChange ? .versionChange(versionChanges) : bodies[step.number]
    }

    /// Adds the closure with an index, which runs for each change of the app's version.
    mutating func addVersionChange(_ index: Int, isAsynchronous: Bool) {
        if isAsynchronous { hasAsynchronousVersionChange = true }
        versionChanges.append(index)
    }

    /// Reads every place.
    ///
    /// - Parameters:
    ///   - limit: the longest time to wait for others in a place; nil for the place's own.
    ///   - formers: the managers whose steps have come to this one, according to its `adopting`.
    func readStates(
        waitingUpTo limit: Duration? = nil, following formers: [FormerManager] = []
    ) -> [Result<PlaceState, any Error>] {
        due.map { steps in
            Result {
                let state = try steps.place.readState(
                    of: manager, schemaSteps: schemaSteps(steps.schemaSteps), waitingUpTo: limit)
                guard !formers.isEmpty, state.record == nil else { return state }
                return state.following(try formers.map(steps.store.formerRecord))
            }
        }
    }

    /// Returns the steps of a launch that are done and needed again, since their conditions hold.
    ///
    /// Those of deferred steps are asked right before work at or above the version of a step that is `finishing:` these, and has not
    /// begun: the work that they build on is done by then. A step whose condition fails at a row counts as needed: its own run says
    /// why, and what it reads is kept.
    ///
    /// - Parameters:
    ///   - next: the step that comes next.
    ///   - ask: asks the condition of a closure, by the closure's index.
    ///   - note: is called with the error of a condition that throws; if it returns, the condition holds.
    func needed(
        _ states: [PlaceState], before next: MigrationStep?, _ ask: (Int) throws -> Bool,
        orNote note: (MigrationError) throws -> Void
    ) throws -> [MigrationStep] {
        guard hasConditions else { return [] }
        let finishing = next.map { unbegunFinishing(states, upTo: $0) } ?? []
        func isAsked(_ step: MigrationStep, at index: Int) -> Bool {
            if !step.isDeferred { return true }
            if let next, next.place == step.place,
                comesBack(states, index, before: deadlines[step.version], at: next.version)
            {
                return true
            }
            return finishing.contains { last in
                guard last.finishing.contains(step.version) else { return false }
                // A step of this version may have run in one database, and come back with another one.
                return last.place == step.place
                    || !due[index].isOver(
                        step, states[index],
                        Set(zip(due, states).flatMap { $0.finished($1, from: last.version) }))
            }
        }
        return try needed(states, in: due, where: isAsked) { step in
            switch body(of: step) {
            case .transaction(let work): try work.isNeededAgain()
            case .batches(let work): try work.mayBeNeededAgain()
            case .closure(let index, _): try ask(index)
            case .schemaStep, .deferredClosure, .versionChange: false
            }
        } orNote: { error in
            try note(error)
            return true
        }
    }

    /// Returns the steps that are finishing deferred ones, and that other work would come before, or that come next themselves; none
    /// once the next step has begun.
    private func unbegunFinishing(_ states: [PlaceState], upTo next: MigrationStep) -> [MigrationStep] {
        guard let index = due.firstIndex(where: { $0.id == next.place }),
            isUnbegun(next, states[index], in: due[index])
        else { return [] }
        return zip(due, states).flatMap { place, state in
            (place.schemaSteps + place.closures).filter {
                !$0.finishing.isEmpty && $0.version <= next.version && isUnbegun($0, state, in: place)
            }
        }
    }

    /// Returns true if a database is older than the store, and nothing has run there yet at or above a deadline: it has come back from
    /// a backup, when the step that needs the work by then may have run elsewhere.
    private func comesBack(
        _ states: [PlaceState], _ index: Int, before deadline: AppVersion?, at version: AppVersion
    ) -> Bool {
        // A deadline may be a sub-migration, or that of a release whose pre-release is complete.
        guard let deadline, version >= deadline, let completed = states[0].record?.completed,
            completed.ceiling >= deadline,
            states[index].record?.completed ?? .zero < deadline
        else { return false }
        return (due[index].schemaSteps + due[index].closures).allSatisfy {
            $0.version < deadline || isUnbegun($0, states[index], in: due[index])
        }
    }

    /// Returns true if nothing can have been done yet of a pending step: before that, it has destroyed nothing.
    private func isUnbegun(_ step: MigrationStep, _ state: PlaceState, in place: PlaceSteps) -> Bool {
        if step.isSchemaStep {
            // Work that was never started in this record, and is above what it has completed, has applied nothing.
            let wasStarted =
                state.record.map { record in
                    record.open(step.id)?.remaining != nil
                        || record.completed.map { $0 >= step.version } == true
                } ?? true
            return zip(place.schemaSteps, state.pending).contains {
                $0.id == step.id && !$1.isEmpty && !(wasStarted && $1.hasBegun(by: step.version))
            }
        }
        let open = state.record?.open(step.id)
        if open?.isAgain == true || state.record?.isDone(step.id) == true { return false }
        return step.kind == .transaction || open?.hasBegun != true
    }

    /// Returns the deferred steps that are done and needed again, since their conditions hold.
    ///
    /// Once a step has run that is `finishing:` one, there may be nothing left that its condition could ask about. One in a place
    /// that cannot be read may have run.
    func neededDeferred(
        _ states: [PlaceState], of places: [PlaceSteps], without unreadable: [PlaceSteps],
        orNote note: (MigrationError) -> Void
    ) throws -> [MigrationStep] {
        guard hasConditions else { return [] }
        let finished = Set(
            zip(places, states).flatMap { $0.finished($1) } + unreadable.flatMap(\.finishing))
        return try needed(states, in: places) { step, index in
            step.isDeferred && !places[index].isOver(step, states[index], finished)
        } asking: { step in
            if case .batches(let work) = body(of: step) { try work.isNeededAgain() } else { false }
        } orNote: { error in
            note(error)
            return false
        }
    }

    /// Asks the conditions of steps that are done, and returns those that are needed again.
    private func needed(
        _ states: [PlaceState], in places: [PlaceSteps], where isAsked: (MigrationStep, Int) -> Bool,
        asking ask: (MigrationStep) throws -> Bool, orNote note: (MigrationError) throws -> Bool
    ) throws -> [MigrationStep] {
        let all = zip(places, states)
        return try places.indices.flatMap { index in
            let (place, state) = (places[index], states[index])
            return try place.closures.filter { step in
                guard isAsked(step, index), place.canAsk(step, state, at: current, among: all)
                else { return false }
                do {
                    return try ask(step)
                } catch {
                    // On a new install, the app may have yet to make what the condition asks about; columns come with its first
                    // launch.
                    if !state.hasRun(step.id),
                        error.isAboutMissingData
                            || error.isAboutMissingColumn && state.record?.completed == nil
                    {
                        return false
                    }
                    let work = place.work(of: step, manager: manager)
                    return try note(MigrationError(ofCondition: step, error, work: work))
                }
            }
        }
    }

    private func schemaSteps(_ steps: [MigrationStep]) -> [any SchemaStepWork] {
        var schemaSteps: [any SchemaStepWork] = []
        for step in steps {
            if case .schemaStep(let schemaStep) = bodies[step.number] { schemaSteps.append(schemaStep) }
        }
        return schemaSteps
    }

    /// The work that is due, in the order in which it would run.
    var work: [MigrationWork] {
        let steps = due.flatMap { place in
            (place.schemaSteps + place.closures).map {
                (step: $0, work: place.work(of: $0, manager: manager))
            }
        }
        return steps.inOrder { $0.step.runsBefore($1.step) }.map(\.work)
    }

    /// Throws if the synchronous `migrate` cannot run everything that is registered, pending or not.
    func checkSynchronous() throws {
        guard isAsynchronous || hasAsynchronousVersionChange else { return }
        let finished = Set(steps.flatMap(\.finishing))
        let step = steps.first { step in
            bodies[step.number].isAsynchronous && (!step.isDeferred || finished.contains(step.version))
        }
        let title =
            step?.titleAndSource
            ?? (hasAsynchronousVersionChange ? "a closure for version changes" : nil)
        guard let title else { return }
        throw MigrationError.asynchronous(title, in: "migrate", manager: manager, version: step?.version)
    }

    // MARK: Mistakes

    /// Throws every mistake in the registered steps, so that a developer fixes them in one go.
    ///
    /// - Throws: ``MigrationError`` with the code `misuse`.
    func check() throws {
        if isInOrder, due.allSatisfy(\.schemaSteps.isEmpty) { return }
        var found: [(step: MigrationStep, mistake: MigrationError)] = []
        func note(_ step: MigrationStep, _ problem: String, _ remedy: String) {
            let mistake = MigrationError(
                .misuse, "\(step.title) \(problem) (\(step.line))", remedy: remedy,
                manager: manager, version: step.version)
            found.append((step, mistake))
        }
        if !isInOrder {
            for steps in Dictionary(grouping: steps, by: \.place).values { checkVersions(of: steps, note) }
        }
        let schemaSteps = Dictionary(grouping: steps.filter(\.isSchemaStep), by: \.place).values
        if !isInOrder { checkFinishing(schemaSteps, note) }
        for steps in schemaSteps {
            let works = self.schemaSteps(steps)
            for mistake in works[0].mistakes(in: works) {
                note(steps[mistake.index], mistake.problem, mistake.remedy)
            }
        }
        guard !found.isEmpty else { return }
        throw MigrationError(
            found.inOrder { $0.step.number < $1.step.number }.map(\.mistake), manager: manager)
    }

    private typealias Note = (MigrationStep, _ problem: String, _ remedy: String) -> Void

    /// Versions are unique and ascending place by place, so that a loop over several databases may register the same
    /// versions.
    private func checkVersions(of steps: [MigrationStep], _ note: Note) {
        var taken: [WorkID: MigrationStep] = [:]
        var highest: MigrationStep?
        for step in steps {
            if let other = taken[step.id] {
                note(
                    step, "is registered twice, first at \(other.line)",
                    step.isSchemaStep
                        ? "A version has at most one schema step for each database."
                        : "A version has at most one closure: join the two, or give the later one a sub-migration number."
                )
            } else if let highest, step.version < highest.version {
                note(
                    step, "is registered after \(highest.version)",
                    step.id.givenVersion == nil
                        ? "Register a schema step without a version before the other steps of its database."
                        : "Register steps in ascending order.")
            }
            if step.version > ceiling, !ignoresStepsAboveCurrent {
                note(
                    step, "is above the current version \(current)",
                    "Raise the app's version, or register the step when it is reached.")
            }
            taken[step.id] = taken[step.id] ?? step
            if highest.map({ $0.version < step.version }) ?? true { highest = step }
        }
    }

    /// A step finishes deferred steps of versions below its own, in whatever place they are.
    private func checkFinishing(_ schemaSteps: some Collection<[MigrationStep]>, _ note: Note) {
        let finishesSteps = steps.contains { !$0.finishing.isEmpty }
        for step in schemaSteps.flatMap({ $0.dropLast() }) where finishesSteps {
            guard case .schemaStep(let body) = bodies[step.number], body.goesToLatest else { continue }
            // It would take along what a later one does after its `finishing:`.
            note(
                step,
                "goes to the latest schema version, but a later schema step follows, and a step is `finishing:`",
                "Name its version with `upTo:`: otherwise it applies what has to wait for the deferred step.")
        }
        for step in steps {
            if step.onFreshInstall == .only, step.hasCondition {
                note(
                    step, "is for fresh installs only, and has a condition",
                    "Remove `again`: it would run on other installs.")
            }
            for version in step.finishing {
                let isDeferred = steps.contains {
                    $0.isDeferred && $0.version == version && $0.version < step.version
                }
                if !isDeferred {
                    note(
                        step, "finishes \(version), but no deferred step before it has that version",
                        "Name the version of a deferred step that is registered for an earlier version.")
                }
                if step.onFreshInstall == .only {
                    note(
                        step, "is for fresh installs only, and finishes \(version)",
                        "Remove `finishing`: it runs before every other step.")
                }
            }
        }
    }
}
