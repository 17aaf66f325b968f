import Foundation

/// Decides what a run does next: write something down, run a step, pause, or end.
///
/// Launches and deferred runs have the same stepper. It does no input or output and runs no closure of the app's: a
/// driver carries out each action and hands the result to ``next(after:)``; see `Drivers.swift`.
///
/// For each step, it writes down that the step is being started, together with the end of the step before; has it run;
/// and notes how it ended, as ``Outcome`` judges. A launch stops at the first step that fails and is not best-effort. A
/// deferred run goes on with the next one, and between two batches leaves the database to the app.
final class Stepper {
    /// An action that a driver carries out next.
    enum Action {
        /// Input and output: on any thread, where waiting hurts nobody.
        case elsewhere(@Sendable () throws -> Ending)
        /// A closure of the app's: where the manager was called.
        case here(() throws -> Void)
        /// A closure of the app's that may suspend: on the calling actor.
        case suspending(SuspendingBody)
        case pause(Duration)

        typealias SuspendingBody = nonisolated(nonsending) () async throws -> Void
    }

    /// The result of an action that has not thrown.
    enum Ending: Sendable {
        case done
        case moved(MoveOutcome)
        /// A batch has run.
        case ran(BatchRunner, BatchOutcome)
        /// A deferred step may begin, where it was left. Nil: it is no longer pending.
        case locked(HeldLock, StepPosition?)
        /// Another process is running a batch.
        case heldElsewhere
        /// A deferred step that waits will begin here.
        case prepared(StepPosition)
    }

    /// The kind of a run.
    enum Mode {
        case launch
        /// Ends at the end of a batch when the time is over, and pauses while the condition is false.
        case deferred(until: ContinuousClock.Instant?, while: () -> Bool, DeferredProgress)
    }

    enum Phase {
        /// The next step comes.
        case ready
        /// The lock of a deferred step is being taken.
        case locking
        /// The start of a step is being written.
        case noting
        case running
        case pausing
        /// The end of a step is being written; with whether the step is done.
        case recording(isDone: Bool)
        /// The bounds of a deferred step that waits are being read.
        case preparing(LaunchPlan.PendingStep)
        /// The end of the run is being written; with the error that ends it.
        case ending((any Error)?)
        case ended
    }

    let plan: LaunchPlan
    let registration: Registration
    let places: [any MigrationPlace]
    private let mode: Mode
    /// True if the last run of the same kind may have died.
    private let hasDied: Bool
    let steps: [LaunchPlan.PendingStep]
    private let progress: Progress
    private let interruption: Interruption
    let timeout: Duration
    private let tell: (MigrationEvent.Kind) -> Void
    private var journal: Journal

    var phase = Phase.ready
    /// The indexes of the steps in the order in which they come: those whose database is in use come again.
    private var turns: [Int]
    private var turn = 0
    /// The closures for a version change that are left.
    var changesLeft: ArraySlice<VersionChange> = []
    var context: MigrationContext?
    var started = ContinuousClock.now
    var batches: BatchRunner?
    private var unlock: (@Sendable () -> Void)?
    /// Where a deferred step was left.
    private var position = StepPosition()
    /// The deferred steps that wait, and whose bounds the launch has not read yet.
    private var unprepared: ArraySlice<LaunchPlan.PendingStep> = []

    /// The work that the run has done.
    private(set) var tally: Tally
    /// The error with which the run has ended.
    private(set) var error: (any Error)?

    init(
        _ mode: Mode, _ plan: LaunchPlan, _ registration: Registration, _ places: [any MigrationPlace],
        _ lock: RunLock, progress: Progress, timeout: Duration, tally: Tally = Tally(),
        tell: @escaping (MigrationEvent.Kind) -> Void
    ) {
        self.mode = mode
        self.plan = plan
        self.registration = registration
        self.places = places
        self.progress = progress
        hasDied = lock.hasDied
        interruption = lock.interruption
        self.timeout = timeout
        self.tally = tally
        self.tell = tell
        journal = Journal(plan, places, timeout: timeout)
        steps =
            switch mode {
            case .launch: plan.pending
            case .deferred: plan.deferred
            }
        turns = Array(steps.indices)
    }

    /// The index of the current step.
    var index: Int { turns[turn] }

    /// True if every step has had its turn, and those come again whose database was in use.
    private var isLastTurn: Bool { turn >= steps.count }

    // MARK: What comes next

    /// Returns the next action; nil when the run has ended.
    ///
    /// - Parameter result: how the last action ended; nil at first.
    func next(after result: Result<Ending, any Error>?) -> Action? {
        switch phase {
        case .ready: return start()
        case .locking: return locked(result)
        case .noting:
            if case .failure(let error) = result { return cannotNote(error) }
            journal.noteSaved(only: deferredPlace)
            begin()
            return work()
        case .running: return conclude(result)
        case .pausing: return isOver() ? interrupt() : isPaused ? pause() : work()
        case .recording(let isDone):
            releaseLock()
            if case .failure(let error) = result {
                guard !isLaunch else { return stop(with: error) }
                report(error)
                return advance()
            }
            journal.noteSaved(only: steps[index].place)
            if isDone { noteDone() }
            return advance()
        case .preparing(let pending): return prepared(pending, result)
        case .ending(let reason):
            // Why the run stops matters more than whether this can be written; at worst it costs an attempt.
            if let reason { error = reason } else if case .failure(let failure) = result { error = failure }
            phase = .ended
            return nil
        case .ended: return nil
        }
    }

    var isLaunch: Bool {
        if case .launch = mode { true } else { false }
    }

    /// In a deferred run, the one place to write: another one that cannot be written does not concern the step.
    private var deferredPlace: Int? { isLaunch ? nil : steps[index].place }

    private func start() -> Action? {
        guard turn < turns.count, isLaunch || !isOver() else { return end() }
        let pending = steps[index]
        let step = pending.step
        if let reasonToStop { return stop(with: reasonToStop) }
        if let version = plan.unfinished(pending) {
            return stop(
                with: MigrationError(
                    .stepFailed,
                    "\(step.titleAndSource) was not run: a newer app has used a database in which deferred step \(version) is not done",
                    remedy: "Update the app, or restore that database.", manager: plan.request.manager,
                    version: step.version))
        }
        guard pending.step.isDeferred else { return note(hasDied: hasDied) }
        phase = .locking
        return .elsewhere(locking)
    }

    private func locked(_ result: Result<Ending, any Error>?) -> Action? {
        switch result {
        case .success(.locked(let lock, let position)):
            unlock = lock.release
            guard let position else { return endedElsewhere() }
            self.position = position
            // Others may run their batches between those of this run; a closure keeps the lock until its end.
            if steps[index].step.kind == .batches { releaseLock() }
            return note(hasDied: lock.hasDied)
        case .failure(let error): return cannotNote(error)
        default:
            tally.isRunningElsewhere = true
            return advance()
        }
    }

    private func releaseLock() {
        unlock?()
        unlock = nil
    }

    /// Writes down that a step is being started, unless too many attempts at it have died.
    private func note(hasDied: Bool) -> Action? {
        let pending = steps[index]
        if let died = plan.exhausted(pending, hasDied: hasDied) {
            let error = MigrationError.gaveUp(pending.step, died, manager: plan.request.manager)
            journal.confirmDeath(in: pending)
            guard !isLaunch else { return stop(with: error) }
            tally.failures.append(error)
            return record()
        }
        attempt = journal.start(pending, hasDied: hasDied)
        phase = .noting
        return .elsewhere(
            saving(isLaunch ? journal.saving(last: pending.place) : journal.saving(only: pending.place)))
    }

    /// The number of the attempt at the current step, from 1.
    private var attempt = 1

    private func advance() -> Action? {
        turn += 1
        phase = .ready
        return start()
    }

    /// How long a batch waits for its database.
    ///
    /// In a deferred run, steps in other databases come first.
    var patience: Duration { isLaunch || isLastTurn ? .seconds(10) : Self.shortPatience }

    /// How long a deferred run waits for one database before it continues with the others.
    static let shortPatience: Duration = .seconds(1)

    private func cannotNote(_ error: any Error) -> Action? {
        releaseLock()
        guard !isLaunch else {
            self.error = error
            phase = .ended
            return nil
        }
        _ = journal.stop(steps[index], isFailure: false)
        if !comesAgain(after: error) { report(error) }
        return advance()
    }

    /// Notes that a step comes again at the end of a deferred run, if that may help.
    private func comesAgain(after error: any Error) -> Bool {
        guard !isLaunch, !isLastTurn, (error as? MigrationError)?.code == .locked else { return false }
        turns.append(index)
        return true
    }

    /// Begins a step that is written down as running.
    private func begin() {
        let pending = steps[index]
        let step = pending.step
        let manager = plan.request.manager
        let launch = plan.places[pending.place].launch
        announce(step) { .willRun($0) }
        started = .now
        changesLeft = registration.versionChanges[...]
        if case .batches(let work)? = registered(step) {
            batches = BatchRunner(work, rowsSetAside: position.setAside.count)
        }
        let child =
            isLaunch
            ? StepProgress(totalUnitCount: 1, parent: progress, pendingUnitCount: pending.weight)
            : StepProgress(totalUnitCount: 1)
        interruption.attach(child)
        let store = places[pending.place].store
        let checkpoints = Checkpoints(
            of: step, manager: manager, in: store, waitingUpTo: timeout,
            isOver: step.isDeferred ? isOver : nil)
        if step.isDeferred { checkpoints.position.withLock { [position] in $0 = position } }
        context = MigrationContext(
            manager: manager, launch: launch, to: plan.request.current, version: step.version,
            attempt: attempt, isOutOfOrder: pending.isOutOfOrder, progress: child, checkpoints: checkpoints)
    }

    // MARK: How a step ends

    func conclude(_ result: Result<Ending, any Error>?) -> Action? {
        let pending = steps[index]
        switch result {
        case .success(.ran(let batches, .more(let position, _))):
            self.batches = batches
            note(position)
            if isLaunch { return reasonToStop.map { fail($0) } ?? work() }
            return isOver() ? interrupt() : pause()
        case .success(.ran(let batches, .rowsLeft(let position, let title))):
            note(position)
            return fail(batches.failure(leaving: title))
        case .success(.ran(_, .endedElsewhere)): return endedElsewhere()
        case .success(.heldElsewhere):
            tally.isRunningElsewhere = true
            return interrupt()
        case .success(.done) where pending.step.kind == .versionChange && !changesLeft.isEmpty:
            return reasonToStop.map { fail($0) } ?? closure()
        case .success(.done), .success(.ran(_, .done)), .success(.locked), .success(.prepared), nil:
            journal.end(pending, settlement)
        case .success(.moved(let outcome)):
            journal.end(pending, settlement)
            tally.moves.append(
                MigrationMove(
                    version: pending.step.version, database: plan.places[pending.place].steps.name,
                    schemaVersions: outcome.applied, undone: outcome.undone,
                    warnings: outcome.warnings))
            tally.databaseSize = [tally.databaseSize, outcome.databaseSize].compactMap(\.self).max()
        case .failure(let error): return fail(error)
        }
        return record(isDone: true)
    }

    /// Notes that a deferred step is no longer pending, though this run has not completed it.
    private func endedElsewhere() -> Action? {
        releaseLock()
        journal.noteSettled(steps[index])
        tally.ended.insert(index)
        finishProgress()
        return advance()
    }

    /// Lets the app use the database between two batches; longer, while the app wants the run to pause.
    private func pause() -> Action? {
        guard case .deferred(let deadline, _, _) = mode, let batches else { return nil }
        phase = .pausing
        return .pause(isPaused ? .milliseconds(250) : batches.pause(before: deadline))
    }

    private var isPaused: Bool {
        if case .deferred(_, let condition, _) = mode { !condition() } else { false }
    }

    /// Notes that a step is done, and recorded as far as it has to be by now.
    private func noteDone() {
        let step = steps[index].step
        if step.kind != .versionChange, !step.isMove { tally.completed.append(step.version) }
        tally.ended.insert(index)
        finishProgress()
        let duration = ContinuousClock.now - started
        tally.duration += duration
        announce(step) { .didRun($0, duration: duration) }
    }

    /// Notes that a step has thrown.
    private func fail(_ error: any Error) -> Action? {
        let pending = steps[index]
        let step = pending.step
        let outcome = Outcome(
            error, of: step, attempt: attempt, manager: plan.request.manager, interruption: reasonToStop)
        if case .deferred = mode, comesAgain(after: outcome.error) {
            _ = journal.stop(pending, isFailure: false)
            return record()
        }
        let givesUp = journal.stop(pending, isFailure: outcome.isFailure)
        announce(step) { .didFail($0, error.cause) }
        if givesUp {
            tally.skipped.append(step.version)
            tally.ended.insert(index)
            finishProgress()
            announce(step) { .didGiveUp($0) }
        }
        guard isLaunch else {
            report(outcome.error)
            return record()
        }
        if step.onError != .stop, reasonToStop == nil {
            finishProgress()
            return record()
        }
        // A child that is not finished would count for ever: finished, and taken back, it counts for nothing.
        finishProgress()
        progress.completedUnitCount -= pending.weight
        return stop(with: outcome.error)
    }

    /// Notes that a deferred step stops between two batches.
    private func interrupt() -> Action? {
        _ = journal.stop(steps[index], isFailure: false)
        return record()
    }

    /// Reports the error of a step that a deferred run leaves pending; why the run itself ends is no error of a step.
    private func report(_ error: any Error) {
        guard let error = error as? MigrationError, error.code != .suspended else { return }
        tally.failures.append(error)
    }

    /// Goes on after a step.
    ///
    /// A launch writes its end with the start of the next one. A deferred run does so at once, and so does a launch that
    /// holds the lock of a deferred closure: whoever takes the lock next finds the step done.
    private func record(isDone: Bool = false) -> Action? {
        guard !isLaunch || unlock != nil, !journal.isWritten(steps[index].place) else {
            releaseLock()
            if isDone { noteDone() }
            return advance()
        }
        phase = .recording(isDone: isDone)
        return .elsewhere(saving(journal.saving(only: steps[index].place)))
    }

    private func stop(with error: any Error) -> Action? {
        releaseLock()
        guard isLaunch else {
            self.error = error
            phase = .ended
            return nil
        }
        phase = .ending(error)
        return .elsewhere(saving(journal.saving()))
    }

    private func end() -> Action? {
        guard isLaunch else {
            phase = .ended
            return nil
        }
        unprepared = plan.unprepared[...]
        return prepare()
    }

    /// Reads the bounds of the next deferred step that waits, and at last writes down that the launch is complete.
    private func prepare() -> Action? {
        guard let pending = unprepared.popFirst() else {
            journal.finish()
            phase = .ending(nil)
            return .elsewhere(saving(journal.saving()))
        }
        guard case .batches(let work)? = registered(pending.step) else {
            journal.prepare(pending, StepPosition())
            return prepare()
        }
        phase = .preparing(pending)
        return .elsewhere { .prepared(try work.begin()) }
    }

    private func prepared(_ pending: LaunchPlan.PendingStep, _ result: Result<Ending, any Error>?) -> Action?
    {
        switch result {
        case .success(.prepared(let position)): journal.prepare(pending, position)
        case .failure(let error):
            let outcome = Outcome(
                error, of: pending.step, attempt: 1, manager: plan.request.manager, interruption: reasonToStop
            )
            guard pending.step.onError != .stop else { return stop(with: outcome.error) }
            if journal.stop(pending, isFailure: outcome.isFailure) {
                tally.skipped.append(pending.step.version)
            }
        default: break
        }
        return prepare()
    }

    private func saving(_ save: @escaping Journal.Save) -> @Sendable () throws -> Ending {
        {
            try save()
            return .done
        }
    }

    // MARK: Interruption and progress

    /// The error with which a launch ends early; nil unless it was cancelled, or the system is about to suspend the process.
    private var reasonToStop: (any Error)? {
        isLaunch ? interruption.error(manager: plan.request.manager, progress) : nil
    }

    /// True if no further batch may begin.
    private var isOver: @Sendable () -> Bool {
        var deadline: ContinuousClock.Instant?
        if case .deferred(let until, _, _) = mode { deadline = until }
        return { [deadline, interruption, progress, isLaunch] in
            interruption.isStopped || progress.isCancelled || Task.isCancelled
                || deadline.map { $0 <= .now } ?? false
                || !isLaunch && SimulatedLaunch.observer?.isTimeOver ?? false
        }
    }

    private func note(_ position: StepPosition) {
        let step = steps[index].step
        tally.positions[index] = position
        if case .deferred(_, _, let progress) = mode {
            progress.note(position, of: index)
        } else if let total = position.total, total > 0, let child = context?.progress {
            child.totalUnitCount = Int64(total)
            child.completedUnitCount = Int64(min(position.done, total))
        }
        announce(step) { .didRunBatch($0, done: position.done, of: position.total) }
    }

    private func finishProgress() {
        guard case .deferred(_, _, let progress) = mode else {
            guard let child = context?.progress else { return }
            child.totalUnitCount = max(1, child.totalUnitCount)
            child.completedUnitCount = child.totalUnitCount
            return
        }
        progress.finish(index)
    }

    /// Sends an event about a step; closures for a version change send none.
    private func announce(_ step: MigrationStep, _ event: (MigrationEvent.Step) -> MigrationEvent.Kind) {
        guard step.kind != .versionChange else { return }
        let pending = steps[index]
        let kind = event(
            MigrationEvent.Step(
                version: step.version,
                database: step.worksInDatabase ? plan.places[pending.place].steps.name : nil,
                schemaVersions: step.isMove ? pending.move.apply : nil, attempt: attempt,
                number: index + 1, count: steps.count { $0.step.kind != .versionChange },
                title: step.title))
        tell(kind)
    }
}

/// The work that a run has done, for its report.
struct Tally {
    /// How long the work took that is complete.
    var duration: Duration = .zero
    var completed: [AppVersion] = []
    var moves: [MigrationMove] = []
    var skipped: [AppVersion] = []
    /// The size of the largest database that a move has migrated.
    var databaseSize: Int64?
    /// The errors of deferred steps that stay pending.
    var failures: [MigrationError] = []
    var isRunningElsewhere = false
    /// How far steps with batches are, by their index in the run.
    var positions: [Int: StepPosition] = [:]
    /// The indexes of the steps that the run has completed, or has given up.
    var ended: Set<Int> = []
}

/// The progress of a step, whose total an app may set to the number of its files, even if there are none.
///
/// Foundation on Linux divides by the total of a child.
private final class StepProgress: Progress, @unchecked Sendable {
    override var totalUnitCount: Int64 {
        get { super.totalUnitCount }
        set { super.totalUnitCount = newValue == 0 ? 1 : newValue }
    }
}
