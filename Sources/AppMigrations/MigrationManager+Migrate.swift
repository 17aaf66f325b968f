public import Foundation

extension MigrationManager {
    /// Runs every pending step, oldest first, and reports what it did.
    ///
    /// Call it on every launch, once everything is registered and before the data is used. Steps run on the
    /// calling thread, which waits; steps and moves of a database run on the database's queue.
    ///
    /// ```swift
    /// let report = try manager.migrate()
    /// ```
    ///
    /// - Parameters:
    ///   - stop: stops after this version, for code that must run between two steps. Call `migrate()` afterwards: it
    ///     alone completes the launch. Nil for the whole launch.
    ///   - retried: the version of a step to retry although the manager has given up on it: for the app's recovery
    ///     screen, after the error `gaveUp`.
    /// - Throws: ``MigrationError``. Mistakes in the registration are thrown before anything runs; one of them is
    ///   an asynchronous step, pending or not. When a step throws, earlier steps stay complete, and the next launch
    ///   retries the step. `CancellationError`, when ``progress`` is cancelled.
    @discardableResult
    public func migrate(
        through stop: AppVersion? = nil, retrying retried: AppVersion? = nil
    ) throws -> MigrationReport {
        try exclusively {
            try registration.checkSynchronous()
            let request = try request(through: stop, retrying: retried)
            try registration.check()
            let look = registration.look()

            var plan = try plan(request, look())
            if try isSettled(plan) {
                begin(plan)
                return end(plan, launch.tally)
            }

            let patience = options.lockTimeout ?? .seconds(5)
            let lock = try RunLock.take(name, of: store, waitingFor: patience)
            defer { lock.release() }
            // Another process may have done it all while this one waited.
            plan = try self.plan(request, look())
            let stepper = stepper(plan, lock, patience)
            try stepper.run()
            return end(plan, stepper.tally)
        }
    }

    /// Runs every pending step, oldest first, and reports what it did.
    ///
    /// ```swift
    /// let report = try await manager.migrate()
    /// ```
    ///
    /// Plain steps run on the calling actor. Everything else, above all input and output, runs elsewhere, so that
    /// the actor is never blocked. Cancelling the task stops the run as cancelling ``progress`` does, and leaves
    /// the manager usable.
    ///
    /// - Note: At the top level of a `main.swift`, Swift calls the synchronous form, even after `await`. Put the call into
    ///   an `async` function there.
    /// - Parameters:
    ///   - stop: the version up to which pending steps run; nil for all.
    ///   - retried: the version of a step to run again although the manager gave up on it.
    ///   - isolation: the actor on which plain steps run; by default that of the caller.
    /// - Throws: as the synchronous form does.
    @discardableResult
    public func migrate(
        through stop: AppVersion? = nil, retrying retried: AppVersion? = nil,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> MigrationReport {
        try enter()
        defer { leave() }
        let request = try request(through: stop, retrying: retried)
        try registration.check()
        let look = registration.look()

        var plan = try plan(request, await offload(look))
        if try isSettled(plan) {
            begin(plan)
            return end(plan, launch.tally)
        }

        let patience = options.lockTimeout ?? .seconds(60)
        let lock = try await RunLock.take(name, of: store, waitingFor: patience, isolation: isolation)
        defer { lock.release() }
        plan = try self.plan(request, await offload(look))
        let stepper = stepper(plan, lock, patience)
        try await withTaskCancellationHandler {
            // Naming the actor here makes the closure run on it (SE-0420); without it, it would run anywhere.
            try await stepper.run(isolation: isolation)
        } onCancel: {
            lock.interruption.cancel()
        }
        return end(plan, stepper.tally)
    }

    /// Returns the versions whose closure would run now, in order.
    ///
    /// Changes nothing.
    ///
    /// - Throws: ``MigrationError``, as ``migrate(through:retrying:)`` does before anything runs.
    public func pendingVersions() throws -> [AppVersion] {
        try exclusively {
            try plan().pending.map(\.step).filter { !$0.isMove && $0.kind != .versionChange }.map(\.version)
        }
    }

    /// Returns the moves that would apply something now, in order.
    ///
    /// Changes nothing.
    ///
    /// - Throws: ``MigrationError``, as ``migrate(through:retrying:)`` does before anything runs.
    public func pendingMoves() throws -> [MigrationMove] {
        try exclusively {
            let plan = try plan()
            return plan.pending.filter(\.step.isMove).map { pending in
                MigrationMove(
                    version: pending.step.version, database: plan.places[pending.place].steps.name,
                    schemaVersions: pending.move.apply, undone: pending.move.undo)
            }
        }
    }

    /// Returns the settled steps, oldest first, from the store and from the databases that steps are registered for.
    ///
    /// - Throws: ``MigrationError``, when a store cannot be read.
    public func history() throws -> [SettledStep] {
        try exclusively {
            let steps = try registration.places.flatMap { try $0.store.history(name) }
            return steps.sorted { ($0.date, $0.version) < ($1.date, $1.version) }
        }
    }

    /// Returns the app versions that the store has seen, in the order in which they came, each with the date at which it
    /// came first.
    ///
    /// - Throws: ``MigrationError``, when the store cannot be read.
    public func seenVersions() throws -> [(version: AppVersion, date: Date)] {
        try exclusively {
            try store.read(name).seen[options.line, default: []].filter { $0.version != .zero }
                .map { ($0.version, $0.first) }
        }
    }
}

extension MigrationManager {
    /// Plans the launch as it stands, without writing or locking.
    func plan(retrying: AppVersion? = nil) throws -> LaunchPlan {
        try registration.check()
        return try plan(request(through: nil, retrying: retrying), registration.look()())
    }

    func request(through stop: AppVersion?, retrying: AppVersion?) throws -> LaunchRequest {
        if let stop, stop > currentVersion.ceiling {
            throw MigrationError(
                .invalidCall, "cannot migrate through \(stop), above the current version \(currentVersion)",
                remedy: "Ask for the current version or one below it.", manager: name, version: stop)
        }
        return LaunchRequest(
            manager: name, current: currentVersion, build: build, line: options.line,
            oldestSupported: options.oldestSupported, maximumAttempts: max(1, options.maximumAttempts),
            retrying: retrying, stop: stop, hasVersionChanges: !registration.versionChanges.isEmpty,
            date: Date())
    }

    /// Decides the kind of launch in each place, asks the app where its answer is needed, and plans.
    ///
    /// - Parameter steps: the steps of the places with these states; nil for those of all places.
    func plan(
        _ request: LaunchRequest, _ looks: [Result<PlaceState, any Error>], of steps: [PlaceSteps]? = nil
    ) throws -> LaunchPlan {
        let steps = steps ?? registration.due
        let states = try looks.map { try $0.get() }
        let launches = try states.indices.map { index in
            func verdict() -> Verdict {
                Verdict(
                    on: index, of: states, request,
                    earlier: launch.decision?.launches[steps[index].id],
                    answer: launch.answer)
            }
            var found = verdict()
            if found == .askTheApp {
                let question = Adoption.Question(current: request.current, line: request.line)
                launch.answer = AdoptionAnswer(version: try adopting.answer(question))
                found = verdict()
            }
            switch found {
            case .decided(let launch): return launch
            case .undecided(let culprit):
                throw MigrationError.undecided(steps[culprit], states[culprit].evidence, request)
            case .askTheApp: preconditionFailure("The app has been asked.")
            }
        }
        return try LaunchPlan(request, steps, states, launches: launches, earlier: launch.decision)
    }

    /// Returns true if there is nothing to do.
    ///
    /// A process that waits for another one throws unless no work is pending; the other one will write down the
    /// new version.
    private func isSettled(_ plan: LaunchPlan) throws -> Bool {
        guard case .waits = options.role else { return plan.isSettled }
        try plan.checkMigrated()
        return true
    }

    private func stepper(
        _ plan: LaunchPlan, _ lock: RunLock, _ patience: Duration
    ) -> Stepper {
        progress.completedUnitCount = launch.weight
        progress.totalUnitCount = max(
            1, plan.pending.reduce(launch.weight + plan.weightAbove) { $0 + $1.weight })
        begin(plan)
        return Stepper(
            .launch, plan, registration, registration.places, lock, progress: progress, timeout: patience,
            tally: launch.tally, tell: tell)
    }

    private func begin(_ plan: LaunchPlan) {
        launch.decision = plan.decision
        tell(.launchRecognized(plan.places[0].launch))
        for database in plan.newerDatabases { tell(.databaseIsNewer(database)) }
    }

    /// Reports a call, and keeps what it has done for the report of the call that completes the launch.
    private func end(_ plan: LaunchPlan, _ tally: Tally) -> MigrationReport {
        let isComplete = plan.request.stop == nil
        if isComplete { progress.completedUnitCount = progress.totalUnitCount }
        let report = MigrationReport(plan, tally)
        tell(.finished(report))
        launch.tally = isComplete ? Tally() : tally
        launch.weight = isComplete ? 0 : progress.completedUnitCount
        return report
    }

    func tell(_ kind: MigrationEvent.Kind) {
        guard observer != nil || options.onEvent != nil else { return }
        let event = MigrationEvent(kind, of: name, options)
        observer?.note(event)
        options.onEvent?(event)
    }
}
