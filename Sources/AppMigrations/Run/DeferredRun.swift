import Foundation

/// Carries out deferred steps after the launch, batch by batch, as long as there is time.
///
/// The synchronous and the asynchronous form differ in nothing but where the work runs and how it pauses.
final class DeferredRun {
    private let plan: LaunchPlan
    private let deadline: ContinuousClock.Instant?
    private let interruption: Interruption
    private let writeTimeout: Duration
    private let tell: (MigrationEvent.Kind) -> Void
    private let progress: DeferredProgress
    private var report: DeferredReport
    private var started = ContinuousClock.now

    init(
        _ plan: LaunchPlan, limit: Duration?, progress: DeferredProgress, interruption: Interruption,
        writeTimeout: Duration, tell: @escaping (MigrationEvent.Kind) -> Void
    ) {
        self.plan = plan
        deadline = limit.map { .now + $0 }
        self.progress = progress
        self.interruption = interruption
        self.writeTimeout = writeTimeout
        self.tell = tell
        report = DeferredReport(manager: plan.request.manager)
    }

    /// Runs everything on this thread.
    func perform() throws -> DeferredReport {
        for index in plan.deferred.indices {
            guard let record = record(of: index), case .batches(let work) = plan.deferred[index].step.work
            else { continue }
            try record.start()
            begin(index)
            var runner = BatchRunner(work, settlement(of: index))
            while try goesOn(index, after: runner.next(record, isOver: isOver())) {
                Thread.sleep(forTimeInterval: pause(after: runner).inSeconds)
            }
        }
        return ended()
    }

    /// Runs closures on the caller's actor, and batches where waiting hurts nobody.
    func perform(isolation: isolated (any Actor)?) async throws -> DeferredReport {
        for index in plan.deferred.indices {
            guard let record = record(of: index) else { continue }
            try await offload(record.start)
            begin(index)
            switch plan.deferred[index].step.work {
            case .batches(let work):
                var runner = BatchRunner(work, settlement(of: index))
                while goesOn(
                    index,
                    after: try await runner.offloading(isolation: isolation) { [isOver = isOver()] runner in
                        try runner.next(record, isOver: isOver)
                    })
                {
                    // Cancelling ends the pause, and then the run.
                    try? await Task.sleep(for: pause(after: runner))
                }
            case .deferredClosure(let body):
                let attempt = plan.deferred[index].attempt
                _ = goesOn(
                    index, after: try await perform(body, attempt: attempt, record, isolation: isolation))
            case .closure, .asynchronous, .transaction, .move: continue
            }
        }
        return ended()
    }

    private func pause(after runner: BatchRunner) -> Duration {
        isOver() ? .zero : runner.pause(before: deadline)
    }

    private func perform(
        _ body: MigrationStep.DeferredBody, attempt: Int, _ record: DeferredRecord,
        isolation: isolated (any Actor)?
    ) async throws -> BatchEnding {
        guard let release = try await offload(record.lockBatch) else {
            try await offload(record.stop)
            return .interrupted(isRunningElsewhere: true)
        }
        defer { release() }
        // A launch in another process has finished it.
        guard let state = try await offload(record.current) else { return .done }
        do {
            try await body(DeferredContext(attempt: attempt, state, record, isOver: isOver))
        } catch {
            return try await offload { try record.fail(error) }
        }
        try await offload { try record.settle(as: .ran) }
        return .done
    }

    // MARK: One step

    /// Returns the record of a step that is to be started: nil when the run is over, or the process has died in the
    /// step too often.
    private func record(of index: Int) -> DeferredRecord? {
        let (pending, request) = (plan.deferred[index], plan.request)
        guard !isOver() else { return nil }
        if let died = pending.exhausted {
            report.failures.append(
                MigrationError.gaveUp(
                    pending.step.titleAndSource, pending.step.version, died, manager: request.manager))
            return nil
        }
        return DeferredRecord(pending, plan, writeTimeout: writeTimeout)
    }

    private func begin(_ index: Int) {
        started = .now
        tell(.willRun(description(of: index)))
    }

    /// Notes how a batch has ended.
    ///
    /// - Returns: whether the step goes on.
    private func goesOn(_ index: Int, after ending: BatchEnding) -> Bool {
        let version = plan.deferred[index].step.version
        switch ending {
        case .more(let state):
            progress.note(state, of: index)
            tell(.didRunBatch(description(of: index), done: state.done, of: state.total))
            return true
        case .done:
            report.completed.append(version)
            progress.finish(index)
            tell(.didRun(description(of: index), duration: .now - started))
        case .interrupted(let isRunningElsewhere):
            isInterrupted = !isRunningElsewhere
            if isRunningElsewhere { report.isRunningElsewhere = true }
        case .failed(let error, let isSkipped):
            report.failures.append(failure(of: plan.deferred[index].step, error))
            tell(.didFail(description(of: index), error.cause))
            guard isSkipped else { return false }
            report.skipped.append(version)
            progress.finish(index)
            tell(.didGiveUp(description(of: index)))
        }
        return false
    }

    private func failure(of step: MigrationStep, _ error: any Error) -> MigrationError {
        let obstacle = Obstacle(error.cause)
        return MigrationError(
            obstacle?.code ?? .stepFailed, "\(step.titleAndSource) failed\(error.inBatchAsCause)",
            remedy: obstacle?.remedy
                ?? "The batch was rolled back; those before it are complete. The next run retries it.",
            manager: plan.request.manager, version: step.version, underlyingError: error.cause)
    }

    private func settlement(of index: Int) -> Settlement {
        Settlement(
            manager: plan.request.manager, version: plan.deferred[index].step.version,
            appVersion: plan.request.current, started: started)
    }

    // MARK: The end

    private var isInterrupted = false

    /// Whether no further batch may begin.
    private var isOver: @Sendable () -> Bool {
        { [isInterrupted, deadline, interruption, progress = progress.total] in
            isInterrupted || deadline.map { $0 <= .now } ?? false || interruption.isStopped
                || progress.isCancelled || Task.isCancelled
                || SimulatedLaunch.witness?.isTimeOver ?? false
        }
    }

    private func ended() -> DeferredReport {
        let settled = Set(report.completed + report.skipped)
        report.pending = plan.deferred.map(\.step.version).filter { !settled.contains($0) }
        return report
    }

    private func description(of index: Int) -> MigrationEvent.Step {
        let (pending, step) = (plan.deferred[index], plan.deferred[index].step)
        return MigrationEvent.Step(
            version: step.version, database: step.worksInDatabase ? step.place.name : nil,
            schemaVersions: nil, attempt: pending.attempt, number: index + 1, count: plan.deferred.count,
            title: step.title)
    }
}
