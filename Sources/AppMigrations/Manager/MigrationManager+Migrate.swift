import Foundation

extension MigrationManager {
    /// Runs every pending step, oldest first, and reports what it did.
    ///
    /// Call it on every launch, once everything is registered and before the data is used. Steps run on the
    /// thread that calls it, which waits; those that work in a database run on the database's queue.
    ///
    /// - Throws: ``MigrationError``. Mistakes in the registration are thrown before anything runs; so is
    ///   `asynchronousStep`, when a step that may be suspended is registered, pending or not. When a step
    ///   throws, what ran before it stays done, and the next launch goes on with it. `CancellationError`, when
    ///   ``progress`` is cancelled.
    @discardableResult
    public func migrate() throws -> MigrationReport {
        try launch(.whole)
    }

    /// Runs every pending step, oldest first, and reports what it did.
    ///
    /// Plain steps run on the actor that calls it. Everything else, input and output above all, runs elsewhere:
    /// the caller's actor is never blocked by it. Cancelling the task stops the run as cancelling ``progress``
    /// does, and leaves the manager usable.
    ///
    /// - Throws: as the synchronous ``migrate()`` does.
    @discardableResult
    public func migrate(isolation: isolated (any Actor)? = #isolation) async throws -> MigrationReport {
        try await launch(.whole, isolation: isolation)
    }

    /// Runs the steps that are pending up to a version, that version included.
    ///
    /// For code that must run between two steps. ``migrate()`` has to follow: it alone completes the launch.
    ///
    /// - Throws: ``MigrationError``, as ``migrate()`` does; also when the version is above the current one.
    @discardableResult
    public func migrate(through version: AppVersion) throws -> MigrationReport {
        try launch(.through(version))
    }

    /// Runs the steps that are pending up to a version, that version included.
    ///
    /// - Throws: as the synchronous ``migrate(through:)`` does.
    @discardableResult
    public func migrate(
        through version: AppVersion, isolation: isolated (any Actor)? = #isolation
    ) async throws -> MigrationReport {
        try await launch(.through(version), isolation: isolation)
    }

    /// Runs every pending step, and tries one again that was given up.
    ///
    /// For the app's recovery screen, after the error `gaveUp`.
    ///
    /// - Throws: as ``migrate()`` does.
    @discardableResult
    public func migrate(retrying version: AppVersion) throws -> MigrationReport {
        forgiving = version
        defer { forgiving = nil }
        return try launch(.whole)
    }

    /// Runs every pending step, and tries one again that was given up.
    ///
    /// - Throws: as ``migrate()`` does.
    @discardableResult
    public func migrate(
        retrying version: AppVersion, isolation: isolated (any Actor)? = #isolation
    ) async throws -> MigrationReport {
        forgiving = version
        defer { forgiving = nil }
        return try await launch(.whole, isolation: isolation)
    }
}

// The two ways of waiting.
extension MigrationManager {
    private func launch(_ extent: MigrationExtent) throws -> MigrationReport {
        try exclusively {
            try checkSynchronous()
            if let report = try reportIfSettled(survey(extent), extent) { return report }
            let interruption = Interruption()
            let release = once(try lock())
            defer { release() }
            interruption.begin(name, expire: release)
            defer { interruption.end() }
            // Another process may have done it all while this one waited.
            let run = run(try survey(extent), extent, interruption)
            while let piece = try run.next() {
                let result: Result<MoveOutcome?, any Error> =
                    switch piece {
                    case .blocking(let work): Result { try work() }
                    case .here(let body): Result { try body() }.map { nil }
                    // Has been refused above.
                    case .asynchronous: .failure(CancellationError())
                    }
                try run.ended(result)
            }
            return run.report
        }
    }

    private func launch(
        _ extent: MigrationExtent, isolation: isolated (any Actor)?
    ) async throws -> MigrationReport {
        try enter()
        defer { leave() }
        let peek = try await survey(extent, isolation: isolation)
        if let report = try reportIfSettled(peek, extent) { return report }
        let interruption = Interruption()
        let release = once(try await lock(isolation: isolation))
        defer { release() }
        interruption.begin(name, expire: release)
        defer { interruption.end() }
        let run = run(try await survey(extent, isolation: isolation), extent, interruption)
        return try await withTaskCancellationHandler {
            // Naming the actor here makes the closure run on it (SE-0420); without it, it would run anywhere.
            try await carryOut(run, isolation: isolation)
        } onCancel: {
            interruption.cancel()
        }
    }

    private func carryOut(
        _ run: MigrationRun, isolation: isolated (any Actor)?
    ) async throws -> MigrationReport {
        while let piece = try run.next() {
            let result: Result<MoveOutcome?, any Error>
            do {
                switch piece {
                case .blocking(let work): result = .success(try await elsewhere(work))
                case .here(let body):
                    try body()
                    result = .success(nil)
                case .asynchronous(let body):
                    try await body()
                    result = .success(nil)
                }
            } catch {
                result = .failure(error)
            }
            try run.ended(result)
        }
        return run.report
    }

    private func survey(
        _ extent: MigrationExtent, isolation: isolated (any Actor)?
    ) async throws -> MigrationSurvey {
        let inquiries = try inquiries(extent)
        let looks = inquiries.map(\.look)
        let views = try await elsewhere { try looks.map { try $0() } }
        return try survey(extent, inquiries, views: views)
    }

    func lock() throws -> @Sendable () -> Void {
        guard options.role == .migrates else {
            throw MigrationError(
                .notYetMigrated, "\(name): this process waits for another one to migrate, and never writes.",
                remedy: "Do it in the process that migrates, or leave out the role .waits.", manager: name)
        }
        do {
            return try waiting(
                for: options.lockTimeout ?? .seconds(5), taking: { try store.lock(name) },
                pausing: { Thread.sleep(forTimeInterval: .random(in: 0.002...0.01)) })
        } catch let error as LockTimeout {
            throw describing(error)
        }
    }

    private func lock(isolation: isolated (any Actor)?) async throws -> @Sendable () -> Void {
        let limit = options.lockTimeout ?? .seconds(60)
        let deadline = ContinuousClock.now + limit
        while true {
            switch try await elsewhere({ [store, name] in try store.lock(name) }) {
            case .acquired(let release): return release
            case .held(let holder):
                guard ContinuousClock.now < deadline else {
                    throw describing(LockTimeout(holder: holder, limit: limit))
                }
                try await Task.sleep(for: .milliseconds(.random(in: 2...10)))
            }
        }
    }

    private func checkSynchronous() throws {
        guard let step = steps.first(where: \.isAsynchronous) else { return }
        throw MigrationError(
            .asynchronousStep, "\(name): \(step.title) (\(step.source)) is asynchronous.",
            remedy: "Call it as try await manager.migrate().", manager: name, version: step.version)
    }
}

/// A lock's release that does nothing when it is called again: somebody else may hold the lock by then.
private func once(_ release: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    let isHeld = Locked(true)
    return {
        let wasHeld = isHeld.withLock { isHeld in
            defer { isHeld = false }
            return isHeld
        }
        if wasHeld { release() }
    }
}
