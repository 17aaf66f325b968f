import Foundation

extension MigrationManager {
    /// Runs every pending step, oldest first, and reports what it did.
    ///
    /// Call it on every launch, once everything is registered and before the data is used. Steps run on the
    /// calling thread, which waits; steps of a database run on the database's queue.
    ///
    /// ```swift
    /// let report = try manager.migrate()
    /// ```
    ///
    /// - Parameters:
    ///   - stop: stops after this version, for code that must run between two steps. Call `migrate()` afterwards: it
    ///     alone completes the launch. Nil for the whole launch.
    ///   - retried: work to retry although the manager has given up on it: for the app's recovery screen, after the error
    ///     `gaveUp`.
    /// - Throws: ``MigrationError``. Mistakes in the registration are thrown before anything runs; one of them is
    ///   an asynchronous step, pending or not. When a step throws, earlier steps stay complete, and the next launch
    ///   retries the step. `CancellationError`, when ``progress`` is cancelled.
    @discardableResult
    public func migrate(
        through stop: AppVersion? = nil, retrying retried: MigrationWork? = nil
    ) throws -> MigrationReport {
        try exclusively {
            try registration.checkSynchronous()
            let request = try request(through: stop, retrying: retried)
            try registration.check()
            decideAnew()
            let look = look()

            var plan = try plan(request, look())
            if try isSettled(plan) {
                begin(plan)
                return end(plan, nil)
            }

            let lock = try RunLock.take(name, of: store, waitingFor: patience)
            defer { lock.release() }
            if lock.hasDied { try findingDeaths(patience)() }
            // Another process may have done it all while this one waited.
            plan = try self.plan(request, look())
            let run = run(plan, lock, patience)
            try LaunchRun(run).begin().run()
            return end(plan, run)
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
    ///   - retried: work to run again although the manager gave up on it.
    ///   - isolation: the actor on which plain steps run; by default that of the caller.
    /// - Throws: as the synchronous form does.
    @discardableResult
    public func migrate(
        through stop: AppVersion? = nil, retrying retried: MigrationWork? = nil,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> MigrationReport {
        try enter()
        defer { leave() }
        let request = try request(through: stop, retrying: retried)
        try registration.check()
        decideAnew()
        let look = look()

        var plan = try plan(request, await offload(look))
        if try isSettled(plan) {
            begin(plan)
            return end(plan, nil)
        }

        let patience = options.lockTimeout ?? .seconds(60)
        let lock = try await RunLock.take(name, of: store, waitingFor: patience, isolation: isolation)
        defer { lock.release() }
        if lock.hasDied { try await offload(findingDeaths(patience)) }
        plan = try self.plan(request, await offload(look))
        let run = run(plan, lock, patience)
        try await withTaskCancellationHandler {
            // Naming the actor here makes the closure run on it (SE-0420); without it, it would run anywhere.
            try await LaunchRun(run).begin().run(isolation: isolation)
        } onCancel: {
            lock.interruption.cancel()
        }
        return end(plan, run)
    }
}

extension MigrationManager {
    /// Returns true if there is nothing to do.
    ///
    /// A process that waits for another one throws unless no work is pending; the other one will write down the
    /// new version.
    private func isSettled(_ plan: LaunchPlan) throws -> Bool {
        guard case .waitsForApp = options.role else { return plan.isSettled }
        try plan.checkMigrated()
        return true
    }

    /// Forgets what was decided about a launch, unless a call of `migrate(through:)` has begun it.
    private func decideAnew() {
        if !memory.isPartial { memory = LaunchMemory(deferred: memory.deferred) }
    }

    /// Returns a closure that turns work that was running into deaths, in every place, once the lock of the process that
    /// died is taken.
    ///
    /// Does input and output, on any thread. Before anything else, so that no run that is cut short loses a death.
    func findingDeaths(_ patience: Duration) -> @Sendable () throws -> Void {
        { [name, stores = registration.places.map(\.store)] in
            for store in stores {
                try store.findDeaths(of: name, isDeferred: false, waitingUpTo: patience)
            }
        }
    }

    private func run(_ plan: LaunchPlan, _ lock: RunLock, _ patience: Duration) -> RunState {
        progress.completedUnitCount = memory.weight
        progress.totalUnitCount = max(
            1, plan.pending.reduce(memory.weight + plan.weightAbove) { $0 + $1.weight })
        begin(plan)
        return RunState(
            plan, registration, lock, progress: progress, timeout: patience, tally: memory.tally, tell: tell)
    }

    private func begin(_ plan: LaunchPlan) {
        tell(.launchRecognized(plan.places[0].launch))
        for database in plan.newerDatabases { tell(.databaseIsNewer(database)) }
    }

    /// Reports a call, and keeps what it has done for the report of the call that completes the launch.
    private func end(_ plan: LaunchPlan, _ run: RunState?) -> MigrationReport {
        let isComplete = plan.request.stop == nil
        if isComplete { progress.completedUnitCount = progress.totalUnitCount }
        let tally = run?.tally ?? memory.tally
        let report = MigrationReport(plan, tally, run)
        tell(.finished(report))
        memory.isPartial = !isComplete
        memory.tally = isComplete ? Tally() : tally
        memory.weight = isComplete ? 0 : progress.completedUnitCount
        return report
    }

    func tell(_ kind: MigrationEvent.Kind) {
        guard environment.observer != nil || options.onEvent != nil else { return }
        let event = MigrationEvent(manager: name, kind: kind)
        environment.observer?.note(event)
        options.onEvent?(event)
    }
}
