import Foundation

/// Carries out a plan: runs every pending step, and writes down what it starts and what it has done.
///
/// The synchronous and the asynchronous form differ in nothing but where the work runs.
final class LaunchRun {
    private let plan: LaunchPlan
    private let changes: [VersionChange]
    private let progress: Progress
    private let interruption: Interruption
    private let tell: (MigrationEvent.Kind) -> Void
    private var journal: LaunchJournal
    private var report: MigrationReport
    private var started = ContinuousClock.now
    /// Whether the running step has got further than in earlier attempts.
    private let hasCheckpoint = Locked(false)

    init(
        _ plan: LaunchPlan, changes: [VersionChange], progress: Progress, interruption: Interruption,
        report: MigrationReport, tell: @escaping (MigrationEvent.Kind) -> Void
    ) {
        self.plan = plan
        self.report = report
        self.changes = plan.request.stop == nil ? changes : []
        self.progress = progress
        self.interruption = interruption
        self.tell = tell
        journal = LaunchJournal(plan)
        progress.totalUnitCount = max(1, plan.pending.reduce(0) { $0 + $1.weight })
        progress.completedUnitCount = 0
    }

    /// Runs everything on this thread.
    func perform() throws -> MigrationReport {
        do {
            for item in plan.pending.indices {
                try start(item)()
                let context = begin(item)
                try conclude(item, context, Result { try perform(plan.pending[item].step, context) })
            }
            for change in changes { try conclude(Result { try perform(change) }) }
        } catch let stop as Stop {
            // Why the run stops matters more than whether this can be written; at worst it costs an attempt.
            try? journal.saving()()
            throw stop.reason
        }
        try finish()()
        return finished()
    }

    /// Runs plain closures on the caller's actor, and everything else where waiting hurts nobody.
    func perform(isolation: isolated (any Actor)?) async throws -> MigrationReport {
        do {
            for item in plan.pending.indices {
                try await offload(try start(item))
                let context = begin(item)
                let result: Result<MoveOutcome?, any Error>
                do {
                    result = .success(
                        try await perform(plan.pending[item].step, context, isolation: isolation))
                } catch {
                    result = .failure(error)
                }
                try conclude(item, context, result)
            }
            for change in changes {
                let result: Result<Void, any Error>
                do {
                    result = .success(try await perform(change, isolation: isolation))
                } catch {
                    result = .failure(error)
                }
                try conclude(result)
            }
        } catch let stop as Stop {
            try? await offload(journal.saving())
            throw stop.reason
        }
        try await offload(finish())
        return finished()
    }

    /// Ends a run early, once what it has done so far is written down.
    private struct Stop: Error {
        let reason: any Error
    }

    // MARK: Work

    private func perform(_ step: MigrationStep, _ context: MigrationContext) throws -> MoveOutcome? {
        switch step.work {
        case .closure(let body): try body(context)
        case .transaction(let work): try work.perform(context, settlement: settlement(of: step))
        case .move(let move): return try move.perform(context)
        case .asynchronous: preconditionFailure("The synchronous migrate() refuses asynchronous steps.")
        }
        return nil
    }

    private func perform(
        _ step: MigrationStep, _ context: MigrationContext, isolation: isolated (any Actor)?
    ) async throws -> MoveOutcome? {
        switch step.work {
        case .closure(let body): try body(context)
        case .asynchronous(let body): try await body(context)
        case .transaction(let work):
            let settlement = settlement(of: step)
            try await offload { try work.perform(context, settlement: settlement) }
        case .move(let move): return try await offload { try move.perform(context) }
        }
        return nil
    }

    private func settlement(of step: MigrationStep) -> Settlement {
        Settlement(
            manager: plan.request.manager, version: step.version, appVersion: plan.request.current,
            started: started)
    }

    private func perform(_ change: VersionChange) throws {
        guard let (from, to) = versionChange else { return }
        switch change {
        case .blocking(let body): try body(from, to)
        case .asynchronous: preconditionFailure("The synchronous migrate() refuses asynchronous closures.")
        }
    }

    private func perform(_ change: VersionChange, isolation: isolated (any Actor)?) async throws {
        guard let (from, to) = versionChange else { return }
        switch change {
        case .blocking(let body): try body(from, to)
        case .asynchronous(let body): try await body(from, to)
        }
    }

    /// How this launch changes the app's version; nil if it does not.
    private var versionChange: (from: AppVersion, to: AppVersion)? {
        let current = plan.request.current
        guard let from = report.launch.upgradedVersion, from != current else { return nil }
        return (from, current)
    }

    // MARK: Before and after a step

    /// Notes that a step is being started.
    ///
    /// The closure writes that down, and what has happened so far.
    private func start(_ item: Int) throws -> @Sendable () throws -> Void {
        let pending = plan.pending[item]
        if let reason = interruption.error(manager: plan.request.manager, progress) ?? exhaustion(of: pending)
        {
            throw Stop(reason: reason)
        }
        hasCheckpoint.withLock { $0 = false }
        journal.start(pending.step)
        return journal.saving(last: pending.step.place.id)
    }

    /// Begins a step that is written down as running.
    private func begin(_ item: Int) -> MigrationContext {
        journal.noteSaved()
        tell(.willRun(description(of: item)))
        started = .now
        let pending = plan.pending[item]
        let step = pending.step
        let child = Progress(totalUnitCount: 1, parent: progress, pendingUnitCount: pending.weight)
        interruption.attach(child)
        let attempt = journal.attempt(at: step)
        return MigrationContext(
            manager: plan.request.manager, launch: journal.launch(for: step) ?? report.launch,
            to: plan.request.current, version: step.version, attempt: attempt,
            isOutOfOrder: pending.isOutOfOrder, progress: child,
            saveCheckpoint: checkpoint(in: step, attempt: attempt))
    }

    private func conclude(
        _ item: Int, _ context: MigrationContext, _ result: Result<MoveOutcome?, any Error>
    ) throws {
        let step = plan.pending[item].step
        switch result {
        case .success(let outcome):
            if let outcome {
                report.moves.append(
                    MigrationMove(
                        version: step.version, database: step.place.name, schemaVersions: outcome.applied,
                        warnings: outcome.warnings))
            } else {
                journal.settle(step, settlement(of: step))
                if !step.isForFreshInstalls { report.completed.append(step.version) }
            }
            context.progress.finish()
            tell(.didRun(description(of: item), duration: .now - started))
        case .failure(let error):
            try fail(item, context, error)
        }
    }

    private func conclude(_ change: Result<Void, any Error>) throws {
        guard case .failure(let error) = change else { return }
        if error is CancellationError { throw Stop(reason: error) }
        throw Stop(
            reason: MigrationError(
                .stepFailed, "the closure for a version change failed\(error.asCause)",
                remedy: "The steps are complete. The next launch runs the closure again.",
                manager: plan.request.manager, underlyingError: error))
    }

    /// Notes that everything is done.
    ///
    /// The closure writes it down.
    private func finish() -> @Sendable () throws -> Void {
        journal.finish()
        return journal.saving()
    }

    private func finished() -> MigrationReport {
        progress.completedUnitCount = progress.totalUnitCount
        tell(.finished(report))
        return report
    }

    private func checkpoint(in step: MigrationStep, attempt: Int) -> @Sendable () throws -> Void {
        let manager = plan.request.manager
        if case .transaction = step.work {
            let error = MigrationError(
                .invalidCall,
                "\(step.title) (\(step.source)) cannot save a checkpoint, because it works in one transaction",
                remedy: """
                    Leave checkpoint() out, or work in several transactions, in a step that is not given the \
                    database.
                    """,
                manager: manager, version: step.version)
            return { throw error }
        }
        return { [store = step.place.store, hasCheckpoint] in
            try store.change(manager) { state in
                // This attempt counts from here on; those before it do not.
                try state.changeRecord(of: manager) { $0?.running?.forgiven = attempt - 1 }
            }
            hasCheckpoint.withLock { $0 = true }
        }
    }

    // MARK: Failures

    private func exhaustion(of pending: LaunchPlan.PendingStep) -> MigrationError? {
        guard let died = pending.exhausted else { return nil }
        let step = pending.step
        let deaths = died.attempt - died.forgiven
        let times = deaths == 1 ? "once" : "\(deaths) times"
        return MigrationError(
            .gaveUp,
            "\(step.title) (\(step.source)) was not retried: the process died in it \(times)",
            remedy: """
                A new build of the app retries it, as does migrate(retrying: "\(step.version)"); \
                skip("\(step.version)") goes on without it.
                """,
            manager: plan.request.manager, version: step.version, attempt: died.attempt)
    }

    /// Notes that a step has thrown.
    ///
    /// Stops the run, unless the step is best-effort.
    private func fail(_ item: Int, _ context: MigrationContext, _ error: any Error) throws {
        let step = plan.pending[item].step
        if hasCheckpoint.withLock({ $0 }) { journal.forgive(step) }
        journal.fail(step)
        tell(.didFail(description(of: item), error))
        let interruption = interruption.error(manager: plan.request.manager, progress)
        let isStopped =
            interruption != nil || error is CancellationError || error.obstacleOfStep == .suspended
        if !isStopped, case .giveUp(let limit) = step.onError {
            context.progress.finish()
            guard journal.countFailure(of: step, upTo: limit) else { return }
            report.skipped.append(step.version)
            tell(.didGiveUp(description(of: item)))
            return
        }
        // A child that is not finished would count for ever: finished, and taken back, it counts for nothing.
        context.progress.finish()
        progress.completedUnitCount -= plan.pending[item].weight
        throw Stop(reason: interruption ?? failure(of: step, context, error))
    }

    private func failure(of step: MigrationStep, _ context: MigrationContext, _ error: any Error) -> any Error
    {
        if error is CancellationError { return error }
        let inAttempt = context.attempt > 1 ? " in attempt \(context.attempt)" : ""
        let obstacle = error.obstacleOfStep
        return MigrationError(
            obstacle?.code ?? .stepFailed,
            "\(step.title) (\(step.source)) failed\(inAttempt)\(error.asCause)",
            remedy: obstacle?.remedy ?? "Earlier steps are complete. The next launch retries this one.",
            manager: plan.request.manager, version: step.version, attempt: context.attempt,
            underlyingError: error)
    }

    private func description(of item: Int) -> MigrationEvent.Step {
        let pending = plan.pending[item]
        let step = pending.step
        return MigrationEvent.Step(
            version: step.version, database: step.place is StorePlace ? nil : step.place.name,
            schemaVersions: step.isMove ? pending.schemaVersions : nil, attempt: journal.attempt(at: step),
            number: item + 1, count: plan.pending.count, title: step.title)
    }
}

extension Error {
    /// The obstacle that made a step fail.
    fileprivate var obstacleOfStep: Obstacle? {
        // The manager has read its own protected files: a step that is refused another one fails by itself.
        let obstacle = Obstacle(self)
        return obstacle == .deviceLocked ? nil : obstacle
    }

    /// The end of a message that quotes this error, if it says anything.
    fileprivate var asCause: String {
        let text = "\(self)"
        return text.isEmpty ? "" : ": \(text)"
    }
}

extension Progress {
    /// Completes what is left, even if the total was never known.
    fileprivate func finish() {
        totalUnitCount = max(1, totalUnitCount)
        completedUnitCount = totalUnitCount
    }
}
