public import Foundation

/// Information for a step about the launch that runs it, and the means to save where the step is.
///
/// ```swift
/// manager.whenMigratingToVersion("1.1") { context in
///     if context.attempt > 1 { removeHalfImportedFiles() }
///     try importFiles()
/// }
/// ```
public struct MigrationContext: Sendable {
    /// The step.
    package let work: MigrationWork

    /// The kind of this launch, from the step's store or database; in `runDeferred`, which comes after the launch, always
    /// `.relaunch`.
    public let launch: Launch

    /// The version whose data this launch found; nil on a fresh install, on a relaunch and in `runDeferred`, and if unknown.
    public var from: AppVersion? { launch.previousVersion.flatMap { $0 == .zero ? nil : $0 } }

    /// The app version that is being launched.
    public let to: AppVersion

    /// The version that the step is registered for.
    public var version: AppVersion { work.version }

    /// One more than the number of times that the process has died in the step since its last checkpoint.
    ///
    /// Above 1, the step's work may be half done, or done and not yet recorded. An attempt that threw or was cancelled does not
    /// count, because the step could tidy up.
    public let attempt: Int

    /// A Boolean value that indicates whether a later step, or a later schema step, has run already, because this one was added
    /// to the app afterwards, or is deferred.
    ///
    /// Databases may then have a later schema than that of the step's version.
    public let isOutOfOrder: Bool

    /// A Boolean value that indicates whether the step has run before, or was not needed, and runs again: because its condition
    /// `again:` holds, or the app has called ``MigrationManager/rerun(_:)``.
    public let isAgain: Bool

    /// The step's own progress, a child of ``MigrationManager/progress``; in ``MigrationManager/runDeferred(for:while:retrying:)``,
    /// of ``MigrationManager/deferredProgress``, which it does not advance.
    ///
    /// A long step sets its total and counts up. When the progress is cancelled, the step stops by throwing
    /// `CancellationError`.
    public let progress: Progress

    let checkpoints: Checkpoints

    /// Records progress, so that a later crash counts as a first attempt.
    ///
    /// For steps that work in portions and find out themselves where they stopped; `checkpoint(_:)` saves where the step
    /// is, too. Writes to the store at once. A step that is given a database cannot call it: such a step is done as a
    /// whole or not at all.
    ///
    /// - Throws: ``MigrationError``, when the store cannot be written; `CancellationError`, after saving, when the time for
    ///   a deferred step is up: do not catch it.
    public func checkpoint() throws {
        try checkpoints.save(nil)
        try checkpoints.stopIfOver()
    }

    /// Records progress, as the synchronous form does, on a thread of its own, so that the actor of the step is free.
    ///
    /// Swift prefers this form in asynchronous closures: `try await context.checkpoint()`.
    ///
    /// - Throws: as the synchronous form does.
    public nonisolated(nonsending) func checkpoint() async throws {
        try await offload { [checkpoints] in try checkpoints.save(nil) }
        try checkpoints.stopIfOver()
    }

    /// Saves where the step is, durably, so that the next attempt can continue there.
    ///
    /// ```swift
    /// manager.whenMigratingToVersion("2.1") { context in
    ///     let done = try context.lastCheckpoint(as: Int.self) ?? 0
    ///     for (index, file) in try imageFiles().enumerated().dropFirst(done) {
    ///         try makeThumbnail(of: file)
    ///         try context.checkpoint(index + 1)
    ///     }
    /// }
    /// ```
    ///
    /// From here on, ``attempt`` counts from 1 again.
    ///
    /// - Parameter value: where the step is: anything that comes back from JSON as it was.
    /// - Throws: as `checkpoint()` does; also `EncodingError`.
    public func checkpoint(_ value: some Encodable) throws {
        try checkpoints.save(StepPosition.text(of: value))
        try checkpoints.stopIfOver()
    }

    /// Saves where the step is, as the synchronous form does, on a thread of its own, so that the actor of the step is free.
    ///
    /// A write takes as long as the disk needs to make it durable, often 20 ms. Swift prefers this form in asynchronous
    /// closures:
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
    /// - Parameter value: where the step is: anything that comes back from JSON as it was.
    /// - Throws: as the synchronous form does.
    public nonisolated(nonsending) func checkpoint(_ value: some Encodable) async throws {
        let cursor = try StepPosition.text(of: value)
        try await offload { [checkpoints] in try checkpoints.save(cursor) }
        try checkpoints.stopIfOver()
    }

    /// Returns the value that the last checkpoint saved, in this attempt or an earlier one; nil if there is none.
    ///
    /// - Parameter type: the type of the value.
    /// - Throws: `DecodingError`, when the value is of another type.
    public func lastCheckpoint<Value: Decodable>(as type: Value.Type) throws -> Value? {
        try checkpoints.position.withLock { $0 }.cursor(as: type)
    }
}
