import Foundation

/// How far one deferred step is, in the record of its place, and the locks around it.
///
/// Does input and output, on any thread.
struct DeferredRecord: Sendable {
    let request: LaunchRequest
    let version: AppVersion
    private let work: MigrationRecord.Running
    private let onError: ErrorRule
    /// The store of the step's place.
    private let store: any MigrationStore
    /// The store whose locks the manager takes.
    private let locks: any MigrationStore
    private let writeTimeout: Duration

    init(_ pending: LaunchPlan.PendingStep, _ plan: LaunchPlan, writeTimeout: Duration) {
        request = plan.request
        version = pending.step.version
        work = pending.running(build: plan.request.build)
        onError = pending.step.onError
        store = pending.step.place.store
        locks = plan.places[0].place.store
        self.writeTimeout = writeTimeout
    }

    /// Returns how far the step is; nil once it is settled.
    ///
    /// Under the lock of a batch, this stays so.
    func current() throws -> DeferredState? {
        guard let record = try store.record(of: request.manager), !record.settled.contains(version) else {
            return nil
        }
        return record.deferred[version] ?? DeferredState()
    }

    /// Notes that a batch is being started.
    func start() throws {
        try change { $0.start(work, isRetried: request.retrying == version) }
    }

    /// Notes that the step was interrupted: it has not died.
    func stop() throws {
        try change { $0.running = nil }
    }

    /// Notes that the step has thrown.
    func fail(_ error: any Error) throws -> BatchEnding {
        if error.cause is CancellationError || Obstacle(error.cause) == .suspended {
            // The run stops for another reason than this; at worst, it costs an attempt.
            try? stop()
            return .interrupted(isRunningElsewhere: false)
        }
        var failures = 0
        try change { state in
            state.running = nil
            state.failures = min(state.failures, MigrationRecord.maximumFailures - 1) + 1
            failures = state.failures
        }
        guard case .giveUp(let limit) = onError, failures >= limit else {
            return .failed(error, isSkipped: false)
        }
        try settle(as: .skipped)
        return .failed(error, isSkipped: true)
    }

    /// Settles the step.
    func settle(as outcome: SettledStep.Outcome) throws {
        try store.change(request.manager, waitingUpTo: writeTimeout) { state in
            try state.changeRecord(of: request.manager) { $0?.settle(version) }
            state.newHistory = [request.settled(version, as: outcome)]
        }
    }

    /// Changes how far the step is, unless it has been settled meanwhile.
    func change(_ body: (inout DeferredState) throws -> Void) throws {
        try store.change(request.manager, waitingUpTo: writeTimeout) { state in
            try state.changeRecord(of: request.manager) { record in
                guard var known = record, !known.settled.contains(version) else { return }
                try body(&known.deferred[version, default: DeferredState()])
                record = known
            }
        }
    }

    /// Returns what releases the lock of the next batch; nil while a launch finishes the step.
    func lockBatch() throws -> (@Sendable () -> Void)? {
        switch try locks.lock(LockName.batch(of: request.manager)) {
        case .acquired(let release): release
        case .held: nil
        }
    }

    /// Waits for a batch in another process, and keeps others from beginning one.
    ///
    /// - Returns: what releases the lock.
    func waitForBatchLock() throws -> @Sendable () -> Void {
        try locks.lock(LockName.batch(of: request.manager), waitingUpTo: writeTimeout) { holder in
            MigrationError(
                .locked, "\(holder) is running a deferred step, and did not pause within \(writeTimeout)",
                remedy: "Launch again when it has finished, or raise the option `lockTimeout`.",
                manager: request.manager, version: version)
        }
    }
}

/// The names of a manager's further locks: no manager's own name has a NUL.
enum LockName {
    /// Held by the one process that runs deferred steps.
    static func deferred(of manager: String) -> String { "\(manager)\0deferred" }

    /// Held while a batch runs, and while a launch finishes a deferred step.
    static func batch(of manager: String) -> String { "\(manager)\0batch" }
}
