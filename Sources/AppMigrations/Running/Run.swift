import Foundation

/// The base of ``LaunchRun`` and ``DeferredRun``: work of one manager, step by step.
///
/// A launch treats its steps as this class does; a deferred run overrides each of these members.
///
/// A run belongs to one thread, on which it waits for whatever it needs. It asks its ``Caller`` for what only the app's own
/// code can do.
class Run {
    let input: RunInput
    let plan: LaunchPlan
    let caller: Caller
    var journal: Journal
    /// The work that the run has done.
    var workDone: CompletedWork
    /// The steps that are no longer pending, whoever has done them.
    private(set) var ended: Set<LaunchPlan.StepKey> = []
    /// The places where a process may have died in a deferred step, which could not be written down.
    var unreachable: Set<PlaceID> = []
    /// How far steps with batches are.
    private(set) var positions: [LaunchPlan.StepKey: StepPosition] = [:]

    init(_ input: RunInput, _ plan: LaunchPlan, _ caller: Caller, _ workDone: CompletedWork = CompletedWork())
    {
        self.input = input
        self.plan = plan
        self.caller = caller
        self.workDone = workDone
        journal = Journal(plan, timeout: input.patience)
    }

    var manager: String { input.manager }

    func body(of step: MigrationStep) -> StepBody { input.registration.body(of: step) }

    // MARK: How a launch treats its steps, and a deferred run differently

    /// The function of the manager that runs the steps.
    var call: String { "migrate" }

    /// How long to wait for the lock of a deferred step; nil to leave the step to the run that has it.
    var lockTimeout: Duration? { input.patience }

    /// How long a batch waits for its database.
    var batchPatience: Duration { .seconds(10) }

    /// True if the start and the end of a step are written at once, in its place alone, and an end not together with the start of the
    /// next step.
    var writesEachPlaceAlone: Bool { false }

    /// Returns true if no further batch may begin.
    ///
    /// Any thread: a step's checkpoints ask, too.
    var isOver: @Sendable () -> Bool { { [input] in input.reasonToStop != nil } }

    /// Lets the app work between two batches.
    ///
    /// - Parameter batch: how long the batch took.
    /// - Returns: false if no further batch may begin.
    /// - Throws: the reason to stop.
    func pause(after batch: Duration) throws -> Bool {
        try input.checkStopped()
        return true
    }

    func makeProgress(for pending: LaunchPlan.PendingStep) -> Progress {
        StepProgress(partOf: input.progress, counting: pending.weight)
    }

    func show(_ position: StepPosition, of pending: LaunchPlan.PendingStep, in progress: Progress) {
        guard let total = position.total, total > 0 else { return }
        progress.totalUnitCount = Int64(total)
        progress.completedUnitCount = Int64(min(position.done, total))
    }
}

// MARK: - What has been done

extension Run {
    /// Returns the first step that must be done before another one, and is not.
    func missing(before pending: LaunchPlan.PendingStep) -> LaunchPlan.StepKey? {
        pending.prerequisites.first { !ended.contains($0) }
    }

    /// The error of a step that cannot run before another one is done.
    func missingError(
        _ missing: LaunchPlan.StepKey, before pending: LaunchPlan.PendingStep
    ) -> MigrationError {
        let isHeld = plan.isHeld(missing)
        let place = plan.places[missing.place].steps.name
        return MigrationError(
            isHeld ? .newerThanThisProcess : .stepFailed,
            "\(pending.step.titleAndSource) was not run: "
                + (isHeld
                    ? "a newer app has used \(place), in which \(missing.id.title) is not done"
                    : "deferred step \(missing.id.version) is not done"),
            remedy: isHeld ? "Update the app, or restore \(place)." : "The next launch tries it again.",
            work: plan.work(of: pending))
    }

    /// The error of a step that is left to a newer version of the app, which has begun to migrate its place.
    func overtakenError(_ pending: LaunchPlan.PendingStep) -> MigrationError {
        let place = plan.places[pending.place].steps.name
        return MigrationError(
            .newerThanThisProcess,
            "\(pending.step.titleAndSource) is left to a newer app, which has used \(place) meanwhile",
            remedy: "Leave the data alone until this process has been updated as well.",
            work: plan.work(of: pending))
    }

    /// Notes that a step is no longer pending, whoever has done it.
    func noteEnded(_ pending: LaunchPlan.PendingStep) {
        ended.insert(pending.key)
    }

    func note(_ position: StepPosition, of pending: LaunchPlan.PendingStep) {
        positions[pending.key] = position
    }
}

// MARK: - The lock of a deferred step

extension Run {
    /// Takes the lock under which deferred steps work, and finds the deaths in those that ran under it.
    ///
    /// - Parameter isBegun: true if this run has begun the step itself, so that its start is no death.
    /// - Returns: nil if another run has the lock, and this one does not wait for it.
    func stepLock(for pending: LaunchPlan.PendingStep, isBegun: Bool) throws -> RunLock? {
        let name = LockName.deferredStep(of: manager)
        guard
            let held = try lockTimeout.map({ limit in
                try input.store.lock(name, waitingUpTo: limit, unless: input.checkStopped) { holder in
                    MigrationError(
                        .locked,
                        "\(holder) is running a deferred step, and did not pause within \(limit)",
                        remedy: "Launch again when it has finished, or raise the option `lockTimeout`.",
                        manager: manager, version: pending.step.version)
                }
            }) ?? input.store.lock(name).held
        else { return nil }
        // A process that is suspended must not hold this lock either.
        let lock = RunLock(manager, held, in: input.activity)
        let own = plan.places[pending.place].steps.id
        try lock.findDeaths {
            // A deferred run's plan lacks the databases that cannot be read.
            for place in input.registration.due where !unreachable.contains(place.id) {
                do {
                    try place.store.findDeaths(
                        of: manager, isDeferred: true,
                        except: isBegun && place.id == own ? pending.step.id : nil,
                        waitingUpTo: batchPatience)
                } catch {
                    if place.id == own { throw error }
                    unreachable.insert(place.id)
                }
            }
            if !unreachable.isEmpty { lock.leaveEvidence() }
        }
        return lock
    }
}
