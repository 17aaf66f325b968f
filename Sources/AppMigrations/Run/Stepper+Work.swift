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
        case .deferredClosure, nil: return closure()
        }
    }

    /// Takes the lock of a deferred step, and then reads where the step was left.
    var locking: @Sendable () throws -> Ending {
        let (store, manager) = (places[steps[index].place].store, plan.request.manager)
        // A launch may be the first one to write in this place; for a deferred run, a record was there.
        return { [lock = batchLock, version = steps[index].step.version, isFirst = isLaunch] in
            guard let lock = try lock() else { return .heldElsewhere }
            do {
                let record = try store.record(of: manager)
                let isPending = record.map { !$0.settled.contains(version) } ?? isFirst
                return .locked(lock, isPending ? record?.positions[version] ?? StepPosition() : nil)
            } catch {
                lock.release()
                throw error
            }
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
        return .elsewhere { [settlement, patience, lock = batchLock] in
            guard let lock = try lock() else { return .heldElsewhere }
            defer { lock.release() }
            var batches = batches
            let outcome = try batches.next(settlement, patience: patience)
            return .ran(batches, outcome)
        }
    }

    /// Takes the lock that keeps other processes from running a batch of this manager's.
    ///
    /// A launch waits for it; a deferred run gets nil while another process has it.
    private var batchLock: @Sendable () throws -> HeldLock? {
        let (store, manager, timeout) = (places[0].store, plan.request.manager, timeout)
        guard isLaunch else { return { try store.lock(LockName.batch(of: manager)).held } }
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
}
