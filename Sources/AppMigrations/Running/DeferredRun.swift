import Foundation
import MigrationDiagnostics

extension RunInput {
    /// Runs deferred steps, until all are done or the time is over.
    ///
    /// - Parameter isSynchronous: true if the caller cannot run the closures of steps.
    func runDeferred(for limit: Duration?, _ caller: Caller, isSynchronous: Bool = false) throws
        -> DeferredReport
    {
        var answer = memory.answer
        func plan() throws -> DeferredPlan {
            let results = registration.readStates(waitingUpTo: DeferredRun.shortPatience, following: formers)
            return try deferredPlan(results, &answer, caller)
        }

        let found = try plan()
        if isSynchronous,
            let closure = found.readable.deferred.first(where: { $0.step.kind == .deferredClosure })
        {
            throw MigrationError.asynchronous(
                closure.step.titleAndSource, in: "runDeferred", manager: manager,
                version: closure.step.version)
        }
        guard !found.readable.deferred.isEmpty,
            let held = try store.lock(LockName.deferredRun(of: manager)).held
        else {
            return DeferredReport(found)
        }
        let lock = RunLock(manager, held, in: activity) { [interruption] in interruption.stop(.suspending) }
        defer { lock.release() }
        // Another process may have done it all until now.
        let run = DeferredRun(self, try plan(), until: limit.map { .now + $0 }, caller)
        try run.runSteps()
        return DeferredReport(run.deferredPlan, run)
    }

    /// Plans a deferred run over the databases that can be read; only the store has to be one of them.
    private func deferredPlan(
        _ results: [Result<PlaceState, any Error>], _ answer: inout AdoptionAnswer?, _ caller: Caller
    ) throws -> DeferredPlan {
        guard role == .migrates else { throw MigrationError.neverWrites(manager) }
        var (states, due, unreadable): ([PlaceState], [PlaceSteps], [DeferredPlan.Unreadable]) = ([], [], [])
        for (steps, result) in zip(registration.due, results) {
            do {
                states.append(try result.get())
                due.append(steps)
            } catch {
                if states.isEmpty { throw error }
                unreadable.append(.init(steps: steps, error: error, manager: manager))
            }
        }
        var failures: [MigrationError] = []
        let needed = try registration.neededDeferred(states, of: due, without: unreadable.map(\.steps)) {
            failures.append($0)
        }
        let plan = try LaunchPlan(
            request, states, of: due, again: needed, deadlines: registration.deadlines, answer: &answer,
            asking: caller.adoption)
        guard plan.isReadyForDeferred else {
            // A newer app may have been in a database since.
            let newer = plan.places.map(\.launch).first(where: \.isDowngrade)?.previousVersion
            let since = newer.map { "since version \($0) of the app used this data" } ?? "yet"
            throw unreadable.first?.error
                ?? MigrationError(
                    .notYetMigrated, "`migrate()` hasn't succeeded \(since)",
                    remedy: "Call migrate() first, and runDeferred() when it has succeeded.",
                    manager: manager)
        }
        let deadlines = unreadable.flatMap(\.steps.closures).filter(\.isDeferred).compactMap {
            registration.deadlines[$0.version]
        }
        return DeferredPlan(
            readable: plan, unreadable: unreadable, earliestDeadline: deadlines.min(), failures: failures)
    }
}

/// Deferred steps after the launch, oldest first.
///
/// Nothing that goes wrong in one step keeps the others waiting. Between two batches, the run leaves the database to the app.
final class DeferredRun: Run {
    let deferredPlan: DeferredPlan
    /// The errors of deferred steps that stay pending.
    private(set) var failures: [MigrationError] = []
    /// The deferred steps that wait, and that no other run completes without a fix.
    private(set) var stuck: Set<LaunchPlan.StepKey> = []

    private let deadline: ContinuousClock.Instant?
    private let shares: DeferredProgress
    /// The index of the step that comes next, or runs.
    private var index = 0

    /// How long a run waits for one database before it continues with the others.
    static let shortPatience: Duration = .seconds(1)

    /// - Parameter deadline: the time after which no batch begins.
    init(
        _ input: RunInput, _ plan: DeferredPlan, until deadline: ContinuousClock.Instant?, _ caller: Caller
    ) {
        deferredPlan = plan
        self.deadline = deadline
        shares = DeferredProgress(
            input.progress, plan.readable.pendingDeferred(), settledBefore: input.memory.deferred)
        super.init(input, plan.readable, caller)
        unreachable = Set(plan.unreadable.map(\.steps.id))
    }

    /// Runs every step that waits.
    func runSteps() throws {
        announcePlaces()
        let steps = plan.deferred
        while index < steps.count, !isOver() {
            let pending = steps[index]
            if deferredPlan.needsUnreadable(pending) {
                stuck.insert(pending.key)
            } else if let missing = missing(before: pending) {
                // Only an update of the app ends that.
                if plan.isHeld(missing) { report(missingError(missing, before: pending), of: pending) }
                // Nor does another run help where none helps the step that it waits for.
                if stuck.contains(missing) { stuck.insert(pending.key) }
            } else if try waitUntilAllowed() {
                perform(StepRun(pending, number: index + 1, of: steps.count, in: self))
            }
            index += 1
        }
    }

    private func announcePlaces() {
        for place in Set(plan.deferred.filter { $0.step.kind == .batches }.map(\.place)).inOrder() {
            let place = plan.places[place].steps.place
            if place.failsOthersWhileWriting { caller.tell(.lacksBusyTimeout(database: place.name)) }
        }
    }

    private func perform(_ step: StepRun) {
        let pending = step.pending
        let end = step.perform()
        // Or the whole would keep it.
        step.finishProgress()
        switch end {
        case .endedElsewhere:
            noteEnded(pending)
            shares.finish(index)
        case .refused(let error), .notStarted(let error):
            step.release()
            return report(error, of: pending)
        case .failed(let failure):
            step.noteFailure(failure)
            report(failure.error, of: pending)
        case .done, .interrupted: break
        }
        do {
            try step.writeEnd()
            guard case .done = end else { return }
            step.noteDone()
            shares.finish(index)
        } catch {
            report(error, of: pending)
        }
    }

    /// Reports the error of a step that stays pending; why the run itself ends is no error of a step.
    private func report(_ error: any Error, of pending: LaunchPlan.PendingStep) {
        guard let error = error as? MigrationError, error.code != .suspended else { return }
        failures.append(error)
        if !Obstacle.mayPass(error), !ended.contains(pending.key) { stuck.insert(pending.key) }
    }

    // MARK: How a deferred run treats its steps

    override var call: String { "runDeferred" }

    override var lockTimeout: Duration? { nil }

    /// Short, since a wait for a database ends neither at the deadline nor when the process is about to be suspended.
    override var batchPatience: Duration { Self.shortPatience }

    override var writesEachPlaceAlone: Bool { true }

    override var isOver: @Sendable () -> Bool {
        { [deadline, isStopped = super.isOver, observer = input.registration.environment.observer] in
            isStopped() || Task.isCancelled || deadline.map { $0 <= .now } ?? false
                || observer?.isTimeOver ?? false
        }
    }

    override func pause(after batch: Duration) throws -> Bool {
        input.interruption.wait(for: Self.pause(after: batch, before: deadline))
        return try waitUntilAllowed()
    }

    /// How long the database belongs to the app after a batch: as long as that took.
    ///
    /// At most a second, since a process that was suspended in a batch would pause for hours, and not beyond the deadline.
    static func pause(after batch: Duration, before deadline: ContinuousClock.Instant?) -> Duration {
        let longest = min(batch, .seconds(1))
        return deadline.map { max(.zero, min(longest, $0 - .now)) } ?? longest
    }

    /// Waits as long as the caller's condition is false.
    ///
    /// - Returns: false if the run is over.
    private func waitUntilAllowed() throws -> Bool {
        while !isOver() {
            if try caller.allowsDeferredWork { return true }
            input.interruption.wait(for: .milliseconds(250))
        }
        return false
    }

    override func makeProgress(for pending: LaunchPlan.PendingStep) -> Progress {
        // Cancelled with the whole, which counts rows, and so nothing of its parts.
        StepProgress(partOf: input.progress, counting: 0)
    }

    override func show(_ position: StepPosition, of pending: LaunchPlan.PendingStep, in progress: Progress) {
        shares.note(position, of: index)
    }
}
