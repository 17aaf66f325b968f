public import Foundation

/// Information for a step about the launch that runs it.
///
/// ```swift
/// manager.whenMigratingToVersion("1.1") { context in
///     try importArchive(resuming: context.attempt > 1)
/// }
/// ```
public struct MigrationContext: Sendable {
    /// The manager's name.
    public let manager: String

    /// The kind of this launch, as the place of the step tells it.
    public let launch: Launch

    /// The version whose data this launch found; nil on a fresh install and on a relaunch, and where nothing tells.
    public var from: AppVersion? { launch.previousVersion.flatMap { $0 == .zero ? nil : $0 } }

    /// The app version that is being launched.
    public let to: AppVersion

    /// The version that the step is registered for.
    public let version: AppVersion

    /// The number of times that the step has been started, this time included.
    ///
    /// Above 1, the process died in an earlier attempt: the step's work may be half done, or done and not yet
    /// recorded.
    public let attempt: Int

    /// Whether a later step has run already, because this one was added to the app afterwards.
    ///
    /// Databases may then have a later schema than that of the step's version.
    public let isOutOfOrder: Bool

    /// The step's own progress, a child of ``MigrationManager/progress``.
    ///
    /// A long step sets its total and counts up. When the progress is cancelled, the step stops by throwing
    /// `CancellationError`.
    public let progress: Progress

    let saveCheckpoint: @Sendable () throws -> Void

    /// Records progress, so that a later crash counts as a first attempt.
    ///
    /// For steps that work in portions and resume where they stopped. Writes to the store at once. A step that is
    /// given a database cannot call it: such a step is done as a whole or not at all.
    ///
    /// - Throws: ``MigrationError``, when the store cannot be written.
    public func checkpoint() throws {
        try saveCheckpoint()
    }
}
