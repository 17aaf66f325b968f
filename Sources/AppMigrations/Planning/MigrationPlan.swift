/// The pending migrations, oldest first.
///
/// This is the one rule of the package, for the steps of an app and for schema migrations alike:
///
///     pending = everything known that is above the floor, not yet settled,
///               and at most the target — ascending
///
/// A step that is *owed* is pending whatever the floor, until it is settled. The plan is computed from what
/// it is given and touches nothing else, so that a step that was added late is found by the same comparison
/// as any other: there is no high-water mark to hide it.
package struct MigrationPlan<Migration> {
    /// The migrations to run, ascending.
    package private(set) var pending: [Migration] = []

    /// The migrations that are left out because they are at or below the floor and were never settled, ascending.
    package private(set) var belowFloor: [Migration] = []

    /// Computes what is pending.
    ///
    /// - Parameters:
    ///   - known: every migration there is, ascending.
    ///   - version: the version of a migration.
    ///   - floor: nothing at or below it is pending; nil where there is no floor.
    ///   - isSettled: returns true for what has run, or was found not to be needed.
    ///   - isOwed: returns true for what must run even at or below the floor.
    ///   - target: nothing above it is pending; nil for everything.
    package init<Version: Comparable>(
        known: [Migration], by version: (Migration) -> Version, floor: Version?,
        isSettled: (Migration) -> Bool, isOwed: (Migration) -> Bool = { _ in false }, target: Version? = nil
    ) {
        for migration in known where !isSettled(migration) {
            let version = version(migration)
            if let floor, version <= floor, !isOwed(migration) {
                belowFloor.append(migration)
            } else if target.map({ version <= $0 }) ?? true {
                pending.append(migration)
            }
        }
    }
}
