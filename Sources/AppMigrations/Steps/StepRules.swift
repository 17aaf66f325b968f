/// How to handle a step on a fresh install, where there is no old data.
///
/// ```swift
/// manager.whenMigratingToVersion("1.2", onFreshInstall: .run) { try writeDefaults() }
/// ```
public enum FreshInstallRule: Sendable {
    /// The step is settled without running: there is nothing to migrate. The default.
    case skip
    /// The step runs. It stays pending until it has succeeded, even if the first launch is cut short.
    case run
    /// The step runs on fresh installs only, before every other step: it does what a new install needs besides its
    /// tables, such as emptying the keychain that outlived the last install.
    ///
    /// It stays pending until it has succeeded, however often the first launch is cut short, and whatever steps later
    /// releases add before or after it.
    case only
}

/// The rule for a step that throws.
///
/// ```swift
/// manager.whenMigratingToVersion("1.2", onError: .giveUp(after: 5)) { try importBookmarks() }
/// ```
///
/// A step that cannot run now, because a database is locked or the disk is full, or that throws ``MigrationPostponed``, has not
/// failed: it stays pending under either rule.
public enum ErrorRule: Sendable, Equatable {
    /// The manager stops and `migrate()` throws. The next launch retries the step. The default.
    case stop
    /// The step is best-effort: later steps run anyway, and later launches retry it. After this many failures the
    /// manager gives up on it; 1 or less means after the first.
    ///
    /// A step that another one is `finishing:` cannot be best-effort.
    case giveUp(after: Int)
}
