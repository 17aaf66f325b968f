import Foundation
import MigrationDiagnostics

// Work that no launch has to wait for.
extension MigrationManager {
    /// Registers a step that runs after the launch, outside databases: hashing files, or making thumbnails.
    ///
    /// ```swift
    /// manager.afterMigratingToVersion("2.1-2") { context in
    ///     let done = try context.lastCheckpoint(as: Int.self) ?? 0
    ///     for (index, file) in try imageFiles().enumerated().dropFirst(done) {
    ///         try await makeThumbnail(of: file)
    ///         try await context.checkpoint(index + 1)
    ///     }
    /// }
    /// ```
    ///
    /// ``migrate(through:retrying:)`` only reports it; ``runDeferred(for:while:retrying:)`` runs it, on the actor that calls it.
    /// Work after the last checkpoint runs *at least once*. A fresh install does not need the step.
    ///
    /// - Parameters:
    ///   - version: above that of every step registered before, and at most the current version or one of its
    ///     sub-migrations.
    ///   - onFreshInstall: whether the step runs where there is no old data.
    ///   - fileID: the file of the registration, for messages.
    ///   - line: the line in it.
    ///   - body: does the work, and saves checkpoints.
    public func afterMigratingToVersion(
        _ version: AppVersion, onFreshInstall: FreshInstallRule = .skip,
        fileID: StaticString = #fileID, line: UInt = #line,
        run body: nonisolated(nonsending) @escaping (MigrationContext) async throws -> Void
    ) {
        register(
            version, .deferredClosure(body), onFreshInstall: onFreshInstall,
            source: SourceLocation(fileID: fileID, line: line))
    }

    /// Runs deferred steps, oldest first, until all are done or the time is over.
    ///
    /// Call it once ``migrate(through:retrying:)`` has returned, on every launch, or from a background task. It works in
    /// batches of about 50 ms, each in a short transaction, and pauses as long as a batch took, at most a second, so that
    /// the app can write. It ends at the end of a batch: when all is done, when the time is over, when the task is
    /// cancelled, or when the system is about to suspend the app. The next call continues there.
    ///
    /// Nothing that goes wrong in one step keeps the others waiting, also if a database is locked or the disk is full. A row
    /// that fails is set aside; see <doc:WorkAfterLaunch>.
    ///
    /// - Parameters:
    ///   - limit: the longest time to run; nil for as long as it takes.
    ///   - condition: asked between batches, on the calling actor. While it returns false, the run pauses: for instance
    ///     `{ !ProcessInfo.processInfo.isLowPowerModeEnabled }`.
    ///   - work: a step to retry although the manager gave up on it because the process died in it.
    ///   - isolation: the actor on which deferred closures run; the calling one.
    /// - Returns: what was done. If another process, or another call, is running deferred steps, returns at once.
    /// - Throws: ``MigrationError``: with the code `notYetMigrated` unless ``migrate(through:retrying:)`` has completed
    ///   this launch.
    @discardableResult
    public func runDeferred(
        for limit: Duration? = nil, while condition: @escaping () -> Bool = { true },
        retrying work: MigrationWork? = nil, isolation: isolated (any Actor)? = #isolation
    ) async throws -> DeferredReport {
        let request = try deferredRequest(retrying: work)
        let look = look(waitingUpTo: DeferredRun.shortPatience)
        var plan = try deferredPlan(request, await offload(look))
        guard !plan.isEmpty else { return end(plan) }
        let name = LockName.deferred(of: name)
        guard let held = try await offload({ [store] in try store.lock(name).held }) else {
            return DeferredReport(plan, isRunningElsewhere: true)
        }
        // On this task, which may have an activity of its own.
        let lock = RunLock(self.name, held)
        defer { lock.release() }
        // Another process may have done it all until now.
        plan = try deferredPlan(request, await offload(look))
        let run = run(plan, lock)
        let deferred = deferredRun(run, plan, limit, condition)
        try await withTaskCancellationHandler {
            // Naming the actor here makes the closure run on it (SE-0420); without it, it would run anywhere.
            try await deferred.begin().run(isolation: isolation)
        } onCancel: {
            lock.interruption.cancel()
        }
        return end(plan, run)
    }

    /// Runs deferred steps in databases on this thread, for scripts and tests.
    ///
    /// - Parameters:
    ///   - limit: the time after which the run ends; nil for no limit.
    ///   - condition: is asked between batches; while it is false, the run pauses.
    ///   - work: a step to run again although the manager gave up on it.
    /// - Throws: as the asynchronous form does; also when a deferred closure is pending, which only that form can run.
    @discardableResult
    public func runDeferred(
        for limit: Duration? = nil, while condition: @escaping () -> Bool = { true },
        retrying work: MigrationWork? = nil
    ) throws -> DeferredReport {
        let request = try deferredRequest(retrying: work)
        let look = look(waitingUpTo: DeferredRun.shortPatience)
        var plan = try deferredPlan(request, look())
        if let closure = plan.readable.deferred.first(where: { $0.step.kind == .deferredClosure }) {
            throw MigrationError(
                .misuse, "\(closure.step.titleAndSource) is asynchronous",
                remedy: Registration.asynchronousRemedy("runDeferred"), manager: name,
                version: closure.step.version)
        }
        guard !plan.isEmpty else { return end(plan) }
        guard let held = try store.lock(LockName.deferred(of: name)).held else {
            return DeferredReport(plan, isRunningElsewhere: true)
        }
        let lock = RunLock(name, held)
        defer { lock.release() }
        plan = try deferredPlan(request, look())
        let run = run(plan, lock)
        try deferredRun(run, plan, limit, condition).begin().run()
        return end(plan, run)
    }

    private func deferredRequest(retrying work: MigrationWork?) throws -> LaunchRequest {
        try exclusively {
            try registration.check()
            return try request(through: nil, retrying: work)
        }
    }

    /// Plans a deferred run over the databases that can be read; only the store has to be one of them.
    private func deferredPlan(
        _ request: LaunchRequest, _ looks: [Result<PlaceState, any Error>]
    ) throws -> DeferredPlan {
        try exclusively {
            guard options.role == .migrates else { throw MigrationError.neverWrites(name) }
            _ = try looks[0].get()
            let (readable, due) = (looks.indices.filter { looks[$0].isSuccess }, registration.due)
            let plan = try plan(request, readable.map { looks[$0] }, of: readable.map { due[$0] })
            let unreadable = zip(due, looks).compactMap { steps, look in
                look.failure.map { DeferredPlan.Unreadable(steps: steps, error: $0, manager: name) }
            }
            guard plan.isReadyForDeferred else {
                // A newer app may have been in a database since.
                throw unreadable.first?.error
                    ?? MigrationError(
                        .notYetMigrated, "`migrate()` hasn't succeeded yet",
                        remedy: "Call migrate() first, and runDeferred() when it has succeeded.",
                        manager: name)
            }
            return DeferredPlan(readable: plan, unreadable: unreadable)
        }
    }

    private func run(_ plan: DeferredPlan, _ lock: RunLock) -> RunState {
        for place in Set(plan.readable.deferred.filter { $0.step.kind == .batches }.map(\.place)).inOrder() {
            let place = plan.readable.places[place].steps.place
            if place.failsOthersWhileWriting { tell(.lacksBusyTimeout(database: place.name)) }
        }
        return RunState(
            plan.readable, registration, lock, progress: deferredProgress,
            timeout: patience, tell: tell)
    }

    private func deferredRun(
        _ run: RunState, _ plan: DeferredPlan, _ limit: Duration?, _ condition: @escaping () -> Bool
    ) -> DeferredRun {
        DeferredRun(
            run, until: limit.map { .now + $0 }, while: condition,
            DeferredProgress(
                deferredProgress, plan.readable.pendingDeferred(), settledBefore: memory.deferred))
    }

    private func end(_ plan: DeferredPlan, _ run: RunState? = nil) -> DeferredReport {
        memory.deferred += run?.ended.count ?? 0
        let report = DeferredReport(plan, run)
        // Nothing pending is all done.
        if report.pending.isEmpty { deferredProgress.completedUnitCount = deferredProgress.totalUnitCount }
        return report
    }
}

extension Result {
    fileprivate var isSuccess: Bool { failure == nil }

    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
