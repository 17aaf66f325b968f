package import Foundation

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

/// What a launch is in: a process of its own, unless a test simulates it.
///
/// A manager reads it once, when it is created, and passes it on.
package struct Environment: Sendable {
    /// Observes the managers; nil in an app.
    package var observer: (any LaunchObserver)?

    /// False in tests that a busy machine must not fail: then no batch of deferred work is cut short because of the time.
    package var limitsTime = true

    /// The app's build; nil for that of the main bundle.
    package var build: String?

    /// Returns the date.
    ///
    /// Nothing depends on it: clocks jump.
    package var date: @Sendable () -> Date = { Date() }

    /// The environment of the managers that the current task creates.
    ///
    /// A task-local, so that a test observes the managers that an app's own code makes, without a hook in that code.
    @TaskLocal package static var current = Environment()

    /// Returns the environment of the current task with a change.
    package static func changed(_ change: (inout Environment) -> Void) -> Environment {
        var environment = current
        change(&environment)
        return environment
    }
}
