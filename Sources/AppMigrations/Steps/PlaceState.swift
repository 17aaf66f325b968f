/// The record that a place has of a manager, and the evidence beside it.
///
/// A class, because copies of so many fields would weigh more than the code that reads them.
package final class PlaceState: Sendable {
    /// Identifies the place, wherever it lies; nil if it has never had a record, nor lost one.
    let storeID: String?
    /// The manager's record in this place; nil if there is none.
    package let record: MigrationRecord?
    /// True if the app has removed the record, and with it the manager's data.
    let hasRemovedRecord: Bool
    /// The app version in which another manager has taken over the steps of this one, which had no record; nil if none has.
    let takenOver: AppVersion?
    /// What is known of the record that the place may have lost; nil if it has lost none.
    let lostRecord: LostRecord?
    /// The managers whose steps have come to this one; read only where it has no record.
    let formerRecords: [FormerRecord]
    /// The app versions that the place has seen, by line of versions, each line in the order in which they came.
    let seen: [String: [SeenVersion]]
    /// The versions that the data was assumed to be at when damaged records were replaced, by line.
    let assumptions: [String: AppVersion]
    /// The evidence beside the record.
    let evidence: Evidence
    /// For each schema step, what it will do after the schema steps before it.
    let pending: [PendingSchema]
    /// The schema versions that the place has had and that no schema step knows, ascending; they stay.
    let newer: [String]

    init(
        storeID: String? = nil, record: MigrationRecord?, hasRemovedRecord: Bool = false,
        takenOver: AppVersion? = nil, lostRecord: LostRecord? = nil, formerRecords: [FormerRecord] = [],
        seen: [String: [SeenVersion]], assumptions: [String: AppVersion] = [:], evidence: Evidence,
        pending: [PendingSchema] = [], newer: [String] = []
    ) {
        self.storeID = storeID
        self.record = record
        self.hasRemovedRecord = hasRemovedRecord
        self.takenOver = takenOver
        self.lostRecord = lostRecord
        self.formerRecords = formerRecords
        self.seen = seen
        self.assumptions = assumptions
        self.evidence = evidence
        self.pending = pending
        self.newer = newer
    }

    /// Creates the part of a store's state that is about a manager.
    ///
    /// - Parameters:
    ///   - evidence: the evidence beside the store, read only if there is no record.
    ///   - history: the manager's history in the store, read only if its record may be lost.
    package convenience init(
        of manager: String, in state: StoreState, evidence: @autoclosure () throws -> Evidence,
        history: @autoclosure () throws -> [SettledStep],
        pending: [PendingSchema] = [], newer: [String] = []
    ) throws {
        let known = try state.record(of: manager)
        guard let record = known, record.hasBegun else {
            let found = try evidence()
            let isRemoved = try state.hasRemovedRecord(of: manager)
            let isLost = state.hasLostRecords && !isRemoved
            self.init(
                storeID: state.id, record: nil, hasRemovedRecord: isRemoved, takenOver: known?.highest,
                lostRecord: isLost ? LostRecord(history: try history()) : nil, seen: state.seen,
                assumptions: try state.assumptions,
                evidence: found == .empty && state.isReplacement ? .replaced : found,
                pending: pending, newer: newer)
            return
        }
        self.init(
            storeID: state.id, record: record, seen: state.seen, evidence: .empty, pending: pending,
            newer: newer)
    }

    /// The manager's record, or those of the managers whose steps have come to it.
    var records: [MigrationRecord] { record.map { [$0] } ?? leavingRecords.compactMap(\.record) }

    /// The records that former managers leave: what the app has removed under a later name is gone.
    var leavingRecords: [FormerRecord] {
        let removed = formerRecords.filter(\.isRemoved).map(\.end).max() ?? .zero
        return formerRecords.filter { $0.record != nil && $0.end >= removed }
    }

    /// Returns true if a step has run, under this manager or a former one.
    func hasRun(_ id: WorkID) -> Bool { records.contains { $0[id] == .done } }

    /// Returns the state of the place with another record.
    func with(_ record: MigrationRecord) -> PlaceState {
        PlaceState(
            storeID: storeID, record: record, seen: seen, evidence: .empty, pending: pending, newer: newer)
    }

    /// Returns the state for a manager to which steps of others have come.
    func following(_ formerRecords: [FormerRecord]) -> PlaceState {
        PlaceState(
            storeID: storeID, record: record, hasRemovedRecord: hasRemovedRecord, takenOver: takenOver,
            lostRecord: lostRecord?.following(formerRecords), formerRecords: formerRecords, seen: seen,
            assumptions: assumptions, evidence: evidence, pending: pending, newer: newer)
    }

    /// Returns true if a version was launched here.
    func hasLaunched(_ version: AppVersion, in line: String) -> Bool {
        for seen in seen(in: line) where !seen.isAdopted { if seen.version == version { return true } }
        return false
    }
}

/// The schema versions with which a schema step will do something, in order.
package struct PendingSchema: Sendable, Equatable {
    /// The unknown versions that it will undo first, newest first.
    package var undo: [String]
    /// The versions that it will apply.
    package var apply: [String]
    /// True if it will write what the ledger lacks besides: the versions at which the database was adopted, or down migrations
    /// that were corrected.
    package var writesLedger: Bool
    /// The number of migrations up to its target, whether they are applied or not.
    package var covered: Int
    /// True if some of its migrations are applied that no schema step before it applies.
    package var hasBegun = false
    /// The latest version of the app that has applied one of these; nil if unknown.
    package var appliedBy: AppVersion?

    package init(
        undo: [String] = [], apply: [String] = [], writesLedger: Bool = false, covered: Int = 0
    ) {
        self.undo = undo
        self.apply = apply
        self.writesLedger = writesLedger
        self.covered = covered
    }

    /// Returns true if the schema step of a version may have applied a migration.
    ///
    /// An older version of the app may have applied some, by a schema step that went to the latest one.
    func hasBegun(by version: AppVersion) -> Bool {
        hasBegun && appliedBy.map { $0.ceiling >= version } ?? true
    }

    /// True if it will do nothing.
    var isEmpty: Bool { count == 0 && !writesLedger }

    var count: Int { undo.count + apply.count }
}

/// The evidence in a place that has no record of a manager.
package enum Evidence: Sendable {
    /// Nothing: no data that an earlier version could have left here.
    case empty
    /// There is data and a ledger of schema migrations, but no step was ever recorded here.
    case ledgerOnly
    /// There is data without a ledger, of which a migrator has found out the schema version.
    case adopted
    /// There is data, and nothing says which version it belongs to.
    case unmanaged
    /// There were records, which were damaged and have been replaced.
    case replaced
}
