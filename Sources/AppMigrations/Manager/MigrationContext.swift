public import Foundation

/// What a step is told about the launch that runs it.
public struct MigrationContext: Sendable {
    /// The manager's name.
    public let manager: String

    /// The version whose data this launch found; nil on a fresh install and on a relaunch.
    public let from: AppVersion?

    /// The app version that is being launched.
    public let to: AppVersion

    /// The version that the step is registered for.
    public let version: AppVersion

    /// How often the step has been started, this time included.
    ///
    /// Above 1, the process died in it before: what the step does may be half done, or done and not yet
    /// recorded.
    public let attempt: Int

    /// Whether a later step has run already, since this one was added to the app afterwards.
    ///
    /// Databases may then be at a later schema than that of the step's version.
    public let isLate: Bool

    /// The step's own progress, a child of ``MigrationManager/progress``.
    ///
    /// A long step sets its total and counts up, and stops by throwing `CancellationError` when it is
    /// cancelled.
    public let progress: Progress

    let saveCheckpoint: @Sendable () throws -> Void

    /// Tells that the step has got further than in earlier attempts: dying from now on counts as the first time.
    ///
    /// For steps that work in portions and go on where they stopped. Writes to the store at once. In a step that
    /// is given a database it is an error: such a step is done as a whole or not at all.
    ///
    /// - Throws: ``MigrationError``, when the store cannot be written.
    public func checkpoint() throws {
        try saveCheckpoint()
    }
}
