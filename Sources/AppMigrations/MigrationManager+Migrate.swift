import Foundation

extension MigrationManager {
    /// Runs every pending step, oldest first, and reports what it did.
    ///
    /// Call it on every launch, once everything is registered and before the data is used. Steps run on the
    /// calling thread, which waits; steps and moves of a database run on the database's queue.
    ///
    /// - Throws: ``MigrationError``. Mistakes in the registration are thrown before anything runs; one of them is
    ///   an asynchronous step, pending or not. When a step throws, earlier steps stay complete, and the next launch
    ///   retries the step. `CancellationError`, when ``progress`` is cancelled.
    @discardableResult
    public func migrate() throws -> MigrationReport {
        try launch(through: nil)
    }

    /// Runs every pending step, oldest first, and reports what it did.
    ///
    /// Plain steps run on the calling actor. Everything else, above all input and output, runs elsewhere, so that
    /// the actor is never blocked. Cancelling the task stops the run as cancelling ``progress`` does, and leaves
    /// the manager usable.
    ///
    /// - Throws: as the synchronous ``migrate()`` does.
    @discardableResult
    public func migrate(isolation: isolated (any Actor)? = #isolation) async throws -> MigrationReport {
        try await launch(through: nil, isolation: isolation)
    }

    /// Runs the steps that are pending up to a version, that version included.
    ///
    /// For code that must run between two steps. Call ``migrate()`` afterwards: it alone completes the launch.
    ///
    /// - Throws: ``MigrationError``, as ``migrate()`` does; also when the version is above the current one.
    @discardableResult
    public func migrate(through version: AppVersion) throws -> MigrationReport {
        try launch(through: version)
    }

    /// Runs the steps that are pending up to a version, that version included.
    ///
    /// - Throws: as the synchronous ``migrate(through:)`` does.
    @discardableResult
    public func migrate(
        through version: AppVersion, isolation: isolated (any Actor)? = #isolation
    ) async throws -> MigrationReport {
        try await launch(through: version, isolation: isolation)
    }

    /// Runs every pending step, and retries one that the manager gave up.
    ///
    /// For the app's recovery screen, after the error `gaveUp`.
    ///
    /// - Throws: as ``migrate()`` does.
    @discardableResult
    public func migrate(retrying version: AppVersion) throws -> MigrationReport {
        try launch(through: nil, retrying: version)
    }

    /// Runs every pending step, and retries one that the manager gave up.
    ///
    /// - Throws: as ``migrate()`` does.
    @discardableResult
    public func migrate(
        retrying version: AppVersion, isolation: isolated (any Actor)? = #isolation
    ) async throws -> MigrationReport {
        try await launch(through: nil, retrying: version, isolation: isolation)
    }
}

// One launch, in two forms that share everything but the waiting.
extension MigrationManager {
    private func launch(through stop: AppVersion?, retrying: AppVersion? = nil) throws -> MigrationReport {
        try exclusively {
            try checkSynchronous()
            let request = try request(through: stop, retrying: retrying)
            let steps = try registration.checked()
            let look = steps.look(for: name)

            var plan = try plan(request, steps, look())
            if try isSettled(plan) { return finish(plan) }

            let patience = options.lockTimeout ?? .seconds(5)
            let lock = try RunLock.take(name, of: store, waitingFor: patience)
            defer { lock.release() }
            // Another process may have done it all while this one waited.
            plan = try self.plan(request, steps, look())
            return end(try run(plan, lock, patience).perform(), of: plan)
        }
    }

    private func launch(
        through stop: AppVersion?, retrying: AppVersion? = nil, isolation: isolated (any Actor)?
    ) async throws -> MigrationReport {
        try enter()
        defer { leave() }
        let request = try request(through: stop, retrying: retrying)
        let steps = try registration.checked()
        let look = steps.look(for: name)

        var plan = try plan(request, steps, await offload(look))
        if try isSettled(plan) { return finish(plan) }

        let patience = options.lockTimeout ?? .seconds(60)
        let lock = try await RunLock.take(name, of: store, waitingFor: patience, isolation: isolation)
        defer { lock.release() }
        plan = try self.plan(request, steps, await offload(look))
        let run = run(plan, lock, patience)
        let report = try await withTaskCancellationHandler {
            // Naming the actor here makes the closure run on it (SE-0420); without it, it would run anywhere.
            try await run.perform(isolation: isolation)
        } onCancel: {
            lock.interruption.cancel()
        }
        return end(report, of: plan)
    }

    /// Plans the launch as it stands, without writing or locking.
    func plan(retrying: AppVersion? = nil) throws -> LaunchPlan {
        let request = try request(through: nil, retrying: retrying)
        let steps = try registration.checked()
        return try plan(request, steps, steps.look(for: name)())
    }

    /// Plans the launch as it stands, without writing, locking or blocking the actor.
    func plan(retrying: AppVersion?, isolation: isolated (any Actor)?) async throws -> LaunchPlan {
        let request = try request(through: nil, retrying: retrying)
        let steps = try registration.checked()
        return try plan(request, steps, await offload(steps.look(for: name)))
    }

    private func request(through stop: AppVersion?, retrying: AppVersion?) throws -> LaunchRequest {
        if let stop, stop > currentVersion.ceiling {
            throw MigrationError(
                .invalidCall, "cannot migrate through \(stop), above the current version \(currentVersion)",
                remedy: "Ask for the current version or one below it.", manager: name, version: stop)
        }
        return LaunchRequest(
            manager: name, current: currentVersion, build: build, line: options.line,
            oldestSupported: options.oldestSupported, maximumAttempts: max(1, options.maximumAttempts),
            retrying: retrying, stop: stop)
    }

    private func plan(_ request: LaunchRequest, _ steps: [PlaceSteps], _ states: [PlaceState]) throws
        -> LaunchPlan
    {
        if let adopting = options.adopting, answer == nil,
            LaunchPlan.needsAdoption(adopting.subject, request, steps, states, decided: decision)
        {
            answer = try adopting.answer()
        }
        return try LaunchPlan(request, steps, states, decided: decision, answer: answer)
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

    private func finish(_ plan: LaunchPlan) -> MigrationReport {
        let report = begin(plan)
        if plan.request.stop == nil { progress.completedUnitCount = progress.totalUnitCount }
        tell(.finished(report))
        return end(report, of: plan)
    }

    private func run(_ plan: LaunchPlan, _ lock: RunLock, _ patience: Duration) -> LaunchRun {
        progress.completedUnitCount = weightSoFar
        progress.totalUnitCount = max(
            1, plan.pending.reduce(weightSoFar + plan.weightAbove) { $0 + $1.weight })
        return LaunchRun(
            plan, changes: registration.versionChanges, progress: progress, interruption: lock.interruption,
            report: begin(plan), writeTimeout: patience, tell: tell)
    }

    /// Decides the launch, and opens its report with what `migrate(through:)` has done before.
    private func begin(_ plan: LaunchPlan) -> MigrationReport {
        decision = plan.decision
        var report = plan.report
        tell(.launchRecognized(report.launch))
        (report.completed, report.moves, report.skipped) = completedSoFar
        return report
    }

    /// Keeps what a call has done for the report of the call that completes the launch.
    private func end(_ report: MigrationReport, of plan: LaunchPlan) -> MigrationReport {
        completedSoFar =
            plan.request.stop == nil ? ([], [], []) : (report.completed, report.moves, report.skipped)
        weightSoFar = plan.request.stop == nil ? 0 : progress.completedUnitCount
        return report
    }

    func tell(_ kind: MigrationEvent.Kind) {
        guard witness != nil || options.onEvent != nil else { return }
        let event = MigrationEvent(manager: name, kind: kind)
        witness?.note(event)
        options.onEvent?(event)
    }

    private func checkSynchronous() throws {
        if registration.versionChanges.contains(where: \.isAsynchronous) {
            throw MigrationError(
                .invalidRegistration, "a closure for version changes is asynchronous",
                remedy: "Call it as try await manager.migrate().", manager: name)
        }
        guard let step = registration.firstAsynchronousStep else { return }
        throw MigrationError(
            .invalidRegistration, "\(step.titleAndSource) is asynchronous",
            remedy: "Call it as try await manager.migrate().", manager: name, version: step.version)
    }
}
