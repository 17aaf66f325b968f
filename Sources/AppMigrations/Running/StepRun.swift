import Foundation

/// Where a piece of work ends in a run.
enum StepEnd {
    /// It is done, and recorded as far as its own transaction does that.
    case done
    /// It has thrown.
    case failed(WorkFailure)
    /// It has ended before its end, between two batches for instance, or another run is working on it.
    case interrupted
    /// Another run has settled it.
    case endedElsewhere
    /// It may not begin, or go on: the process has died in it too often, another run has its lock, or a newer version is there.
    case refused(any Error)
    /// It could not be written down as running.
    case notStarted(any Error)
}

/// One piece of work in a run: its start is written, it runs, and its end is written.
final class StepRun {
    let pending: LaunchPlan.PendingStep
    private let run: Run
    private let number: Int
    private let count: Int

    /// The work as it has begun.
    private var open = OpenWork()
    private var started = ContinuousClock.now
    private var context: MigrationContext?
    /// Held by a deferred closure until its end is written.
    private var lock: RunLock?
    /// True once a batch is done.
    private var hasMoved = false

    /// - Parameter number: the number of the step in the run, from 1.
    init(_ pending: LaunchPlan.PendingStep, number: Int, of count: Int, in run: Run) {
        self.pending = pending
        self.number = number
        self.count = count
        self.run = run
    }

    private var step: MigrationStep { pending.step }
    private var place: LaunchPlan.PlacePlan { run.plan.places[pending.place] }
    private var work: MigrationWork { run.plan.work(of: pending) }
    private var attempt: Int { open.deaths + 1 }
    /// Where the step was left.
    private var position: StepPosition { open.position ?? StepPosition() }
    /// True if it goes on where an earlier attempt has got to.
    var isContinued: Bool { position.hasCursor }

    private var settlement: Settlement {
        Settlement(work: work, appVersion: run.input.request.current, started: started)
    }

    /// Writes the start of the step, and does it.
    ///
    /// ``writeEnd()`` writes its end.
    func perform() -> StepEnd {
        guard step.isDeferred else { return start(from: nil) }
        do {
            guard let lock = try run.stepLock(for: pending, isBegun: false) else { return .interrupted }
            self.lock = lock
            let record = try place.steps.store.record(of: run.manager)
            // A launch may be the first one to write in this place; for a deferred run, a record was there.
            guard record != nil || place.state.record == nil else { return endedElsewhere() }
            if record?.isNewer(than: run.input.request.current) == true {
                return .refused(run.overtakenError(pending))
            }
            let state = record?[step.id]
            // What runs again is settled until its start is written.
            guard state?.isSettled != true || run.plan.isReopened(pending) else { return endedElsewhere() }
            // Others may run their batches between those of this run; a closure keeps the lock until its end.
            if step.kind == .batches { release() }
            return start(from: state)
        } catch {
            return .refused(error)
        }
    }

    /// - Parameter state: the state of the work under its lock; nil if the plan knows it.
    private func start(from state: WorkState?) -> StepEnd {
        if let deaths = run.plan.exhausted(pending, state) {
            return .refused(
                MigrationError.gaveUp(work, step, deaths, by: run.call, in: pending.schema.apply.first))
        }
        open = run.journal.start(pending, from: state)
        do {
            if run.writesEachPlaceAlone {
                try run.journal.save(only: pending.place)
            } else {
                try run.journal.save(last: pending.place)
            }
        } catch {
            run.journal.stop(pending)
            return .notStarted(error)
        }
        // The place may have been busy until long after the launch was told to stop, and its lock may be gone by now.
        if !run.writesEachPlaceAlone, let reason = run.input.reasonToStop {
            run.journal.stop(pending)
            return .refused(reason)
        }
        announce { .willRun($0) }
        do {
            if let end = try run(in: makeContext()) { return end }
            run.journal.end(pending, settlement)
            return .done
        } catch {
            let isCancelled = run.isOver() || context?.progress.isCancelled == true
            return .failed(
                WorkFailure(
                    error, of: step, work: work, attempt: attempt, build: run.input.request.build,
                    after: lastFailure,
                    interruption: run.input.reason(for: error.cause, isCancelled: isCancelled)))
        }
    }

    private func makeContext() -> MigrationContext {
        started = .now
        let progress = run.makeProgress(for: pending)
        run.input.interruption.attach(progress)
        let checkpoints = Checkpoints(
            position: Locked(position), work: work, step: step, store: place.steps.store,
            timeout: run.input.patience, isOver: step.isDeferred ? run.isOver : nil)
        let context = MigrationContext(
            work: work, launch: place.launch, to: run.input.request.current,
            attempt: attempt, isOutOfOrder: pending.isOutOfOrder, isAgain: open.isAgain, progress: progress,
            checkpoints: checkpoints)
        self.context = context
        return context
    }

    /// Does the step.
    ///
    /// - Returns: where it ends, if that is before it is done.
    private func run(in context: MigrationContext) throws -> StepEnd? {
        switch run.body(of: step) {
        case .closure(let index, _), .deferredClosure(let index): try run.caller.run(index, context)
        case .transaction(let work): try work.perform(context, settlement: settlement)
        case .schemaStep(let work):
            let known = Set(place.steps.closures.map(\.id))
            run.workDone.schemaSteps.append(try work.perform(context, knowing: known.contains))
        case .batches(let work): return try runBatches(of: work, context.progress)
        case .versionChange(let indexes):
            for index in indexes {
                try run.input.checkStopped()
                try run.caller.run(index, context)
            }
        }
        return nil
    }

    private func runBatches(of work: any BatchWork, _ progress: Progress) throws -> StepEnd? {
        var batches = work.batches(from: position, in: run.input.registration.environment)
        var last = position
        while true {
            guard let lock = try run.stepLock(for: pending, isBegun: true) else {
                return interrupted()
            }
            let start = ContinuousClock.now
            let outcome = try {
                defer { lock.release() }
                return try batches.next(settlement, patience: run.batchPatience)
            }()
            let duration = ContinuousClock.now - start
            switch outcome {
            case .done: return nil
            case .endedElsewhere: return endedElsewhere()
            case .overtaken:
                run.journal.stop(pending)
                // Nothing of it is lost if this cannot be written.
                try? run.journal.save(only: pending.place)
                return .refused(run.overtakenError(pending))
            case .rowsLeft(let position, let failure):
                note(position, progress)
                throw failure
            case .more(let next):
                hasMoved = hasMoved || next.done != last.done || next.setAside != last.setAside
                last = next
                note(next, progress)
            case .undone: break
            }
            guard try run.pause(after: duration) else { return interrupted() }
        }
    }

    private func note(_ position: StepPosition, _ progress: Progress) {
        run.note(position, of: pending)
        run.show(position, of: pending, in: progress)
        announce { .didRunBatch($0, done: position.done, of: position.knownTotal) }
    }

    /// Ends before the step has come to its end, and not because of it.
    private func interrupted() -> StepEnd {
        run.journal.stop(pending)
        return .interrupted
    }

    private func endedElsewhere() -> StepEnd {
        release()
        run.journal.noteSettled(pending)
        return .endedElsewhere
    }

    // MARK: Failures

    /// The failure before, unless the step has got further since.
    private var lastFailure: String? {
        hasMoved || context?.checkpoints.hasSaved.withLock({ $0 }) == true ? nil : open.lastFailure
    }

    // MARK: End

    /// Writes the end of the step, if it cannot wait for the start of the next one, and releases its lock: whoever takes the lock
    /// next finds the step done.
    func writeEnd() throws {
        defer { release() }
        if run.writesEachPlaceAlone || lock != nil { try run.journal.save(only: pending.place) }
    }

    /// Releases the lock of a deferred closure.
    func release() {
        lock?.release()
        lock = nil
    }

    /// Notes that the step has failed, and tells the app.
    func noteFailure(_ failure: WorkFailure) {
        if step.kind == .deferredClosure, let saved = context?.checkpoints.position {
            run.note(saved.withLock { $0 }, of: pending)
        }
        run.journal.stop(pending, failure: failure.code)
        announce { .didFail($0, failure.cause) }
    }

    /// Notes that the step is done, and recorded as far as it has to be by now.
    func noteDone() {
        let duration = ContinuousClock.now - started
        if step.id.isStep { run.workDone.completed.append(work) }
        run.workDone.duration += duration
        run.noteEnded(pending)
        announce { .didRun($0, duration: duration) }
    }

    /// Fills the step's part of the progress.
    func finishProgress() { context?.progress.finish() }

    /// Sends an event; closures for a version change send none.
    @inline(never)
    private func announce(_ event: (MigrationEvent.Step) -> MigrationEvent.Kind) {
        guard run.caller.hearsEvents, step.kind != .versionChange else { return }
        run.caller.tell(
            event(
                MigrationEvent.Step(
                    work: work, schemaVersions: step.isSchemaStep ? pending.schema.apply : nil,
                    attempt: attempt, number: number, count: count, title: step.title)))
    }
}
