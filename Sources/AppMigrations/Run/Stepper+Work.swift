// The actions that do a step.
extension Stepper {
    func registered(_ step: MigrationStep) -> MigrationWork? {
        step.kind == .versionChange ? nil : registration.works[step.number]
    }

    var settlement: Settlement {
        Settlement(
            manager: plan.request.manager, version: steps[index].step.version,
            appVersion: plan.request.current, started: started)
    }

    /// Returns the action that does the current step, or its next batch.
    func work() -> Action? {
        guard let context else { return nil }
        phase = .running
        switch registered(steps[index].step) {
        case .closure(let body): return .here { try body(context) }
        case .asynchronous(let body): return .suspending { try await body(context) }
        case .transaction(let work):
            return .elsewhere { [settlement] in
                try work.perform(context, settlement: settlement)
                return .done
            }
        case .move(let move): return .elsewhere { .moved(try move.perform(context)) }
        case .batches: return batch()
        case .deferredClosure:
            phase = .locking
            return .elsewhere { [lock = batchLock, record = currentRecord] in
                guard let release = try lock() else { return .heldElsewhere }
                do {
                    let record = try record()
                    let isSettled = record?.settled.contains(context.version) ?? true
                    return .locked(
                        release: release,
                        isSettled ? nil : record?.positions[context.version] ?? StepPosition())
                } catch {
                    release()
                    throw error
                }
            }
        case nil: return closure()
        }
    }

    /// Returns the action that runs a deferred closure, or the next closure for a version change.
    func closure() -> Action? {
        guard let context else { return nil }
        phase = .running
        if case .deferredClosure(let body)? = registered(steps[index].step) {
            return .suspending { try await body(context) }
        }
        guard let from = context.from, let change = changesLeft.popFirst() else {
            return conclude(.success(.done))
        }
        switch change {
        case .blocking(let body): return .here { try body(from, context.to) }
        case .asynchronous(let body): return .suspending { try await body(from, context.to) }
        }
    }

    private func batch() -> Action? {
        guard let batches else { return nil }
        return .elsewhere { [settlement, lock = batchLock] in
            guard let release = try lock() else { return .heldElsewhere }
            defer { release() }
            var batches = batches
            guard let position = try batches.next(settlement) else { return .done }
            return .more(batches, position)
        }
    }

    /// Takes the lock that keeps other processes from running a batch of this manager's.
    ///
    /// A launch waits for it; a deferred run gets nil while another process has it.
    private var batchLock: @Sendable () throws -> (@Sendable () -> Void)? {
        let (store, manager, timeout) = (registration.places[0].store, plan.request.manager, timeout)
        guard isLaunch else {
            return {
                switch try store.lock(LockName.batch(of: manager)) {
                case .acquired(let release): release
                case .held: nil
                }
            }
        }
        let version = steps[index].step.version
        return {
            try store.lock(LockName.batch(of: manager), waitingUpTo: timeout) { holder in
                MigrationError(
                    .locked, "\(holder) is running a deferred step, and did not pause within \(timeout)",
                    remedy: "Launch again when it has finished, or raise the option `lockTimeout`.",
                    manager: manager, version: version)
            }
        }
    }

    private var currentRecord: @Sendable () throws -> MigrationRecord? {
        let (store, manager) = (registration.places[steps[index].place].store, plan.request.manager)
        return { try store.record(of: manager) }
    }
}
