/// Watches the managers of a launch that a test plays.
///
/// Only `MigrationTesting` has one; in an app there is none.
package protocol LaunchWitness: Sendable {
    /// The store that a manager uses in the place of its own.
    func watching(_ store: any MigrationStore) -> any MigrationStore

    /// Is told a database in which a manager has steps or moves.
    func willUse(_ place: any MigrationPlace)

    /// Is told what a manager does.
    func note(_ event: MigrationEvent)
}

/// The launch that a test is playing.
package enum PlayedLaunch {
    /// Watches the managers that the current task creates; nil in an app.
    @TaskLocal package static var witness: (any LaunchWitness)?
}
