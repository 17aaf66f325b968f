import Foundation

/// The life of one piece of work in a run: it is written down as running, it runs, and it ends.
///
/// Launches and deferred runs decide what its end means for the run.
final class StepLife {
    /// The way in which a run treats its steps.
    struct Rules {
        /// How long to wait for the lock of deferred steps; nil to leave the step to the run that has it.
        let lockTimeout: Duration?
        /// How long a batch waits for its database.
        let patience: Duration
        /// Returns a closure that writes the start of the step.
        let save: () -> Journal.Save
        /// True if the start is written in the place of the step alone.
        let savesPlaceAlone: Bool
        /// Returns true if no further batch may begin.
        let isOver: @Sendable () -> Bool
        /// Returns the error with which the run ends early.
        let reasonToStop: () -> (any Error)?
        /// Returns how long the database belongs to the app after a batch; nil if it does not.
        let pause: (BatchRunner) -> Duration?
        /// Decides whether the next batch may begin.
        let nextBatch: () -> NextBatch
        let makeProgress: () -> Progress
        let notePosition: (StepPosition, Progress?) -> Void
    }

    enum NextBatch {
        case now
        case later(Duration)
        /// In a later run.
        case never
    }

    enum End {
        /// It is done, and recorded as far as its own transaction does that.
        case done
        /// It has thrown.
        indirect case failed(WorkFailure)
        /// It has ended between two batches.
        case interrupted
        /// Another run is working on it.
        case heldElsewhere
        /// Another run has settled it.
        case endedElsewhere
        /// It could not be written down as running.
        case notStarted(any Error)
        /// The process has died in it too often.
        indirect case exhausted(MigrationError)
    }

    let pending: LaunchPlan.PendingStep
    private let number: Int
    private let count: Int
    private let run: RunState
    private let rules: Rules
    private let then: (StepLife, End) -> Action

    private(set) var attempt = 1
    private var started = ContinuousClock.now
    private var context: MigrationContext?
    private var unlock: (@Sendable () -> Void)?
    /// Where a deferred step was left.
    private var position = StepPosition()
    /// True once a batch is done.
    private var hasMoved = false

    /// - Parameters:
    ///   - number: the number of the step in the run, from 1.
    ///   - then: goes on with the run.
    init(
        _ pending: LaunchPlan.PendingStep, number: Int, of count: Int, in run: RunState, _ rules: Rules,
        then: @escaping (StepLife, End) -> Action
    ) {
        self.pending = pending
        self.number = number
        self.count = count
        self.run = run
        self.rules = rules
        self.then = then
    }

    private var step: MigrationStep { pending.step }

    private var body: StepBody { run.registration.body(of: step) }

    private var settlement: Settlement {
        Settlement(work: run.plan.work(of: pending), appVersion: run.plan.request.current, started: started)
    }

    // MARK: Start

    /// Begins the life of the step.
    func begin() -> Action {
        guard step.isDeferred else { return start(from: nil) }
        let (id, manager, store) = (step.id, run.manager, run.store(of: pending))
        // A launch may be the first one to write in this place; for a deferred run, a record was there.
        let isFirst = run.plan.places[pending.place].state.record == nil
        let lock = run.deferredLock(waitingUpTo: rules.lockTimeout, for: pending, isBegun: false)
        return .elsewhere(
            { () throws -> (HeldLock, WorkState?, isPending: Bool)? in
                guard let lock = try lock() else { return nil }
                do {
                    let record = try store.record(of: manager)
                    let isPending = record.map { $0[id]?.isSettled != true } ?? isFirst
                    return (lock, record?[id], isPending)
                } catch {
                    lock.release()
                    throw error
                }
            },
            then: { [self] result in
                switch result {
                case .failure(let error): return then(self, .notStarted(error))
                case .success(nil): return then(self, .heldElsewhere)
                case .success(let (lock, state, isPending)?):
                    unlock = lock.release
                    guard isPending else { return endedElsewhere() }
                    // Others may run their batches between those of this run; a closure keeps the lock until its end.
                    if step.kind == .batches { release() }
                    return start(from: state)
                }
            })
    }

    /// Writes down that the step is running, unless the process has died in it too often.
    private func start(from state: WorkState?) -> Action {
        if let deaths = run.plan.exhausted(pending, state) {
            return then(self, .exhausted(.gaveUp(run.plan.work(of: pending), step, deaths)))
        }
        if case .open(let open) = state { position = open.position ?? position }
        attempt = run.journal.start(pending, from: state)
        return .elsewhere(rules.save()) { [self] result in
            switch result {
            case .failure(let error):
                run.journal.stop(pending)
                return then(self, .notStarted(error))
            case .success:
                run.journal.noteSaved(only: rules.savesPlaceAlone ? pending.place : nil)
                return work()
            }
        }
    }

    /// Releases the lock of a deferred closure, once its end is written.
    func release() {
        unlock?()
        unlock = nil
    }

    /// True if the lock of a deferred closure is held.
    var holdsLock: Bool { unlock != nil }

    // MARK: Work

    private func work() -> Action {
        announce { .willRun($0) }
        started = .now
        let progress = rules.makeProgress()
        run.interruption.attach(progress)
        let checkpoints = Checkpoints(
            of: run.plan.work(of: pending), step, in: run.store(of: pending), waitingUpTo: run.timeout,
            isOver: step.isDeferred ? rules.isOver : nil)
        checkpoints.position.withLock { [position] in $0 = position }
        let context = MigrationContext(
            manager: run.manager, launch: run.plan.places[pending.place].launch, to: run.plan.request.current,
            version: step.version, attempt: attempt, isOutOfOrder: pending.isOutOfOrder, progress: progress,
            checkpoints: checkpoints)
        self.context = context
        switch body {
        case .closure(let body): return .here({ try body(context) }, then: ended)
        case .asynchronous(let body), .deferredClosure(let body):
            return .suspending({ try await body(context) }, then: ended)
        case .transaction(let work):
            return .elsewhere(
                { [settlement] in try work.perform(context, settlement: settlement) }, then: ended)
        case .schemaStep(let work):
            return .elsewhere(
                { try work.perform(context) },
                then: { [self] result in
                    if case .success(let outcome) = result { note(outcome) }
                    return ended(result.map { _ in })
                })
        case .batches(let work):
            return batch(
                BatchRunner(
                    work, rowsSetAside: position.setAside.count, in: run.registration.environment))
        case .versionChange(let changes): return changeVersion(changes[...], context)
        }
    }

    /// Runs the closures for a version change, one after the other.
    private func changeVersion(_ changes: ArraySlice<VersionChange>, _ context: MigrationContext) -> Action {
        guard let change = changes.first, let from = context.from else { return ended(.success(())) }
        let next: (Result<Void, any Error>) -> Action = { [self] result in
            guard case .success = result else { return ended(result) }
            if let reason = rules.reasonToStop() { return ended(.failure(reason)) }
            return changeVersion(changes.dropFirst(), context)
        }
        switch change {
        case .blocking(let body): return .here({ try body(from, context.to) }, then: next)
        case .asynchronous(let body): return .suspending({ try await body(from, context.to) }, then: next)
        }
    }

    private func batch(_ batches: BatchRunner) -> Action {
        let lock = run.deferredLock(waitingUpTo: rules.lockTimeout, for: pending, isBegun: true)
        return .elsewhere(
            {
                [settlement, patience = rules.patience] () throws -> (BatchRunner, BatchOutcome)? in
                guard let lock = try lock() else { return nil }
                defer { lock.release() }
                var batches = batches
                let outcome = try batches.next(settlement, patience: patience)
                return (batches, outcome)
            },
            then: { [self] result in
                switch result {
                case .failure(let error): return ended(.failure(error))
                case .success(nil): return stopped(.heldElsewhere)
                case .success((_, .done)?): return ended(.success(()))
                case .success((_, .endedElsewhere)?): return endedElsewhere()
                case .success((let batches, .rowsLeft(let position, let title))?):
                    note(position)
                    return ended(.failure(batches.failure(leaving: title)))
                case .success((let batches, .more(let position, _))?):
                    hasMoved = true
                    note(position)
                    guard let pause = rules.pause(batches) else { return next(batches) }
                    return .pause(pause) { [self] in next(batches) }
                }
            })
    }

    private func next(_ batches: BatchRunner) -> Action {
        if let reason = rules.reasonToStop() { return ended(.failure(reason)) }
        return switch rules.nextBatch() {
        case .now: batch(batches)
        case .later(let duration): .pause(duration) { [self] in next(batches) }
        case .never: stopped(.interrupted)
        }
    }

    // MARK: End

    private func ended(_ result: Result<Void, any Error>) -> Action {
        switch result {
        case .success:
            run.journal.end(pending, settlement)
            return then(self, .done)
        case .failure(let error):
            return then(
                self,
                .failed(
                    WorkFailure(
                        error, of: step, work: run.plan.work(of: pending), attempt: attempt,
                        build: run.plan.request.build, after: lastFailure, interruption: rules.reasonToStop())
                ))
        }
    }

    /// The failure before, unless the step has got further since.
    private var lastFailure: String? {
        guard !hasMoved, context?.checkpoints.hasSaved != true else { return nil }
        return run.journal.lastFailure(of: pending)
    }

    /// Ends before the step has come to its end, and not because of it.
    private func stopped(_ end: End) -> Action {
        run.journal.stop(pending)
        return then(self, end)
    }

    private func endedElsewhere() -> Action {
        release()
        run.journal.noteSettled(pending)
        return then(self, .endedElsewhere)
    }

    /// Notes that the step has failed, and tells the app.
    func noteFailure(_ failure: WorkFailure) {
        run.journal.stop(pending, failure: failure.code)
        announce { .didFail($0, failure.cause) }
    }

    /// Notes that the step is done, and recorded as far as it has to be by now.
    func noteDone() {
        if step.id.kind == .step { run.tally.completed.append(run.plan.work(of: pending)) }
        run.noteEnded(pending)
        let duration = ContinuousClock.now - started
        run.tally.duration += duration
        announce { .didRun($0, duration: duration) }
    }

    /// The step's own progress; nil before it has begun.
    var progress: Progress? { context?.progress }

    private func note(_ outcome: SchemaStepOutcome) {
        run.tally.schemaSteps.append(
            SchemaStep(
                work: run.plan.work(of: pending), schemaVersions: outcome.applied, undone: outcome.undone,
                warnings: outcome.warnings))
        run.tally.databaseSize = [run.tally.databaseSize, outcome.databaseSize].compactMap(\.self).max()
    }

    private func note(_ position: StepPosition) {
        run.positions[run.plan.work(of: pending)] = position
        rules.notePosition(position, context?.progress)
        announce { .didRunBatch($0, done: position.done, of: position.total) }
    }

    private func announce(_ event: (MigrationEvent.Step) -> MigrationEvent.Kind) {
        run.announce(pending, attempt: attempt, number: number, of: count, event)
    }
}
