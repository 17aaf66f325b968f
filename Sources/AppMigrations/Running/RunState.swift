import Foundation

/// What the steps of one run share.
final class RunState {
    let plan: LaunchPlan
    let registration: Registration
    let progress: Progress
    let interruption: Interruption
    /// How long to wait for locks and for other writers.
    let timeout: Duration
    var journal: Journal
    /// The work that the run has done.
    var tally: Tally
    /// The deferred steps that are not done.
    var unfinished: [LaunchPlan.StepKey]
    /// The work that the run has completed.
    private(set) var ended: Set<MigrationWork> = []
    /// How far steps with batches are.
    var positions: [MigrationWork: StepPosition] = [:]
    /// The errors of deferred steps that stay pending.
    var failures: [MigrationError] = []
    /// The deferred steps that wait, and that no other run completes without a fix.
    var stuck: Set<MigrationWork> = []
    var isRunningElsewhere = false
    private let tell: (MigrationEvent.Kind) -> Void

    init(
        _ plan: LaunchPlan, _ registration: Registration, _ lock: RunLock, progress: Progress,
        timeout: Duration,
        tally: Tally = Tally(), tell: @escaping (MigrationEvent.Kind) -> Void
    ) {
        self.plan = plan
        self.registration = registration
        self.progress = progress
        self.timeout = timeout
        self.tally = tally
        self.tell = tell
        interruption = lock.interruption
        journal = Journal(plan, timeout: timeout)
        unfinished = plan.unfinished
    }

    var manager: String { plan.request.manager }

    func store(of pending: LaunchPlan.PendingStep) -> any RecordStorage {
        plan.places[pending.place].steps.place.store
    }

    /// Returns the first step that must be done before another one, and is not.
    func missing(before pending: LaunchPlan.PendingStep) -> LaunchPlan.StepKey? {
        pending.prerequisites.first(where: unfinished.contains)
    }

    /// The error of a step that cannot run before another one is done.
    func isMissing(
        _ missing: LaunchPlan.StepKey, before pending: LaunchPlan.PendingStep
    ) -> MigrationError {
        let isHeld = plan.isHeld(missing)
        let place = plan.places[missing.place].steps.name
        return MigrationError(
            isHeld ? .newerThanThisProcess : .stepFailed,
            "\(pending.step.titleAndSource) was not run: "
                + (isHeld
                    ? "a newer app has used \(place), in which step \(missing.id.version) is not done"
                    : "deferred step \(missing.id.version) is not done"),
            remedy: isHeld ? "Update the app, or restore \(place)." : "The next launch tries it again.",
            work: plan.work(of: pending))
    }

    /// Notes that a step is no longer pending.
    func noteEnded(_ pending: LaunchPlan.PendingStep) {
        unfinished.removeAll { $0 == pending.key }
        ended.insert(plan.work(of: pending))
    }

    /// Sends an event about a step; closures for a version change send none.
    @inline(never)
    func announce(
        _ pending: LaunchPlan.PendingStep, attempt: Int, number: Int, of count: Int,
        _ event: (MigrationEvent.Step) -> MigrationEvent.Kind
    ) {
        guard pending.step.kind != .versionChange else { return }
        tell(
            event(
                MigrationEvent.Step(
                    work: plan.work(of: pending),
                    schemaVersions: pending.step.isSchemaStep ? pending.schema.apply : nil, attempt: attempt,
                    number: number, count: count, title: pending.step.title)))
    }

    /// The error with which a run ends early; nil unless it was cancelled, or the system is about to suspend the process.
    var reasonToStop: (any Error)? { interruption.error(manager: manager, progress) }

    /// Takes the lock of deferred steps, and finds the deaths in those that ran under it.
    ///
    /// - Parameters:
    ///   - limit: how long to wait; nil to return nil while another run has the lock.
    ///   - own: the step that this run has begun.
    func deferredLock(
        waitingUpTo limit: Duration?, for pending: LaunchPlan.PendingStep, isBegun: Bool
    ) -> @Sendable () throws -> HeldLock? {
        let (manager, timeout, step) = (manager, timeout, pending.step)
        let stores = plan.places.map(\.steps.place.store)
        let place = pending.place
        return {
            let name = LockName.batch(of: manager)
            guard
                let lock = try limit.map({ limit in
                    try stores[0].lock(name, waitingUpTo: limit) { holder in
                        MigrationError(
                            .locked,
                            "\(holder) is running a deferred step, and did not pause within \(limit)",
                            remedy: "Launch again when it has finished, or raise the option `lockTimeout`.",
                            manager: manager, version: step.version)
                    }
                }) ?? stores[0].lock(name).held
            else { return nil }
            guard lock.hasDied else { return lock }
            do {
                for (index, store) in stores.enumerated() {
                    try store.findDeaths(
                        of: manager, isDeferred: true, except: isBegun && index == place ? step.id : nil,
                        waitingUpTo: timeout)
                }
            } catch {
                lock.release()
                throw error
            }
            return lock
        }
    }
}
