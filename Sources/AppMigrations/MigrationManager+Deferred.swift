// Work that no launch has to wait for.
extension MigrationManager {
    /// Registers a step that runs after the launch, outside databases: hashing files, or making thumbnails.
    ///
    /// ```swift
    /// manager.whenMigratingToVersion("2.1-2", deferred: .afterLaunch) { context in
    ///     let done = try context.lastCheckpoint(as: Int.self) ?? 0
    ///     for (index, file) in try imageFiles().enumerated().dropFirst(done) {
    ///         try await makeThumbnail(of: file)
    ///         try context.checkpoint(index + 1)
    ///     }
    /// }
    /// ```
    ///
    /// ``migrate()`` only reports it; ``runDeferred(for:retrying:)`` runs it, on the actor that calls it. What comes after the
    /// last checkpoint runs *at least once*. A fresh install does not need it.
    ///
    /// - Parameters:
    ///   - version: above that of every step registered before, and at most the current version or one of its
    ///     sub-migrations.
    ///   - start: when the step runs.
    ///   - onFreshInstall: whether the step runs where there is no old data.
    ///   - onError: whether the manager gives up on the step after some runs in which it threw.
    ///   - fileID: the file of the registration, for messages.
    ///   - line: the line in it.
    ///   - body: does the work, and saves checkpoints.
    public func whenMigratingToVersion(
        _ version: AppVersion, deferred start: DeferredStart, onFreshInstall: FreshInstallRule = .skip,
        onError: ErrorRule = .stop, fileID: StaticString = #fileID, line: UInt = #line,
        run body: nonisolated(nonsending) @escaping (DeferredContext) async throws -> Void
    ) {
        register(
            MigrationStep(
                version: version, place: registration.storePlace, work: .deferredClosure(body),
                onFreshInstall: onFreshInstall, onError: onError,
                source: SourceLocation(fileID: fileID, line: line)))
    }

    /// Runs deferred steps, oldest first, until all are done or the time is over.
    ///
    /// Call it once ``migrate()`` has returned, on every launch, or from a background task. It works in batches of about
    /// 50 ms, each in a short transaction, and pauses as long as a batch took, at most a second, so that the app can
    /// write. It ends at the end of a batch: when all is done, when the time is over, when the task is cancelled, or when
    /// the system is about to suspend the app. The next call continues there.
    ///
    /// A batch that throws is rolled back, and halved until the error names the row to blame. The step then waits for
    /// the next call, while other steps go on.
    ///
    /// - Parameters:
    ///   - limit: the longest time to run; nil for as long as it takes.
    ///   - version: a step to retry although the manager gave up on it because the process died in it.
    ///   - isolation: the actor on which deferred closures run; the calling one.
    /// - Returns: what was done. If another process is running deferred steps, returns at once.
    /// - Throws: ``MigrationError``: with the code `notYetMigrated` unless ``migrate()`` has completed this launch.
    @discardableResult
    public func runDeferred(
        for limit: Duration? = nil, retrying version: AppVersion? = nil,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> DeferredReport {
        let plan = try await deferredPlan(retrying: version, isolation: isolation)
        guard !plan.deferred.isEmpty else { return DeferredReport(manager: name) }
        let lockName = LockName.deferred(of: name)
        guard let lock = try await offload({ [store] in try RunLock.takeIfFree(lockName, of: store) }) else {
            return runningElsewhere(plan)
        }
        defer { lock.release() }
        // Another process may have done it all until now.
        let run = deferredRun(
            try await deferredPlan(retrying: version, isolation: isolation), limit, lock)
        let report = try await withTaskCancellationHandler {
            // Naming the actor here makes the closure run on it (SE-0420); without it, it would run anywhere.
            try await run.perform(isolation: isolation)
        } onCancel: {
            lock.interruption.cancel()
        }
        return end(report)
    }

    /// Runs deferred steps in databases on this thread, for scripts and tests.
    ///
    /// - Throws: as the asynchronous form does; also when a deferred closure is pending, which only that form can run.
    @discardableResult
    public func runDeferred(
        for limit: Duration? = nil, retrying version: AppVersion? = nil
    ) throws -> DeferredReport {
        let plan = try deferredPlan(retrying: version)
        if let closure = plan.deferred.first(where: \.step.isDeferredClosure) {
            throw MigrationError(
                .invalidCall, "\(closure.step.titleAndSource) is asynchronous",
                remedy: "Call it as try await manager.runDeferred().", manager: name,
                version: closure.step.version)
        }
        guard !plan.deferred.isEmpty else { return DeferredReport(manager: name) }
        guard let lock = try RunLock.takeIfFree(LockName.deferred(of: name), of: store) else {
            return runningElsewhere(plan)
        }
        defer { lock.release() }
        return end(try deferredRun(try deferredPlan(retrying: version), limit, lock).perform())
    }

    /// Returns the deferred steps that wait, in order, with their progress.
    ///
    /// - Throws: ``MigrationError``, as ``migrate()`` does before anything runs.
    public func pendingDeferred() throws -> [PendingDeferredStep] {
        try exclusively {
            try plan().deferred.map { pending in
                PendingDeferredStep(
                    version: pending.step.version,
                    database: pending.step.worksInDatabase ? pending.step.place.name : nil,
                    done: pending.deferred.done, total: pending.deferred.total)
            }
        }
    }

    private func deferredPlan(retrying version: AppVersion?) throws -> LaunchPlan {
        try exclusively { try checkedForDeferred(plan(retrying: version)) }
    }

    private func deferredPlan(
        retrying version: AppVersion?, isolation: isolated (any Actor)?
    ) async throws -> LaunchPlan {
        try enter()
        defer { leave() }
        return try await checkedForDeferred(plan(retrying: version, isolation: isolation))
    }

    private func checkedForDeferred(_ plan: LaunchPlan) throws -> LaunchPlan {
        guard options.role == .migrates else { throw MigrationError.neverWrites(name) }
        guard plan.isSettled else {
            throw MigrationError(
                .notYetMigrated, "deferred steps need what migrate() does",
                remedy: "Call migrate() first, and runDeferred() when it has succeeded.", manager: name)
        }
        return plan
    }

    private func runningElsewhere(_ plan: LaunchPlan) -> DeferredReport {
        var report = DeferredReport(manager: name)
        report.pending = plan.deferred.map(\.step.version)
        report.isRunningElsewhere = true
        return report
    }

    private func deferredRun(_ plan: LaunchPlan, _ limit: Duration?, _ lock: RunLock) -> DeferredRun {
        DeferredRun(
            plan, limit: limit,
            progress: DeferredProgress(deferredProgress, plan.deferred, settledBefore: deferredSoFar),
            interruption: lock.interruption, writeTimeout: options.lockTimeout ?? .seconds(5), tell: tell)
    }

    private func end(_ report: DeferredReport) -> DeferredReport {
        deferredSoFar += report.completed.count + report.skipped.count
        return report
    }
}
