import AppMigrations
import Foundation
import GRDB
import SchemaMigrations

/// The records of managers in a damaged database, from whichever of their tables can be read: the table of records, its mirror
/// and the history.
///
/// A record that is older than the rows would let steps run again. So a row counts
///
/// 1. if a root leads to it; of two that differ, the later one counts,
/// 2. or else if two copies have it, or if it is known which pages are deleted,
/// 3. and if it knows every step that the history has.
///
/// Where that does not give every record, it is written down that records are lost.
struct ManagerRecords {
    /// The rows of the table of records.
    private(set) var rows: [StoreState.Row] = []
    private(set) var history: [Int64: String] = [:]
    /// True if the database had records, or may have had some, and not all of them were found.
    private(set) var areLost = false
    /// True if no entry of the history is lost.
    private(set) var hasWholeHistory = true

    /// Takes the records out of a damaged database.
    ///
    /// What of them is on pages that no root leads to is of no other table then.
    init(takenFrom damaged: inout DamagedDatabase) throws {
        let loose = try takeLoose(&damaged)
        if let tree = damaged.tree(of: Self.historyTable), tree.isTable {
            let entries = try damaged.entries(of: tree)
            for (id, text) in entries { history[id] = text }
            hasWholeHistory =
                try entries.count == damaged.rows(of: tree).count && damaged.hasAllRows(of: tree)
        } else {
            hasWholeHistory = !damaged.entries.contains { $0.name == Self.historyTable }
        }
        guard damaged.mayHave(Self.table) || damaged.mayHave(Self.mirror) else { return }
        let rooted = try [Self.table, Self.mirror].compactMap { name in
            try damaged.tree(of: name).map { try RecordCopy(of: $0, in: damaged) }
        }
        areLost = !merge(rooted, loose, isReliable: damaged.knowsFreePages)
    }

    private static let table = SQLName(OwnTables.records)
    private static let mirror = SQLName(OwnTables.mirror)
    static let historyTable = SQLName(OwnTables.history)

    /// Returns true if a table is one of those that are filled from here.
    static func keeps(_ table: SQLName) -> Bool { [Self.table, mirror, historyTable].contains(table) }

    /// Writes the records into the new database.
    func write(_ db: Database) throws {
        var rows = rows
        if areLost {
            var state = StoreState()
            state.markRecordsAsLost(at: Date())
            rows = try state.sharedRows + rows
        }
        try SQLiteStore.restore(rows, history: history.sorted { $0.key < $1.key }.map { ($0, $1) }, db)
    }

    // MARK: Rows of records

    /// Determines each row.
    ///
    /// - Parameter isReliable: whether it is known which pages are deleted.
    /// - Returns: false if some are missing, or may be.
    private mutating func merge(_ rooted: [RecordCopy], _ loose: [RecordCopy], isReliable: Bool) -> Bool {
        var isFound = rooted.contains(where: \.isWhole)
        // What no root leads to may be older, and adds nothing to a whole table.
        var others = isFound ? [] : loose
        if !isReliable { others = others.filter { copy in others.count { $0.rows == copy.rows } > 1 } }
        isFound = isFound || others.contains(where: \.isWhole)
        let settled = history.values.compactMap { SettledStep(json: Data($0.utf8)) }
        for key in Set((rooted + others).flatMap(\.rows.keys)) {
            let versions = rooted.compactMap { $0.rows[key] }
            let latest = Self.latest(versions.isEmpty ? others.compactMap { $0.rows[key] } : versions)
            if let latest, settled.allSatisfy(latest.knows) {
                rows.append(latest)
            } else {
                isFound = false
            }
        }
        // Rows of managers are never removed: where one is missing, the tables are older than the history.
        let known = Set(rows.lazy.filter(\.isOfManager).map(\.name))
        let isReplacement = rows.contains { $0.part == "replaced" }
        return isFound
            && (isReplacement || settled.allSatisfy { known.contains(StoreState.rowName(of: $0.manager)) })
    }

    /// Returns the latest version of a row; nil if it is unknown.
    private static func latest(_ versions: [StoreState.Row]) -> StoreState.Row? {
        versions.dropFirst().reduce(versions.first) { latest, row in latest?.later(row) }
    }

    // MARK: Pages that no root leads to

    /// Returns the copies of records on pages that no root leads to, and takes entries of the history.
    private mutating func takeLoose(_ damaged: inout DamagedDatabase) throws -> [RecordCopy] {
        var (copies, others): ([RecordCopy], [DamagedTree]) = ([], [])
        for tree in damaged.loose {
            if let copy = try RecordCopy(loose: tree, in: damaged) {
                copies.append(copy)
            } else if let entries = try damaged.looseEntries(of: tree) {
                // What has once been settled is settled.
                if damaged.mayHave(Self.historyTable) { history.merge(entries) { first, _ in first } }
            } else {
                others.append(tree)
            }
        }
        damaged.loose = others
        return copies
    }
}

extension DamagedDatabase {
    /// Returns the entries in the tree of a history.
    fileprivate func entries(of tree: DamagedTree) throws -> [(id: Int64, text: String)] {
        try rows(of: tree).compactMap(Self.entry)
    }

    /// Returns the entries in a tree that no root leads to; nil if it is none of a history.
    fileprivate func looseEntries(of tree: DamagedTree) throws -> [(Int64, String)]? {
        guard tree.isTable else { return nil }
        var (entries, count, settled): ([(Int64, String)], Int, Int) = ([], 0, 0)
        do {
            for leaf in tree.leaves {
                try forEachRow(in: leaf) { rowid, record in
                    // Any other table may be too large for the memory.
                    guard settled > 0 || count < 16 else { throw OtherRow() }
                    count += 1
                    guard let entry = Self.entry(rowid, record) else { return }
                    entries.append(entry)
                    if SettledStep(json: Data(entry.1.utf8)) != nil { settled += 1 }
                }
            }
        } catch is OtherRow {
            return nil
        }
        // A newer version of the package may have written some.
        return settled * 2 > entries.count ? entries : nil
    }

    /// Returns the entry in a row of a history; nil if it is none.
    private static func entry(_ rowid: Int64?, _ record: SavedRecord) -> (Int64, String)? {
        guard let rowid, record.values.count == 2, record.values[0] == .null, let text = record.text(1)
        else { return nil }
        return (rowid, text)
    }
}

/// A row that is none of a history.
private struct OtherRow: Error {}
