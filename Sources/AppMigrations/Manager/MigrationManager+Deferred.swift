import Foundation
import MigrationDiagnostics

// Work that no launch has to wait for.
extension MigrationManager {
    /// Registers a step that runs after the launch, outside databases: hashing files, or making thumbnails.
    ///
    /// ```swift
    /// manager.afterMigratingToVersion("2.1-2") { context in
    ///     let done = try context.lastCheckpoint(as: Int.self) ?? 0
    ///     for (index, file) in try imageFiles().enumerated().dropFirst(done) {
    ///         try await makeThumbnail(of: file)
    ///         try await context.checkpoint(index + 1)
    ///     }
    /// }
    /// ```
    ///
    /// ``migrate(through:retrying:)`` only reports it; ``runDeferred(for:while:retrying:)`` runs it, on the actor that calls it.
    /// Work after the last checkpoint runs *at least once*. A fresh install does not need the step.
    ///
    /// - Parameters:
    ///   - version: above that of every step registered before outside databases, and at most the current version or
    ///     one of its sub-migrations.
    ///   - onFreshInstall: whether the step runs where there is no old data.
    ///   - fileID: the file of the registration, for messages.
    ///   - line: the line in it.
    ///   - body: does the work, and saves checkpoints.
    public func afterMigratingToVersion(
        _ version: AppVersion, onFreshInstall: FreshInstallRule = .skip,
        fileID: StaticString = #fileID, line: UInt = #line,
        run body: nonisolated(nonsending) @escaping (MigrationContext) async throws -> Void
    ) {
        register(
            version, .asynchronous(body), isDeferred: true, onFreshInstall: onFreshInstall,
            source: SourceLocation(fileID: fileID, line: line))
    }

    /// Runs deferred steps, oldest first, until all are done or the time is over.
    ///
    /// Call it once ``migrate(through:retrying:)`` has returned, on every launch, or from a background task. It works in
    /// batches of about 50 ms, each in a short transaction, and pauses as long as a batch took, at most a second, so that
    /// the app can write. It ends at the end of a batch: when all is done, when the time is over, when the task is
    /// cancelled, or when the system is about to suspend the app. The next call continues there.
    ///
    /// Nothing that goes wrong in one step keeps the others waiting, also if a database is locked or the disk is full, unless
    /// they are at or above its deadline, `finishing:`. A row that fails is set aside; see <doc:WorkAfterLaunch>.
    ///
    /// - Parameters:
    ///   - limit: the longest time to run; nil for as long as it takes.
    ///   - condition: asked before each step and between batches, on the calling actor. While it returns false, the run pauses: for
    ///     instance `{ !ProcessInfo.processInfo.isLowPowerModeEnabled }`. A closure outside databases is not paused once it runs.
    ///   - work: a step to retry although the manager gave up on it because the process died in it.
    ///   - isolation: the actor on which deferred closures run; the calling one.
    /// - Returns: what was done. If another process, or another call, is running deferred steps, returns at once.
    /// - Throws: ``MigrationError``: with the code `notYetMigrated` unless ``migrate(through:retrying:)`` has completed
    ///   this launch.
    @discardableResult
    public func runDeferred(
        for limit: Duration? = nil, while condition: @escaping () -> Bool = { true },
        retrying work: MigrationWork? = nil, isolation: isolated (any Actor)? = #isolation
    ) async throws -> DeferredReport {
        let input = try deferredInput(retrying: work)
        let report = try await onItsThread(isolation: isolation, input.interruption, while: condition) {
            try input.runDeferred(for: limit, $0)
        }
        return end(report)
    }

    /// Runs deferred steps in databases on this thread, for scripts and tests.
    ///
    /// - Parameters:
    ///   - limit: the time after which the run ends; nil for no limit.
    ///   - condition: is asked before each step and between batches; while it is false, the run pauses.
    ///   - work: a step to run again although the manager gave up on it.
    /// - Throws: as the asynchronous form does; also when a deferred closure is pending, which only that form can run.
    @discardableResult
    public func runDeferred(
        for limit: Duration? = nil, while condition: @escaping () -> Bool = { true },
        retrying work: MigrationWork? = nil
    ) throws -> DeferredReport {
        let input = try deferredInput(retrying: work)
        return end(try input.runDeferred(for: limit, caller(while: condition), isSynchronous: true))
    }

    private func deferredInput(retrying work: MigrationWork?) throws -> RunInput {
        try exclusively {
            try registration.check()
            return runInput(
                try request(through: nil, retrying: work), deferredProgress, waitingFor: patience)
        }
    }

    private func end(_ report: DeferredReport) -> DeferredReport {
        memory.deferred += report.settled
        // Nothing pending is all done.
        if report.pending.isEmpty {
            deferredProgress.completedUnitCount = deferredProgress.totalUnitCount
        }
        return report
    }
}
