/// How to handle a step on a fresh install, where there is no old data.
///
/// ```swift
/// manager.whenMigratingToVersion("1.2", onFreshInstall: .run) { try writeDefaults() }
/// ```
public enum FreshInstallRule: Sendable {
    /// The step is settled without running: there is nothing to migrate. The default.
    case skip
    /// The step runs. It stays pending until it has, even if the first launch is cut short.
    case run
}
