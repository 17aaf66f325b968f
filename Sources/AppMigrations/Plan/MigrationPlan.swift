/// The pending keys, oldest first.
///
/// This is the one rule of the package, for app versions and for schema versions alike:
///
///     pending = every known key that is above the floor, not yet settled,
///               and at most the target — ascending
///
/// A key that is *owed* is pending whatever the floor, until it is settled. The plan is computed from what
/// it is given and touches nothing else, so that a step that was added late is found by the same comparison
/// as any other: there is no high-water mark to hide it.
package struct MigrationPlan<Key: Comparable & Hashable & Sendable>: Sendable {
    /// The keys to run, ascending.
    package let pending: [Key]

    /// The keys that are left out because they are at or below the floor and were never settled, ascending.
    package let belowFloor: [Key]

    /// Computes what is pending.
    ///
    /// - Parameters:
    ///   - known: every key there is, in any order.
    ///   - floor: nothing at or below it is pending; nil where there is no floor.
    ///   - settled: what has run, or was found not to be needed.
    ///   - owed: what must run even at or below the floor.
    ///   - target: nothing above it is pending; nil for everything.
    package init(
        known: some Sequence<Key>, floor: Key?, settled: Set<Key>, owed: Set<Key> = [], target: Key?
    ) {
        var pending: [Key] = []
        var belowFloor: [Key] = []
        for key in known where !settled.contains(key) {
            if let floor, key <= floor, !owed.contains(key) {
                belowFloor.append(key)
            } else if target.map({ key <= $0 }) ?? true {
                pending.append(key)
            }
        }
        pending.sort()
        belowFloor.sort()
        self.pending = pending
        self.belowFloor = belowFloor
    }
}
