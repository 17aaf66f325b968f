import Foundation

/// Carries out deferred steps after the launch, batch by batch, as long as there is time.
///
/// The synchronous and the asynchronous form differ in nothing but where the work runs and how it pauses.
final class DeferredRun {
    private let plan: LaunchPlan
    private let store: any MigrationStore
    private let deadline: ContinuousClock.Instant?
    private let interruption: Interruption
    private let patience: Duration
    private let tell: (MigrationEvent.Kind) -> Void
    private(set) var report: DeferredReport

    init(
        _ plan: LaunchPlan, store: any MigrationStore, limit: Duration?, interruption: Interruption,
        patience: Duration, tell: @escaping (MigrationEvent.Kind) -> Void
    ) {
        self.plan = plan
        self.store = store
        deadline = limit.map { .now + $0 }
        self.interruption = interruption
        self.patience = patience
        self.tell = tell
        report = DeferredReport(manager: plan.request.manager)
    }

    /// Runs everything on this thread.
    func perform() throws -> DeferredReport {
        for index in plan.deferred.indices where try begin(index) {
            guard case .batches(let work) = plan.deferred[index].step.work else { continue }
            var runner = BatchRunner(work, settlement(of: index))
            while let release = try nextBatch(index) {
                let result = Result { try runner.next() }
                release()
                guard try conclude(index, result) else { break }
                // As long as the batch took, the database belongs to the app.
                Thread.sleep(forTimeInterval: runner.duration.inSeconds)
            }
        }
        return ended()
    }

    /// Runs closures on the caller's actor, and batches where waiting hurts nobody.
    func perform(isolation: isolated (any Actor)?) async throws -> DeferredReport {
        for index in plan.deferred.indices where try begin(index) {
            switch plan.deferred[index].step.work {
            case .batches(let work):
                var runner = BatchRunner(work, settlement(of: index))
                while let release = try nextBatch(index) {
                    let (next, result) = try await offload { [runner] in
                        var runner = runner
                        let result = Result { try runner.next() }
                        return (runner, result)
                    }
                    runner = next
                    release()
                    guard try conclude(index, result) else { break }
                    // Cancelling ends the pause, and then the run.
                    try? await Task.sleep(for: runner.duration)
                }
            case .deferredClosure(let body):
                guard let release = try nextBatch(index) else { continue }
                defer { release() }
                let result: Result<DeferredState?, any Error>
                do {
                    try await body(context(of: index))
                    try settle(index)
                    result = .success(nil)
                } catch {
                    result = .failure(error)
                }
                _ = try conclude(index, result)
            case .closure, .asynchronous, .transaction, .move: continue
            }
        }
        return ended()
    }

    // MARK: One step

    /// Notes that a step is being started, unless the run is over or the process has died in it too often.
    private func begin(_ index: Int) throws -> Bool {
        let pending = plan.deferred[index]
        guard !isOver else { return false }
        if let died = pending.exhausted {
            report.failures.append(
                MigrationError.gaveUp(
                    "\(pending.step.title) (\(pending.step.source))", pending.step.version, died,
                    manager: plan.request.manager))
            return false
        }
        let work = pending.running(build: plan.request.build)
        try change(index) { state in state.running = state.running?.retried(as: work) ?? work }
        tell(.willRun(description(of: index)))
        return true
    }

    /// Returns what releases the lock of the next batch; nil when the run is over.
    private func nextBatch(_ index: Int) throws -> (@Sendable () -> Void)? {
        if !isOver {
            switch try store.lock(LockName.batch(of: plan.request.manager)) {
            case .acquired(let release): return release
            // A launch finishes a step meanwhile, and knows better how far it is.
            case .held: report.isRunningElsewhere = true
            }
        }
        // The step has not died: it was interrupted.
        try change(index) { $0.running = nil }
        return nil
    }

    /// Notes how a batch has ended.
    ///
    /// - Returns: whether the step goes on.
    private func conclude(_ index: Int, _ result: Result<DeferredState?, any Error>) throws -> Bool {
        let step = plan.deferred[index].step
        switch result {
        case .success(let state?):
            tell(.didRunBatch(description(of: index), done: state.done, of: state.total))
            return true
        case .success(nil):
            report.completed.append(step.version)
            tell(.didRun(description(of: index), duration: .now - started))
        case .failure(let error):
            let reason = (error as? DeferredBatch.Failure)?.reason ?? error
            if reason is CancellationError || Obstacle(reason) == .suspended {
                try? change(index) { $0.running = nil }
                isInterrupted = true
            } else {
                try fail(index, error, reason)
            }
        }
        return false
    }

    private var started = ContinuousClock.now
    private var isInterrupted = false

    private func fail(_ index: Int, _ error: any Error, _ reason: any Error) throws {
        let step = plan.deferred[index].step
        let batch = (error as? DeferredBatch.Failure).map { " in \($0.title)" } ?? ""
        let obstacle = Obstacle(reason)
        report.failures.append(
            MigrationError(
                obstacle?.code ?? .stepFailed, "\(step.title) (\(step.source)) failed\(batch): \(reason)",
                remedy: obstacle?.remedy
                    ?? "The batch was rolled back; those before it are complete. The next run retries it.",
                manager: plan.request.manager, version: step.version, underlyingError: reason))
        tell(.didFail(description(of: index), reason))
        var failures = 0
        try change(index) { state in
            state.running = nil
            state.failures = min(state.failures, MigrationRecord.maximumFailures - 1) + 1
            failures = state.failures
        }
        guard case .giveUp(let limit) = step.onError, failures >= limit else { return }
        try settle(index, as: .skipped)
        report.skipped.append(step.version)
        tell(.didGiveUp(description(of: index)))
    }

    // MARK: What is written

    private func change(_ index: Int, _ body: (inout DeferredState) -> Void) throws {
        let step = plan.deferred[index].step
        try step.place.store.changeDeferred(
            step.version, of: plan.request.manager, waitingUpTo: patience, body)
    }

    private func settle(_ index: Int, as outcome: SettledStep.Outcome = .ran) throws {
        let (step, request) = (plan.deferred[index].step, plan.request)
        try step.place.store.change(request.manager, waitingUpTo: patience) { state in
            try state.changeRecord(of: request.manager) { $0?.settle(step.version) }
            state.newHistory = [
                SettledStep(
                    manager: request.manager, version: step.version, outcome: outcome, date: Date(),
                    appVersion: request.current)
            ]
        }
    }

    private func settlement(of index: Int) -> Settlement {
        started = .now
        return Settlement(
            manager: plan.request.manager, version: plan.deferred[index].step.version,
            appVersion: plan.request.current, started: started)
    }

    private func context(of index: Int) -> DeferredContext {
        let pending = plan.deferred[index]
        return DeferredContext(
            pending, plan.request, writeTimeout: patience,
            isOver: { [deadline, interruption] in Self.isOver(deadline, interruption) })
    }

    // MARK: The end

    private var isOver: Bool { isInterrupted || Self.isOver(deadline, interruption) }

    private static func isOver(_ deadline: ContinuousClock.Instant?, _ interruption: Interruption) -> Bool {
        deadline.map { $0 <= .now } ?? false || interruption.isStopped || Task.isCancelled
            || SimulatedLaunch.witness?.isTimeOver ?? false
    }

    private func ended() -> DeferredReport {
        let settled = Set(report.completed + report.skipped)
        report.pending = plan.deferred.map(\.step.version).filter { !settled.contains($0) }
        return report
    }

    private func description(of index: Int) -> MigrationEvent.Step {
        let step = plan.deferred[index].step
        return MigrationEvent.Step(
            version: step.version, database: step.worksInDatabase ? step.place.name : nil,
            schemaVersions: nil,
            attempt: plan.deferred[index].deferred.running.map { $0.attempt + 1 } ?? 1, number: index + 1,
            count: plan.deferred.count, title: step.title)
    }
}

/// The names of a manager's further locks: no manager's own name has a NUL.
enum LockName {
    /// Held by the one process that runs deferred steps.
    static func deferred(of manager: String) -> String { "\(manager)\0deferred" }

    /// Held while a batch runs, and while a launch finishes a deferred step.
    static func batch(of manager: String) -> String { "\(manager)\0batch" }
}

extension DeferredContext {
    init(
        _ pending: LaunchPlan.PendingStep, _ request: LaunchRequest, writeTimeout: Duration,
        isOver: @escaping @Sendable () -> Bool
    ) {
        let (store, version, manager) = (pending.step.place.store, pending.step.version, request.manager)
        self.init(
            manager: manager, version: version,
            attempt: pending.deferred.running.map { $0.attempt + 1 } ?? 1, state: Locked(pending.deferred),
            save: { next in
                try store.changeDeferred(version, of: manager, waitingUpTo: writeTimeout) { state in
                    let running = state.running
                    state = next
                    state.running = running
                    state.running?.remaining = next.done
                    state.running?.attempt = 1
                }
            }, isOver: isOver)
    }
}

extension MigrationStore {
    /// Changes how far a deferred step is, unless it has been settled meanwhile.
    func changeDeferred(
        _ version: AppVersion, of manager: String, waitingUpTo limit: Duration,
        _ body: (inout DeferredState) -> Void
    ) throws {
        try change(manager, waitingUpTo: limit) { state in
            try state.changeRecord(of: manager) { record in
                guard var known = record, !known.settled.contains(version) else { return }
                body(&known.deferred[version, default: DeferredState()])
                record = known
            }
        }
    }
}
