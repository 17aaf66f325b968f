/// The rows that a database has had at some time, and where they went.
struct SalvagePast: Sendable {
    enum Fate: String, Sendable {
        case deleted
        /// The row has another value since.
        case changed
        /// The transaction was rolled back, or never ended.
        case uncommitted
        /// A damaged log has lost the transaction, so SQLite does not know it.
        case lost
        /// Another database has it.
        case foreign
    }

    private(set) var fates: [String: [SalvageRow: Fate]] = [:]
    private var snapshots: [SalvageSnapshot] = []

    /// Adds what was committed once.
    mutating func add(_ snapshot: SalvageSnapshot) {
        snapshots.append(snapshot)
    }

    /// Adds what was never committed, or is lost.
    mutating func add(_ snapshot: SalvageSnapshot, as fate: Fate) {
        for (table, _, row) in snapshot.entries where fates[table]?[row] == nil {
            fates[table, default: [:]][row] = fate
        }
    }

    /// Every snapshot that was committed.
    var committed: [SalvageSnapshot] { snapshots }

    /// Returns what has become of a row that the database does not have; nil if it never had it.
    func fate(of row: SalvageRow, _ key: SalvageRow, in table: String, now: SalvageSnapshot) -> Fate? {
        if let fate = fates[table]?[row] { return fate }
        guard snapshots.contains(where: { $0[table, key] == row }) else { return nil }
        return now[table, key] == nil ? .deleted : .changed
    }
}

/// What a salvage may save of a damaged database, and what it must not.
struct SalvageTruth: Sendable {
    /// The rows that the database has: those that SQLite would show if the pages were not damaged.
    var rows: SalvageSnapshot
    var past: SalvagePast
    /// Earlier states of which the damage has brought pages back, so that nothing in the file shows which ones are the latest.
    var earlier: [SalvageSnapshot] = []
    /// The keys of rows that may come from there, by table; nil for all.
    var earlierKeys: [String: Set<SalvageRow>]?

    enum Judgement: Equatable {
        case right
        /// An earlier value that was committed, where the damage has brought it back.
        case earlier
        /// A row that was deleted since, where the damage has brought it back: whoever leaves it out has lost nothing.
        case deletedEarlier
        case gone(SalvagePast.Fate)
        /// A row that never was.
        case unknown
    }

    func judge(_ row: SalvageRow, _ key: SalvageRow, in table: String) -> Judgement {
        if rows[table, key] == row { return .right }
        let mayBeEarlier = earlierKeys.map { $0[table]?.contains(key) ?? false } ?? true
        if mayBeEarlier, earlier.contains(where: { $0[table, key] == row }) {
            return rows[table, key] == nil ? .deletedEarlier : .earlier
        }
        return past.fate(of: row, key, in: table, now: rows).map(Judgement.gone) ?? .unknown
    }
}
