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
    /// releases add before or after it. `migrate(through:)` leaves it out, like any other, if its version is above the limit.
    case only
}
