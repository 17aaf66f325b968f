import Foundation

extension MigrationManager {
    /// Runs every pending step, oldest first, and reports what it did.
    ///
    /// Call it on every launch, once everything is registered and before the data is used. Steps run on the
    /// calling thread, which waits; steps of a database run on the database's queue.
    ///
    /// ```swift
    /// let report = try manager.migrate()
    /// ```
    ///
    /// - Parameters:
    ///   - stop: stops after this version, for code that must run between two steps. Call `migrate()` afterwards: it
    ///     alone completes the launch. Nil for the whole launch.
    ///   - retried: work to retry although the manager has given up on it: for the app's recovery screen, after the error
    ///     `gaveUp`.
    /// - Throws: ``MigrationError``. Mistakes in the registration are thrown before anything runs; one of them is
    ///   an asynchronous step, pending or not. When a step throws, earlier steps stay complete, and the next launch
    ///   retries the step. `CancellationError`, when ``progress`` is cancelled.
    @discardableResult
    public func migrate(
        through stop: AppVersion? = nil, retrying retried: MigrationWork? = nil
    ) throws -> MigrationReport {
        try exclusively {
            try registration.checkSynchronous()
            let input = try launchInput(through: stop, retrying: retried, waitingFor: patience)
            return end(try input.launch(caller()), input.request)
        }
    }

    /// Runs every pending step, oldest first, and reports what it did.
    ///
    /// ```swift
    /// let report = try await manager.migrate()
    /// ```
    ///
    /// Plain steps, the conditions of `again:` and `adopting:` run on the calling actor, which ``Adoption/fileExists(_:means:)`` and
    /// its like keep waiting for a file. Everything else, above all input and output, runs elsewhere; so a step in a database and a
    /// migration do not see the task-local values of the caller. Cancelling the task stops the run as cancelling ``progress`` does, and
    /// leaves the manager usable.
    ///
    /// - Note: At the top level of a `main.swift`, Swift calls the synchronous form, even after `await`. Put the call into
    ///   an `async` function there.
    /// - Parameters:
    ///   - stop: the version up to which pending steps run; nil for all.
    ///   - retried: work to run again although the manager gave up on it.
    ///   - isolation: the actor on which plain steps run; by default that of the caller.
    /// - Throws: as the synchronous form does.
    @discardableResult
    public func migrate(
        through stop: AppVersion? = nil, retrying retried: MigrationWork? = nil,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> MigrationReport {
        try enter()
        defer { leave() }
        let input = try launchInput(
            through: stop, retrying: retried, waitingFor: options.lockTimeout ?? .seconds(60))
        let report = try await onItsThread(isolation: isolation, input.interruption) { try input.launch($0) }
        return end(report, input.request)
    }
}

extension MigrationManager {
    private func launchInput(
        through stop: AppVersion?, retrying work: MigrationWork?, waitingFor patience: Duration
    ) throws -> RunInput {
        let request = try request(through: stop, retrying: work)
        try registration.check()
        // Forget what was decided about a launch, unless a call of `migrate(through:)` has begun it.
        if memory.begun == nil { memory = LaunchMemory(deferred: memory.deferred) }
        return runInput(request, progress, waitingFor: patience)
    }

    @inline(never)
    func runInput(_ request: LaunchRequest, _ progress: Progress, waitingFor patience: Duration) -> RunInput {
        RunInput(
            registration: registration, request: request, formers: adopting.formers, role: options.role,
            progress: progress, patience: patience, memory: memory)
    }

    /// Reports a call, and keeps what it has done for the report of the call that completes the launch.
    private func end(_ report: MigrationReport, _ request: LaunchRequest) -> MigrationReport {
        let isComplete = request.stop == nil
        if isComplete { progress.completedUnitCount = progress.totalUnitCount }
        tell(.finished(report))
        memory.begun = isComplete ? nil : report
        memory.weight = isComplete ? 0 : progress.completedUnitCount
        return report
    }
}

// What a run asks for, where the manager was called.
extension MigrationManager {
    /// The caller of a synchronous form: answers on the spot.
    func caller(while condition: @escaping () -> Bool = { true }) -> Caller {
        Caller(hearsEvents: hearsEvents) { [self] in try answer($0, condition) }
    }

    /// Runs a body on a thread of its own, and answers here what it asks: on the caller's actor, in the caller's task.
    func onItsThread<Value: Sendable>(
        isolation: isolated (any Actor)?, _ interruption: Interruption,
        while condition: () -> Bool = { true }, _ body: @escaping @Sendable (Caller) throws -> Value
    ) async throws -> Value {
        let crossing = Crossing(hearsEvents: hearsEvents, body)
        return try await withTaskCancellationHandler {
            while true {
                // Naming the actor here makes the closure run on it (SE-0420); without it, it would run anywhere.
                switch await crossing.next(isolation: isolation) {
                case .end(let end): return try end.get()
                case .question(let call, let reply):
                    do {
                        // The actor may have been busy until long after the launch was told to stop.
                        if case .closure(_, let context) = call, context.progress.isCancelled,
                            !context.checkpoints.step.isDeferred
                        {
                            throw CancellationError()
                        }
                        reply(.success(try await answer(call, condition, isolation: isolation)))
                    } catch {
                        reply(.failure(error))
                    }
                }
            }
        } onCancel: {
            interruption.stop(.cancelled)
        }
    }

    private func answer(
        _ call: AppCall, _ condition: () -> Bool, isolation: isolated (any Actor)?
    ) async throws -> AppCall.Answer {
        guard case .closure(let index, let context) = call, case .asynchronous(let body) = closures[index]
        else { return try answer(call, condition) }
        try await body(context)
        return .done
    }

    private func answer(_ call: AppCall, _ condition: () -> Bool) throws -> AppCall.Answer {
        switch call {
        case .event(let event): tell(event)
        case .adoption(let request):
            let answer = try adoption(request)
            memory.answer = answer
            return .adoption(answer)
        case .condition: return .condition(condition())
        case .isNeeded(let index): return .condition(try conditions[index]?() ?? false)
        // The synchronous forms refuse asynchronous ones.
        case .closure(let index, let context):
            if case .plain(let body) = closures[index] { try body(context) }
        }
        return .done
    }

    private var hearsEvents: Bool { environment.observer != nil || options.onEvent != nil }

    @inline(never)
    func tell(_ kind: MigrationEvent.Kind) {
        guard hearsEvents else { return }
        let event = MigrationEvent(manager: name, kind: kind)
        environment.observer?.note(event)
        options.onEvent?(event)
    }
}
