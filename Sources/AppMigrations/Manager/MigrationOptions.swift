/// What is asked for rarely when a ``MigrationManager`` is created.
public struct MigrationOptions {
    /// Tells at which version an install without a record is.
    ///
    /// By default: there is none from before.
    public var adopting: Adoption?

    /// The oldest version whose data the app can still migrate.
    ///
    /// For apps that dropped their oldest steps: data from before it is the error `tooOld`, and is left alone.
    public var oldestSupported: AppVersion?

    /// What becomes of steps for versions above the current one.
    public var aboveCurrent: AboveCurrentRule

    /// Whether this process migrates, or leaves that to another one.
    public var role: Role

    /// The line of versions that the current version belongs to.
    ///
    /// The versions that a store has seen are compared within a line only. Managers that count in versions of
    /// their own, a plug-in's for instance, have a line of their own; all others share `app`.
    public var line: String

    /// How often a step may die in one build of the app before ``MigrationManager/migrate()`` gives up on it,
    /// with the error `gaveUp`, instead of crashing the app at every launch.
    ///
    /// At least 1; 3 by default.
    public var maximumAttempts: Int

    /// How long a launch waits for another run of the same manager, in this process or in another one.
    ///
    /// By default 5 seconds for the synchronous ``MigrationManager/migrate()`` and 60 for the asynchronous one.
    public var lockTimeout: Duration?

    /// Is told what happens, as it happens, where `migrate` was called.
    public var onEvent: ((MigrationEvent) -> Void)?

    /// Creates options; what is left out has its default.
    public init(
        adopting: Adoption? = nil, oldestSupported: AppVersion? = nil,
        aboveCurrent: AboveCurrentRule = .refuse, role: Role = .migrates, line: String = "app",
        maximumAttempts: Int = 3, lockTimeout: Duration? = nil, onEvent: ((MigrationEvent) -> Void)? = nil
    ) {
        self.adopting = adopting
        self.oldestSupported = oldestSupported
        self.aboveCurrent = aboveCurrent
        self.role = role
        self.line = line
        self.maximumAttempts = maximumAttempts
        self.lockTimeout = lockTimeout
        self.onEvent = onEvent
    }

    /// What becomes of steps for versions above the current one.
    public enum AboveCurrentRule: Sendable {
        /// They are a mistake. The default.
        case refuse
        /// They are left out until the app has reached their version.
        case leaveOut
    }

    /// Whether a process migrates.
    public enum Role: Sendable {
        /// It runs what is pending. The default.
        case migrates
        /// It never writes: for app extensions, which may be launched before the app.
        ///
        /// As long as something is pending, `migrate` throws the error `notYetMigrated`; where a newer version of
        /// the app has been, `newerThanThisProcess`.
        ///
        /// Where there is no record yet, a `JSONStore` on iOS and its kin tries with a file that it removes again
        /// whether protected data can be read.
        case waits
    }
}
