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
        report: MigrationReport, writeTimeout: Duration, tell: @escaping (MigrationEvent.Kind) -> Void
    ) {
        self.plan = plan
        self.report = report
        self.changes = plan.request.stop == nil ? changes : []
        self.progress = progress
        self.interruption = interruption
        self.tell = tell
        journal = LaunchJournal(plan, writeTimeout: writeTimeout)
    }

    /// Runs everything on this thread.
    func perform() throws -> MigrationReport {
        do {
            for item in plan.pending.indices {
                // One write settles the step before, and notes that this one is being started.
                let save = try noteStart(of: item)
                try save()
                let context = begin(item)
                try conclude(item, context, Result { try perform(item, context) })
            }
            if let versionChange {
                let save = try noteStartOfChanges()
                try save()
                journal.noteSaved()
                for change in changes {
                    try checkInterruption()
                    try conclude(Result { try perform(change, versionChange) })
                }
            }
        } catch let stop as Stop {
            // Why the run stops matters more than whether this can be written; at worst it costs an attempt.
            let save = journal.saving()
            try? save()
            throw stop.reason
        }
        let save = noteEnd()
        try save()
        return finished()
    }

    /// Runs plain closures on the caller's actor, and everything else where waiting hurts nobody.
    func perform(isolation: isolated (any Actor)?) async throws -> MigrationReport {
        do {
            for item in plan.pending.indices {
                try await offload(noteStart(of: item))
                let context = begin(item)
                let result: Result<MoveOutcome?, any Error>
                do {
                    result = .success(try await perform(item, context, isolation: isolation))
                } catch {
                    result = .failure(error)
                }
                try conclude(item, context, result)
            }
            if let versionChange {
                try await offload(noteStartOfChanges())
                journal.noteSaved()
                for change in changes {
                    try checkInterruption()
                    let result: Result<Void, any Error>
                    do {
                        result = .success(try await perform(change, versionChange, isolation: isolation))
                    } catch {
                        result = .failure(error)
                    }
                    try conclude(result)
                }
            }
        } catch let stop as Stop {
            try? await offload(journal.saving())
            throw stop.reason
        }
        try await offload(noteEnd())
        return finished()
    }

    /// Ends a run early, once what it has done so far is written down.
    private struct Stop: Error {
        let reason: any Error
    }

    // MARK: Work

    private func perform(_ item: Int, _ context: MigrationContext) throws -> MoveOutcome? {
        let step = plan.pending[item].step
        switch step.work {
        case .closure(let body): try body(context)
        case .transaction(let work): try work.perform(context, settlement: settlement(of: step))
        case .move(let move): return try move.perform(context)
        case .batches(let work):
            let record = record(of: item)
            do {
                let release = try record.waitForBatchLock()
                defer { release() }
                var runner = BatchRunner(work, settlement(of: step))
                while try goesOn(item, after: runner.next(), context) {}
            } catch {
                // The process has not died in the batch.
                try? record.stop()
                throw error
            }
        case .asynchronous, .deferredClosure:
            preconditionFailure("The synchronous migrate() refuses asynchronous steps.")
        }
        return nil
    }

    private func perform(
        _ item: Int, _ context: MigrationContext, isolation: isolated (any Actor)?
    ) async throws -> MoveOutcome? {
        let step = plan.pending[item].step
        switch step.work {
        case .closure(let body): try body(context)
        case .asynchronous(let body): try await body(context)
        case .transaction(let work):
            let settlement = settlement(of: step)
            try await offload { try work.perform(context, settlement: settlement) }
        case .move(let move): return try await offload { try move.perform(context) }
        case .batches, .deferredClosure:
            let record = record(of: item)
            do {
                try await finish(item, record, context, isolation: isolation)
            } catch {
                // The process has not died in the batch.
                try? await offload(record.stop)
                throw error
            }
        }
        return nil
    }

    /// Runs a deferred step to its end.
    private func finish(
        _ item: Int, _ record: DeferredRecord, _ context: MigrationContext,
        isolation: isolated (any Actor)?
    ) async throws {
        let release = try await offload(record.waitForBatchLock)
        defer { release() }
        let step = plan.pending[item].step
        if case .batches(let work) = step.work {
            var runner = BatchRunner(work, settlement(of: step))
            while try goesOn(
                item, after: await runner.offloading(isolation: isolation) { try $0.next() }, context)
            {}
        } else if case .deferredClosure(let body) = step.work {
            // Another process has done it while this one waited for the lock.
            guard let state = try await offload(record.current) else { return }
            let isOver: @Sendable () -> Bool = { [interruption] in interruption.isStopped }
            let attempt = plan.pending[item].attempt
            try await body(DeferredContext(attempt: attempt, state, record, isOver: isOver))
        }
    }

    /// Notes how far a deferred step is, which this launch finishes.
    ///
    /// - Returns: whether it goes on.
    private func goesOn(
        _ item: Int, after state: DeferredState?, _ context: MigrationContext
    ) throws -> Bool {
        guard let state else { return false }
        if let total = state.total, total > 0 {
            context.progress.totalUnitCount = Int64(total)
            context.progress.completedUnitCount = Int64(min(state.done, total))
        }
        tell(.didRunBatch(description(of: item), done: state.done, of: state.total))
        if let reasonToStop { throw reasonToStop }
        return true
    }

    private func settlement(of step: MigrationStep) -> Settlement {
        Settlement(
            manager: plan.request.manager, version: step.version, appVersion: plan.request.current,
            started: started)
    }

    private typealias Versions = (from: AppVersion, to: AppVersion)

    private func perform(_ change: VersionChange, _ versions: Versions) throws {
        switch change {
        case .blocking(let body): try body(versions.from, versions.to)
        case .asynchronous: preconditionFailure("The synchronous migrate() refuses asynchronous closures.")
        }
    }

    private func perform(
        _ change: VersionChange, _ versions: Versions, isolation: isolated (any Actor)?
    ) async throws {
        switch change {
        case .blocking(let body): try body(versions.from, versions.to)
        case .asynchronous(let body): try await body(versions.from, versions.to)
        }
    }

    /// How this launch changes the app's version; nil if it does not, if nothing is registered for it, or if the closures
    /// have run or were skipped.
    private var versionChange: Versions? {
        let current = plan.request.current
        guard !changes.isEmpty, let from = report.launch.upgradedVersion, from != current, from != .zero,
            plan.places[0].state.record?.completed != current
        else { return nil }
        return (from, current)
    }

    /// The error with which the run ends early; nil unless it was cancelled, or the system is about to suspend the process.
    private var reasonToStop: (any Error)? { interruption.error(manager: plan.request.manager, progress) }

    // MARK: Before and after a step

    /// Notes that a step is being started.
    ///
    /// - Returns: a closure that writes that down, with everything else not written yet.
    private func noteStart(of item: Int) throws -> LaunchJournal.Save {
        let pending = plan.pending[item]
        let step = pending.step
        let died = pending.exhausted.map {
            MigrationError.gaveUp(
                step.titleAndSource, step.version, $0, manager: plan.request.manager)
        }
        if let reason = reasonToStop ?? died {
            throw Stop(reason: reason)
        }
        hasCheckpoint.withLock { $0 = false }
        guard step.isDeferred else {
            journal.start(pending.running(build: plan.request.build), in: step.place.id)
            return journal.saving(last: step.place.id)
        }
        let (save, record) = (journal.saving(), record(of: item))
        return {
            try save()
            try record.start()
        }
    }

    private func record(of item: Int) -> DeferredRecord {
        DeferredRecord(plan.pending[item], plan, writeTimeout: journal.writeTimeout)
    }

    /// Notes that the closures for a version change are being started.
    ///
    /// - Returns: a closure that writes that down, with everything else not written yet.
    private func noteStartOfChanges() throws -> LaunchJournal.Save {
        let (request, store) = (plan.request, plan.places[0])
        if let reasonToStop { throw Stop(reason: reasonToStop) }
        let work = MigrationRecord.Running(
            .versionChange, version: request.current, attempt: 1, build: request.build, since: Date())
        if let died = store.record.running, died.exhausts(work, maximumAttempts: request.maximumAttempts) {
            throw Stop(
                reason: MigrationError.gaveUp(
                    "a closure for a version change", request.current, died, manager: request.manager))
        }
        journal.start(work, in: store.place.id)
        return journal.saving(last: store.place.id)
    }

    /// Begins a step that is written down as running.
    private func begin(_ item: Int) -> MigrationContext {
        journal.noteSaved()
        tell(.willRun(description(of: item)))
        started = .now
        let pending = plan.pending[item]
        let step = pending.step
        let child = StepProgress(totalUnitCount: 1, parent: progress, pendingUnitCount: pending.weight)
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
                journal.end(in: step.place.id)
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

    /// Ends the run before the next closure for a version change, if it was interrupted.
    private func checkInterruption() throws {
        guard let reasonToStop else { return }
        journal.fail(in: plan.places[0].place.id)
        throw Stop(reason: reasonToStop)
    }

    private func conclude(_ change: Result<Void, any Error>) throws {
        guard case .failure(let error) = change else { return }
        try checkInterruption()
        journal.fail(in: plan.places[0].place.id)
        if error is CancellationError { throw Stop(reason: error) }
        throw Stop(
            reason: MigrationError(
                .stepFailed, "the closure for a version change failed\(error.inBatchAsCause)",
                remedy: "The steps are complete. The next launch runs the closure again.",
                manager: plan.request.manager, underlyingError: error))
    }

    /// Notes that everything is done.
    ///
    /// - Returns: a closure that writes it down.
    private func noteEnd() -> LaunchJournal.Save {
        if versionChange != nil { journal.end(in: plan.places[0].place.id) }
        journal.finish()
        return journal.saving()
    }

    private func finished() -> MigrationReport {
        if plan.request.stop == nil { progress.completedUnitCount = progress.totalUnitCount }
        tell(.finished(report))
        return report
    }

    private func checkpoint(in step: MigrationStep, attempt: Int) -> @Sendable () throws -> Void {
        let manager = plan.request.manager
        if case .transaction = step.work {
            let error = MigrationError(
                .invalidCall,
                "\(step.titleAndSource) cannot save a checkpoint, because it works in one transaction",
                remedy: """
                    Leave checkpoint() out, or work in several transactions, in a step that is not given the \
                    database.
                    """,
                manager: manager, version: step.version)
            return { throw error }
        }
        return { [store = step.place.store, hasCheckpoint, limit = journal.writeTimeout] in
            try store.change(manager, waitingUpTo: limit) { state in
                // This attempt counts from here on; those before it do not.
                try state.changeRecord(of: manager) { $0?.running?.forgiven = attempt - 1 }
            }
            hasCheckpoint.withLock { $0 = true }
        }
    }

    // MARK: Failures

    /// Notes that a step has thrown.
    ///
    /// Stops the run, unless the step is best-effort.
    private func fail(_ item: Int, _ context: MigrationContext, _ error: any Error) throws {
        let step = plan.pending[item].step
        if hasCheckpoint.withLock({ $0 }) { journal.forgive(step) }
        if !step.isDeferred { journal.fail(in: step.place.id) }
        tell(.didFail(description(of: item), error.cause))
        let reasonToStop = reasonToStop
        let isStopped =
            reasonToStop != nil || error.cause is CancellationError || error.obstacleOfStep == .suspended
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
        throw Stop(reason: reasonToStop ?? failure(of: step, context, error))
    }

    private func failure(of step: MigrationStep, _ context: MigrationContext, _ error: any Error) -> any Error
    {
        if error.cause is CancellationError { return error.cause }
        let inAttempt = context.attempt > 1 ? " in attempt \(context.attempt)" : ""
        let obstacle = error.obstacleOfStep
        return MigrationError(
            obstacle?.code ?? .stepFailed,
            "\(step.titleAndSource) failed\(inAttempt)\(error.inBatchAsCause)",
            remedy: obstacle?.remedy ?? "Earlier steps are complete. The next launch retries this one.",
            manager: plan.request.manager, version: step.version, attempt: context.attempt,
            underlyingError: error.cause)
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
        let obstacle = Obstacle(cause)
        return obstacle == .deviceLocked ? nil : obstacle
    }
}

extension Progress {
    /// Completes what is left, even if the total was never known.
    fileprivate func finish() {
        totalUnitCount = max(1, totalUnitCount)
        completedUnitCount = totalUnitCount
    }
}
