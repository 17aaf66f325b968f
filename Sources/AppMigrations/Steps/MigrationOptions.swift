/// Options of a ``MigrationManager`` that most apps leave at their defaults.
///
/// ```swift
/// let options = MigrationOptions(oldestSupported: "3.0", onEvent: { event in logger.info("\(event)") })
/// ```
public struct MigrationOptions {
    /// The oldest version whose data the app can still migrate.
    ///
    /// For apps that dropped their oldest steps; at most the current version. Older data is left alone, with the error
    /// `tooOld`. Data is at a version of the app, and nothing says which of its sub-migrations it has had: if you drop
    /// those of 3.0, name the version after it. Deferred steps are another matter, as launches are completed without
    /// them: drop one only when a step that is `finishing:` it is at or below this version. A manager that came later
    /// than this version needs none.
    ///
    /// A database is at the last version that was completed there, so have a step or a schema step in it in every version: one that
    /// comes back to a database which others have left out may find it too old.
    public var oldestSupported: AppVersion?

    /// True if steps for versions above the current one are left out until the app reaches their version; by default,
    /// `migrate()` throws `misuse`.
    ///
    /// For tests that launch older versions of the app with all its steps.
    public var ignoresStepsAboveCurrent: Bool

    /// The role of this process: to migrate, or to wait for another one.
    public var role: Role

    /// The line of versions that the current version belongs to.
    ///
    /// The store compares the versions that it has seen within a line only. Managers with independent version numbers,
    /// such as a plug-in's, have a line of their own; all others share `app`.
    public var line: String

    /// The number of times that a step may crash the process in one build of the app before
    /// ``MigrationManager/migrate(through:retrying:)`` throws `gaveUp` instead of retrying it, which ends the crash loop.
    ///
    /// At least 1; 3 by default.
    public var maximumAttempts: Int

    /// How long a launch waits for another run of the same manager, in this process or in another one.
    ///
    /// By default 5 seconds for the synchronous ``MigrationManager/migrate(through:retrying:)`` and 60 for the asynchronous one.
    public var lockTimeout: Duration?

    /// Receives events as they happen, where `migrate` was called.
    public var onEvent: ((MigrationEvent) -> Void)?

    /// Creates options.
    ///
    /// - Parameters:
    ///   - oldestSupported: the oldest version whose data the app can still migrate; nil for any.
    ///   - ignoresStepsAboveCurrent: whether steps above the current version are left out, and not refused.
    ///   - role: the role of this process.
    ///   - line: the line of versions that the current version belongs to.
    ///   - maximumAttempts: the number of crashes of a step in one build before the manager gives up.
    ///   - lockTimeout: how long a launch waits for another run; nil for the default.
    ///   - onEvent: receives events as they happen.
    public init(
        oldestSupported: AppVersion? = nil,
        ignoresStepsAboveCurrent: Bool = false, role: Role = .migrates, line: String = "app",
        maximumAttempts: Int = 3, lockTimeout: Duration? = nil,
        onEvent: ((MigrationEvent) -> Void)? = nil
    ) {
        self.oldestSupported = oldestSupported
        self.ignoresStepsAboveCurrent = ignoresStepsAboveCurrent
        self.role = role
        self.line = line
        self.maximumAttempts = maximumAttempts
        self.lockTimeout = lockTimeout
        self.onEvent = onEvent
    }

    /// The role of a process.
    public enum Role: Sendable {
        /// The process runs what is pending. The default.
        case migrates
        /// The process changes no record: for app extensions, which may be launched before the app.
        ///
        /// While something is pending, `migrate` throws `notYetMigrated`; if a newer version of the app has used
        /// the data, it throws `newerThanThisProcess`.
        ///
        /// On iOS, tvOS, watchOS and visionOS a store in a JSON file that finds no record writes and removes a probe file, to
        /// tell whether protected data can be read.
        case waitsForApp
    }
}
