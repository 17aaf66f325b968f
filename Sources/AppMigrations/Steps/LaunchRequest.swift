import Foundation

/// Who launches what, when, and by which rules: everything about a launch that no place has to be asked for.
package final class LaunchRequest: Sendable {
    let manager: String
    package let current: AppVersion
    /// The build of the app, as in `2.0 (417)`.
    let build: String
    /// The build of the app itself, whatever line the manager counts in; nil if unknown, or if an extension runs.
    package let appBuild: String?
    /// The line of versions that the current one belongs to.
    package let line: String
    let oldestSupported: AppVersion?
    let maximumAttempts: Int
    /// Work to try again although the manager has given up on it.
    let retrying: MigrationWork?
    /// Where this call of `migrate` stops; nil for one that completes the launch.
    let stop: AppVersion?
    /// True if closures for a change of the app's version are registered.
    let hasVersionChanges: Bool
    let date: Date

    init(
        manager: String, current: AppVersion, build: String, appBuild: String?, line: String,
        oldestSupported: AppVersion?, maximumAttempts: Int, retrying: MigrationWork?, stop: AppVersion?,
        hasVersionChanges: Bool, date: Date
    ) {
        self.manager = manager
        self.current = current
        self.build = build
        self.appBuild = appBuild
        self.line = line
        self.oldestSupported = oldestSupported
        self.maximumAttempts = maximumAttempts
        self.retrying = retrying
        self.stop = stop
        self.hasVersionChanges = hasVersionChanges
        self.date = date
    }

    /// Returns true if this call leaves a version that is due to a later one.
    func stopsBelow(_ version: AppVersion) -> Bool { stop.map { version > $0 } ?? false }
}
