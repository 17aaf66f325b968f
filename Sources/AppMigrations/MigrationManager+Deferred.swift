// Work that no launch has to wait for.
extension MigrationManager {
    /// Registers a step that runs after the launch, outside databases: hashing files, or making thumbnails.
    ///
    /// ```swift
    /// manager.afterMigratingToVersion("2.1-2") { context in
    ///     let done = try context.lastCheckpoint(as: Int.self) ?? 0
    ///     for (index, file) in try imageFiles().enumerated().dropFirst(done) {
    ///         try await makeThumbnail(of: file)
    ///         try context.checkpoint(index + 1)
    ///     }
    /// }
    /// ```
    ///
    /// ``migrate(through:retrying:)`` only reports it; ``runDeferred(for:retrying:)`` runs it, on the actor that calls it.
    /// Work after the last checkpoint runs *at least once*. A fresh install does not need the step.
    ///
    /// - Parameters:
    ///   - version: above that of every step registered before, and at most the current version or one of its
    ///     sub-migrations.
    ///   - onFreshInstall: whether the step runs where there is no old data.
    ///   - onError: whether the manager gives up on the step after some runs in which it failed.
    ///   - fileID: the file of the registration, for messages.
    ///   - line: the line in it.
    ///   - body: does the work, and saves checkpoints.
    public func afterMigratingToVersion(
        _ version: AppVersion, onFreshInstall: FreshInstallRule = .skip, onError: ErrorRule = .stop,
        fileID: StaticString = #fileID, line: UInt = #line,
        run body: nonisolated(nonsending) @escaping (MigrationContext) async throws -> Void
    ) {
        register(
            version, .deferredClosure(body), onFreshInstall: onFreshInstall, onError: onError,
            source: SourceLocation(fileID: fileID, line: line))
    }

    /// Runs deferred steps, oldest first, until all are done or the time is over.
    ///
    /// Call it once ``migrate(through:retrying:)`` has returned, on every launch, or from a background task. It works in
    /// batches of about 50 ms, each in a short transaction, and pauses as long as a batch took, at most a second, so that
    /// the app can write. It ends at the end of a batch: when all is done, when the time is over, when the task is
    /// cancelled, or when the system is about to suspend the app. The next call continues there.
    ///
    /// A batch that throws is rolled back, and halved until the error names the row to blame. The step then waits for
    /// the next call, while other steps go on.
    ///
    /// - Parameters:
    ///   - limit: the longest time to run; nil for as long as it takes.
    ///   - version: a step to retry although the manager gave up on it because the process died in it.
    ///   - isolation: the actor on which deferred closures run; the calling one.
    /// - Returns: what was done. If another process is running deferred steps, returns at once.
    /// - Throws: ``MigrationError``: with the code `notYetMigrated` unless ``migrate(through:retrying:)`` has completed
    ///   this launch.
    @discardableResult
    public func runDeferred(
        for limit: Duration? = nil, retrying version: AppVersion? = nil,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> DeferredReport {
        var plan = try await planDeferred(retrying: version, isolation: isolation)
        guard !plan.deferred.isEmpty else { return end(plan, Tally()) }
        let taken = try await offload { [store, name] in try store.lock(LockName.deferred(of: name)) }
        guard case .acquired(let release) = taken else {
            return DeferredReport(plan, isRunningElsewhere: true)
        }
        // On this task, which may have an activity of its own.
        let lock = RunLock(name, release)
        defer { lock.release() }
        // Another process may have done it all until now.
        plan = try await planDeferred(retrying: version, isolation: isolation)
        let stepper = deferredStepper(plan, limit, lock)
        try await withTaskCancellationHandler {
            // Naming the actor here makes the closure run on it (SE-0420); without it, it would run anywhere.
            try await stepper.run(isolation: isolation)
        } onCancel: {
            lock.interruption.cancel()
        }
        return end(plan, stepper.tally)
    }

    /// Runs deferred steps in databases on this thread, for scripts and tests.
    ///
    /// - Throws: as the asynchronous form does; also when a deferred closure is pending, which only that form can run.
    @discardableResult
    public func runDeferred(
        for limit: Duration? = nil, retrying version: AppVersion? = nil
    ) throws -> DeferredReport {
        var plan = try planDeferred(retrying: version)
        if let closure = plan.deferred.first(where: { $0.step.kind == .deferredClosure }) {
            throw MigrationError(
                .invalidCall, "\(closure.step.titleAndSource) is asynchronous",
                remedy: Registration.asynchronousRemedy("runDeferred"), manager: name,
                version: closure.step.version)
        }
        guard !plan.deferred.isEmpty else { return end(plan, Tally()) }
        guard case .acquired(let release) = try store.lock(LockName.deferred(of: name)) else {
            return DeferredReport(plan, isRunningElsewhere: true)
        }
        let lock = RunLock(name, release)
        defer { lock.release() }
        plan = try planDeferred(retrying: version)
        let stepper = deferredStepper(plan, limit, lock)
        try stepper.run()
        return end(plan, stepper.tally)
    }

    /// Returns the deferred steps that wait, in order, with their progress.
    ///
    /// - Throws: ``MigrationError``, as ``migrate(through:retrying:)`` does before anything runs.
    public func pendingDeferred() throws -> [PendingDeferredStep] {
        try exclusively { try plan().pendingDeferred() }
    }

    private func planDeferred(retrying version: AppVersion?) throws -> LaunchPlan {
        try exclusively { try checkMigrated(plan(retrying: version)) }
    }

    private func planDeferred(
        retrying version: AppVersion?, isolation: isolated (any Actor)?
    ) async throws -> LaunchPlan {
        try enter()
        defer { leave() }
        try registration.check()
        let request = try request(through: nil, retrying: version)
        return try checkMigrated(plan(request, await offload(registration.look())))
    }

    private func checkMigrated(_ plan: LaunchPlan) throws -> LaunchPlan {
        guard options.role == .migrates else { throw MigrationError.neverWrites(name) }
        guard plan.isReadyForDeferred else {
            throw MigrationError(
                .notYetMigrated, "`migrate()` hasn't succeeded yet",
                remedy: "Call migrate() first, and runDeferred() when it has succeeded.", manager: name)
        }
        return plan
    }

    private func deferredStepper(
        _ plan: LaunchPlan, _ limit: Duration?, _ lock: RunLock
    ) -> Stepper {
        Stepper(
            .deferred(
                until: limit.map { .now + $0 },
                DeferredProgress(deferredProgress, plan.pendingDeferred(), settledBefore: launch.deferred)),
            plan, registration, progress: deferredProgress, interruption: lock.interruption,
            timeout: options.lockTimeout ?? .seconds(5), tell: tell)
    }

    private func end(_ plan: LaunchPlan, _ tally: Tally) -> DeferredReport {
        launch.deferred += tally.ended.count
        return DeferredReport(plan, tally)
    }
}
