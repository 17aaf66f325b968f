/// The record that a place has of a manager, and the evidence beside it.
package struct PlaceState: Sendable {
    /// The manager's record in this place; nil when there certainly is none.
    package var record: MigrationRecord?
    /// The app versions that the place has seen, by line.
    package var seen: [String: [SeenVersion]]
    /// The evidence beside the record.
    package var evidence: Evidence
    /// For each move, the schema versions that it will apply after the moves before it.
    package var pending: [[String]]

    package init(
        record: MigrationRecord?, seen: [String: [SeenVersion]], evidence: Evidence, pending: [[String]] = []
    ) {
        self.record = record
        self.seen = seen
        self.evidence = evidence
        self.pending = pending
    }

    /// The part of a store's state that is about a manager.
    ///
    /// - Parameter evidence: asked for where there is no record.
    package init(
        of manager: String, in state: StoreState, evidence: @autoclosure () throws -> Evidence,
        pending: [[String]] = []
    ) throws {
        let record = try state.record(of: manager)
        var found = try record == nil ? evidence() : .empty
        if case .empty = found, record == nil, state.isReplacement { found = .replaced }
        self.init(record: record, seen: state.seen, evidence: found, pending: pending)
    }

    /// The app versions that the place has seen in a line.
    func versions(in line: String) -> [AppVersion] { seen[line, default: []].map(\.version) }

    /// The versions among them that evidence has named.
    func adoptedVersions(in line: String) -> [AppVersion] {
        seen[line, default: []].filter(\.isAdopted).map(\.version)
    }

    func hasSeen(_ version: AppVersion, in line: String) -> Bool {
        seen[line, default: []].contains { $0.version == version }
    }
}

/// The evidence in a place that has no record of a manager.
package enum Evidence: Sendable {
    /// Nothing: no data that an earlier version could have left here.
    case empty
    /// There is data and a ledger of schema migrations, but no step was ever recorded here.
    case ledgerOnly
    /// There is data, and nothing says which version it belongs to.
    case unmanaged
    /// There were records, which were damaged and have been replaced.
    case replaced
}
