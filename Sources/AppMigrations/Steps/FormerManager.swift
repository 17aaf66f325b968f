/// A manager whose steps have come to another one, which was split off from it, or is its new name.
package struct FormerManager: Sendable {
    let name: String
    /// Its steps below this version have come to the other manager; those from there on are its own.
    let end: AppVersion
}

/// The record that a place has of a former manager, if any.
struct FormerRecord: Sendable {
    let manager: String
    /// Its record; nil if it has never begun there.
    let record: MigrationRecord?
    /// True if the app has removed its record, and with it its data.
    let isRemoved: Bool
    /// Its history, if the place may have lost its record, and the app has not removed its data.
    let history: [SettledStep]
    let end: AppVersion

    /// False if it has begun later than the steps left, and so has never had them.
    ///
    /// A split in a pre-release follows managers that began in an earlier one.
    var hasHadSteps: Bool {
        record?.start.map { (end < end.release ? $0 : $0.reach) < end } ?? false
    }

    /// True if nothing is known of it.
    var isUnknown: Bool { record == nil && !isRemoved }
}

extension RecordStorage {
    /// Returns the record that is kept of a former manager.
    func formerRecord(of former: FormerManager) throws -> FormerRecord {
        try StoreAccess.read.of(name) {
            let state = try read(former.name)
            let record = try state.record(of: former.name)
            let isRemoved = try state.hasRemovedRecord(of: former.name)
            let isLost = state.hasLostRecords && record == nil && !isRemoved
            return FormerRecord(
                manager: former.name, record: record, isRemoved: isRemoved,
                history: isLost ? try history(former.name) : [], end: former.end)
        }
    }
}

extension LostRecord {
    /// Returns what is known where steps of other managers have come to this one.
    func following(_ formers: [FormerRecord]) -> LostRecord {
        formers.reduce(into: self) { $0.add($1.history, below: $1.end) }
    }
}
