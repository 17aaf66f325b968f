import AppMigrations

/// A copy of the table of managers' records, as far as it can be read from a tree: that of the table, of its mirror, or of
/// pages that no root leads to.
struct RecordCopy {
    struct Key: Hashable {
        let part: String
        let name: String
    }

    /// The rows that can be read and understood.
    private(set) var rows: [Key: StoreState.Row] = [:]
    /// True if the copy has all rows of its table.
    private(set) var isWhole: Bool
    private var unreadable = 0

    /// Reads the tree of a table.
    init(of tree: DamagedTree, in damaged: DamagedDatabase) throws {
        isWhole = false
        try read(tree, damaged)
        isWhole = tree.missing.isEmpty && unreadable == 0
    }

    /// Reads a tree that no root leads to.
    ///
    /// - Returns: nil if it is none of records, which shows by its rows.
    init?(loose tree: DamagedTree, in damaged: DamagedDatabase) throws {
        guard !tree.isTable else { return nil }
        isWhole = false
        try read(tree, damaged)
        guard !rows.isEmpty, unreadable == 0, rows.keys.allSatisfy({ Self.order.contains($0.part) }) else {
            return nil
        }
        // In the order of their keys, the records come between the first part and the last: what has both has all of them.
        let parts = Set(rows.keys.map(\.part))
        isWhole = tree.missing.isEmpty && parts.isSuperset(of: ["format", "seen"])
    }

    /// The parts of the rows, in the order of their keys.
    private static let order = ["format", "id", "lost", "managers", "replaced", "seen"]

    private mutating func read(_ tree: DamagedTree, _ damaged: DamagedDatabase) throws {
        for leaf in tree.leaves {
            unreadable += try damaged.forEachRow(in: leaf) { _, record in
                guard record.values.count == 3, let part = record.text(0), let name = record.text(1),
                    let value = record.text(2)
                else {
                    unreadable += 1
                    return
                }
                let row = StoreState.Row(part: part, name: name, value: value)
                if row.isReadable {
                    rows[Key(part: part, name: name)] = row
                } else {
                    unreadable += 1
                }
            }
        }
    }
}

extension StoreState.Row {
    /// True if the row can be understood, or a newer version of the package has written it.
    fileprivate var isReadable: Bool {
        do {
            let state = try StoreState(rows: [self])
            for manager in try state.managerNames { _ = try state.record(of: manager) }
            _ = try state.assumptions
            return true
        } catch let error as MigrationError where error.code == .newerThanThisProcess {
            return true
        } catch {
            return false
        }
    }

    /// Returns the one of two versions of a row that is the later one: nothing runs again by it that the other one has
    /// settled.
    ///
    /// - Returns: nil if that can be said of neither.
    func later(_ other: StoreState.Row) -> StoreState.Row? {
        guard self != other, let state = try? StoreState(rows: [self]),
            let otherState = try? StoreState(rows: [other])
        else { return self }
        guard isOfManager else {
            // Versions are only added.
            return state.seen.values.joined().count < otherState.seen.values.joined().count ? other : self
        }
        guard let record = state.onlyRecord, let otherRecord = otherState.onlyRecord else { return nil }
        if record.isAsFar(as: otherRecord) { return self }
        return otherRecord.isAsFar(as: record) ? other : nil
    }

    /// Returns false if the row is older than a line of its manager's history.
    func knows(_ step: SettledStep) -> Bool {
        guard isOfManager, name == StoreState.rowName(of: step.manager),
            let state = try? StoreState(rows: [self])
        else {
            return true
        }
        return state.onlyRecord?.knows(step) ?? true
    }
}

extension StoreState {
    /// The record of the one manager that has one.
    fileprivate var onlyRecord: MigrationRecord? {
        (try? managerNames.first).flatMap { try? record(of: $0) }
    }
}
