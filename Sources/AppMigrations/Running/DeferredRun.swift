import Foundation

/// A run of deferred steps after the launch, oldest first.
///
/// Nothing that goes wrong in one step keeps the others waiting. Between two batches, the run leaves the database to the app.
final class DeferredRun {
    private let run: RunState
    private let steps: [LaunchPlan.PendingStep]
    /// The indexes of the steps in the order in which they come: those whose database is in use come again.
    private var turns: [Int]
    private var turn = 0
    private let deadline: ContinuousClock.Instant?
    private let condition: () -> Bool
    private let progress: DeferredProgress

    /// How long a run waits for one database before it continues with the others.
    static let shortPatience: Duration = .seconds(1)

    /// - Parameters:
    ///   - deadline: the time after which no batch begins.
    ///   - condition: while it returns false, the run pauses.
    init(
        _ run: RunState, until deadline: ContinuousClock.Instant?, while condition: @escaping () -> Bool,
        _ progress: DeferredProgress
    ) {
        self.run = run
        self.deadline = deadline
        self.condition = condition
        self.progress = progress
        steps = run.plan.deferred
        turns = Array(steps.indices)
    }

    /// Begins the run.
    func begin() -> Action { next() }

    /// True if every step has had its turn, and those come again whose database was in use.
    private var isLastTurn: Bool { turn >= steps.count }

    private func next() -> Action {
        while turn < turns.count, !isOver() {
            let (index, pending) = (turns[turn], steps[turns[turn]])
            if let missing = run.missing(before: pending) {
                // Only an update of the app ends that.
                if run.plan.isHeld(missing) { report(run.isMissing(missing, before: pending), of: pending) }
                turn += 1
                continue
            }
            let life = StepLife(
                pending, number: index + 1, of: steps.count, in: run, rules(for: pending, at: index)
            ) { [self] life, end in self.ended(life, end, at: index) }
            return life.begin()
        }
        return .end(nil)
    }

    private func rules(for pending: LaunchPlan.PendingStep, at index: Int) -> StepLife.Rules {
        StepLife.Rules(
            lockTimeout: nil, patience: isLastTurn ? .seconds(10) : Self.shortPatience,
            save: { [run] in run.journal.saving(only: pending.place) }, savesPlaceAlone: true,
            isOver: isOver,
            reasonToStop: { nil }, pause: { [deadline] in $0.pause(before: deadline) },
            nextBatch: { [self] in isOver() ? .never : condition() ? .now : .later(.milliseconds(250)) },
            makeProgress: { StepProgress(totalUnitCount: 1) },
            notePosition: { [progress] position, _ in progress.note(position, of: index) })
    }

    private func ended(_ life: StepLife, _ end: StepLife.End, at index: Int) -> Action {
        let pending = life.pending
        switch end {
        case .done:
            return record(life) { [self] in
                life.noteDone()
                progress.finish(index)
            }
        case .endedElsewhere:
            run.noteEnded(pending)
            progress.finish(index)
        case .heldElsewhere:
            run.isRunningElsewhere = true
            return record(life)
        case .notStarted(let error):
            if !comesAgain(after: error, index) { report(error, of: pending) }
            life.release()
        case .exhausted(let error):
            report(error, of: pending)
            life.release()
        case .interrupted: return record(life)
        case .failed(let outcome):
            if comesAgain(after: outcome.error, index) {
                run.journal.stop(pending)
            } else {
                life.noteFailure(outcome)
                report(outcome.error, of: pending)
            }
            return record(life)
        }
        turn += 1
        return next()
    }

    /// Writes the end of a step at once.
    private func record(_ life: StepLife, then: @escaping () -> Void = {}) -> Action {
        let (pending, place) = (life.pending, life.pending.place)
        guard !run.journal.isWritten(place) else {
            life.release()
            then()
            turn += 1
            return next()
        }
        return .elsewhere(run.journal.saving(only: place)) { [self] result in
            life.release()
            switch result {
            case .failure(let error): report(error, of: pending)
            case .success:
                run.journal.noteSaved(only: place)
                then()
            }
            turn += 1
            return next()
        }
    }

    /// Notes that a step comes again at the end of the run, if that may help.
    private func comesAgain(after error: any Error, _ index: Int) -> Bool {
        guard !isLastTurn, (error as? MigrationError)?.code == .locked else { return false }
        turns.append(index)
        return true
    }

    /// Reports the error of a step that stays pending; why the run itself ends is no error of a step.
    private func report(_ error: any Error, of pending: LaunchPlan.PendingStep) {
        guard let error = error as? MigrationError, error.code != .suspended else { return }
        run.failures.append(error)
        let work = run.plan.work(of: pending)
        if !Obstacle.mayPass(error), !run.ended.contains(work) { run.stuck.insert(work) }
    }

    /// True if no further batch may begin.
    private var isOver: @Sendable () -> Bool {
        {
            [
                deadline, interruption = run.interruption, progress = run.progress,
                observer = run.registration.environment.observer
            ] in
            interruption.isStopped || progress.isCancelled || Task.isCancelled
                || deadline.map { $0 <= .now } ?? false || observer?.isTimeOver ?? false
        }
    }
}
