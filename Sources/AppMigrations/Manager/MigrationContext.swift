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
}
