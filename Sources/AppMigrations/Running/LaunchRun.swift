import Foundation

/// The run of a launch: every pending step, in order, and then the record that the launch is complete.
///
/// It stops at the first work that does not succeed. The end of a step is written together with the start of the next one.
final class LaunchRun {
    private let run: RunState
    private let steps: [LaunchPlan.PendingStep]
    private let count: Int
    private var index = 0

    init(_ run: RunState) {
        self.run = run
        steps = run.plan.pending
        count = steps.count { $0.step.kind != .versionChange }
    }

    /// Begins the run.
    func begin() -> Action {
        run.journal.endStaleStarts()
        return next()
    }

    private func next() -> Action {
        guard index < steps.count else { return prepare(run.plan.unprepared[...]) }
        if let reason = run.reasonToStop { return stop(with: reason) }
        let pending = steps[index]
        index += 1
        if let missing = run.missing(before: pending) {
            return stop(with: run.isMissing(missing, before: pending))
        }
        let life = StepLife(pending, number: index, of: count, in: run, rules(for: pending)) {
            [self] life, end in self.ended(life, end)
        }
        return life.begin()
    }

    private func rules(for pending: LaunchPlan.PendingStep) -> StepLife.Rules {
        StepLife.Rules(
            lockTimeout: run.timeout, patience: .seconds(10),
            save: { [run] in run.journal.saving(last: pending.place) }, savesPlaceAlone: false,
            isOver: { [interruption = run.interruption, progress = run.progress] in
                interruption.isStopped || progress.isCancelled || Task.isCancelled
            },
            reasonToStop: { [run] in run.reasonToStop }, pause: { _ in nil }, nextBatch: { .now },
            makeProgress: { [run] in
                StepProgress(totalUnitCount: 1, parent: run.progress, pendingUnitCount: pending.weight)
            },
            notePosition: { position, progress in
                guard let total = position.total, total > 0, let progress else { return }
                progress.totalUnitCount = Int64(total)
                progress.completedUnitCount = Int64(min(position.done, total))
            })
    }

    private func ended(_ life: StepLife, _ end: StepLife.End) -> Action {
        switch end {
        case .done, .endedElsewhere:
            return record(life) { [self] in
                if case .done = end { life.noteDone() } else { run.noteEnded(life.pending) }
                life.progress?.finish()
                return next()
            }
        case .interrupted, .heldElsewhere: return next()
        case .notStarted(let error):
            life.release()
            return .end(error)
        case .exhausted(let error):
            life.release()
            return stop(with: error)
        case .failed(let outcome):
            life.noteFailure(outcome)
            return record(life) { [self] in
                life.progress?.finish()
                // A child that is not finished would count for ever: finished, and taken back, it counts for nothing.
                run.progress.completedUnitCount -= life.pending.weight
                return stop(with: outcome.error)
            }
        }
    }

    /// Writes the end of a deferred closure under its lock: whoever takes the lock next finds the step done.
    private func record(_ life: StepLife, then: @escaping () -> Action) -> Action {
        guard life.holdsLock, !run.journal.isWritten(life.pending.place) else {
            life.release()
            return then()
        }
        let place = life.pending.place
        return .elsewhere(run.journal.saving(only: place)) { [self] result in
            life.release()
            switch result {
            case .failure(let error): return stop(with: error)
            case .success:
                run.journal.noteSaved(only: place)
                return then()
            }
        }
    }

    /// Reads the bounds of the deferred steps that wait, and at last writes down that the launch is complete.
    private func prepare(_ unprepared: ArraySlice<LaunchPlan.PendingStep>) -> Action {
        guard let pending = unprepared.first else {
            return complete()
        }
        guard case .batches(let work) = run.registration.body(of: pending.step) else {
            run.journal.prepare(pending, StepPosition())
            return prepare(unprepared.dropFirst())
        }
        return .elsewhere(
            { try work.begin() },
            then: { [self] result in
                switch result {
                case .success(let position):
                    run.journal.prepare(pending, position)
                    return prepare(unprepared.dropFirst())
                case .failure(let error):
                    let failure = WorkFailure(
                        error, of: pending.step, work: run.plan.work(of: pending), attempt: 1,
                        build: run.plan.request.build, after: run.journal.lastFailure(of: pending),
                        interruption: run.reasonToStop)
                    return stop(with: failure.error)
                }
            })
    }

    /// Writes down that the launch is complete, once the store has its first record: the databases get theirs after it, and
    /// before it names them.
    private func complete() -> Action {
        guard run.journal.storeBegins else { return finish() }
        return .elsewhere(run.journal.saving(only: 0)) { [self] result in
            if case .failure(let error) = result { return .end(error) }
            run.journal.noteSaved(only: 0)
            return finish()
        }
    }

    private func finish() -> Action {
        run.journal.finish()
        // The store last: as long as it is not complete, a database that is lost is made anew as before.
        return .elsewhere(run.journal.saving(last: 0)) { result in
            if case .failure(let error) = result { .end(error) } else { .end(nil) }
        }
    }

    private func stop(with error: any Error) -> Action {
        // Why the run stops matters more than whether this can be written; at worst it costs an attempt.
        .elsewhere(run.journal.saving()) { _ in .end(error) }
    }
}
