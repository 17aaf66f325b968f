/// The versions of the steps that are registered for one place and due in this launch.
package struct DueSteps: Sendable {
    package var versions: SortedSet<AppVersion>
    /// Those among them that run on a fresh install too.
    package var runningOnFreshInstall: SortedSet<AppVersion>

    package init(versions: SortedSet<AppVersion>, runningOnFreshInstall: SortedSet<AppVersion> = []) {
        self.versions = versions
        self.runningOnFreshInstall = runningOnFreshInstall
    }
}
