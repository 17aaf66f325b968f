/// The versions of the steps that are registered for one place and due in this launch.
package struct DueSteps: Sendable {
    package var versions: Set<AppVersion>
    /// Those among them that run on a fresh install too.
    package var runningOnFreshInstall: Set<AppVersion>

    package init(versions: Set<AppVersion>, runningOnFreshInstall: Set<AppVersion> = []) {
        self.versions = versions
        self.runningOnFreshInstall = runningOnFreshInstall
    }
}
