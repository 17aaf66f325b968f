/// Observes the managers of a launch that a test simulates.
///
/// Only `MigrationTesting` has one; in an app there is none.
package protocol LaunchObserver: Sendable {
    /// Returns the store that a manager uses in place of its own.
    func watching(_ store: any RecordStorage) -> any RecordStorage

    /// Receives a database in which a manager has steps.
    func willUse(_ place: any MigrationPlace)

    /// Receives what a manager does.
    func note(_ event: MigrationEvent)

    /// The size of every batch of deferred work: in a test, time decides nothing.
    var batchSize: Int { get }

    /// True if the time for deferred work is over.
    var isTimeOver: Bool { get }
}

/// The launch that a test simulates.
package enum SimulatedLaunch {
    // A task-local, so that a test observes the managers that an app's own code makes, without a hook in that code.
    // A shipped app pays one read of a nil task-local for each manager.

    /// Observes the managers that the current task creates; nil in an app.
    @TaskLocal package static var observer: (any LaunchObserver)?

    /// False in tests that a busy machine must not fail: then no batch of deferred work is cut short because of the time.
    @TaskLocal package static var limitsTime = true

    /// The app's build; nil for that of the main bundle.
    @TaskLocal package static var build: String?
}
