import AppMigrations
import Foundation
import GRDB
import SchemaMigrations

/// Fills a new database with the rows of a damaged one, inside a transaction, without enforced foreign keys.
struct Refill {
    let db: Database
    private(set) var damaged: DamagedDatabase
    let interrupter: Interrupter
    let progress: Progress?
    let schema: OwnSchema
    let version: SchemaHistory.Entry
    var layouts: [TableLayout]
    /// False where the app does not enforce foreign keys: a row without its parent may always have been so.
    var removesOrphans = true
    /// The tables of the ledger, if the new database has its own.
    var ledgerTables: Set<SQLName> = []
    var tables: [SQLName: SalvageReport.Table] = [:]
    private(set) var unassigned = 0
    /// True if the new database says that records of managers were lost.
    private(set) var hasLostRecords = false
    /// The places of the tables' pages that are not there.
    private(set) var lost: [SQLName: LostPlaces] = [:]
    /// The parts of tables whose first page is unknown: the keys of each tree, and the places of what it lacks.
    private(set) var found: [SQLName: [(keys: ClosedRange<Int64>, lost: LostPlaces)]] = [:]
    /// The places between the keys of a table's pages, of tables that seem to lack nothing.
    private var gaps: [SQLName: LostPlaces] = [:]
    /// True if a page that nothing leads to is in use; nil if that is not asked yet.
    private var knowsAllPages: Bool?
    /// True for each index that has fewer entries than its table rows, as far as it was asked.
    private var shortIndexes: [SQLName: Bool] = [:]
    /// The tables into which migrations have inserted rows, and of these the ids of rows that cannot be read.
    private var seeded: Set<SQLName> = []
    private(set) var unreadable: [SQLName: Set<Int64>] = [:]
    /// The errors of functions that have refused rows.
    private var functionErrors: [SQLName: DatabaseError] = [:]

    init(
        _ db: Database, from damaged: DamagedDatabase, _ schema: OwnSchema, _ version: SchemaHistory.Entry,
        _ interrupter: Interrupter, _ progress: Progress?
    ) throws {
        (self.db, self.damaged, self.schema, self.version) = (db, damaged, schema, version)
        (self.interrupter, self.progress) = (interrupter, progress)
        layouts = try TableLayout.fetchAll(db)
    }

    /// Inserts every row that belongs to a table, and removes those whose parents are lost.
    ///
    /// - Parameter sync: puts the rows on the disk, on another thread while indexes are made.
    mutating func run(syncing sync: @escaping @Sendable () throws -> Void) throws {
        // They would make rows that were not there.
        var triggers = try remove(where: \.isTrigger)
        var seeds = try places(VirtualTable.fetchAll(db)).compactMap { place in
            try SeededRows(of: place.layout, in: place.table, db)
        }
        try takeOwnSchema(&triggers)
        // They are made faster when the rows are there.
        let indexes = try remove(where: \.isPlainIndex)
        try damaged.exchangeSwappedPages(layouts)
        let records = try ManagerRecords(takenFrom: &damaged)
        try records.write(db)
        hasLostRecords = records.areLost
        if !records.hasWholeHistory {
            let history = ManagerRecords.historyTable
            tables[history, default: SalvageReport.Table(name: history.text)].missingPages += 1
        }
        let virtual = try VirtualTable.fetchAll(db)
        let places = places(virtual)
        seeds = seeds.compactMap { rows in
            places.first { $0.table == rows.table }.flatMap { rows.fitting($0.layout) }
        }
        damaged.releaseUnknownTables(except: Set(layouts.map(\.name)))
        seeded = Set(seeds.map(\.table) + virtual.compactMap(\.content))
        for (layout, table) in places { try fill(layout, RowInsertion(layout, into: table, db), as: table) }
        try fillWithLooseRows(virtual)
        try checkFunctions()
        for rows in seeds { try rows.putBack(db) { mayBeLost($0, from: rows.layout) } }
        try raiseSequences()
        try removeOrphans(seeds)
        for table in virtual where table.content == nil {
            if !table.isExternal {
                try countLost(table)
            } else if try !table.rebuild(db) {
                tables[table.name, default: SalvageReport.Table(name: table.name.text)].unreadable += 1
            }
        }
        try alongside(sync) { for object in indexes + triggers { try make(object) } }
        try countLostObjects()
    }

    /// The result, the largest tables first.
    ///
    /// A migrator's own tables have no rows of the app. Of these, it has those that nothing makes again, if they have lost something.
    var report: [SalvageReport.Table] {
        tables.compactMap { name, table in
            guard OwnTables.isOfMigrator(name) else { return table }
            var lost = SalvageReport.Table(name: table.name)
            let isKept = [OwnTables.details, OwnTables.compatible, ManagerRecords.historyTable].contains(name)
            lost.missingPages = isKept ? table.missingPages + table.unreadable : 0
            return lost
        }
        .filter { $0.found > 0 || $0.missingPages > 0 }
        .sorted { ($0.found, $1.name) > ($1.found, $0.name) }
    }

    /// SQLite's tables in the new database are its own, and so may be the ledger; records are written before.
    private func isFilled(_ layout: TableLayout) -> Bool {
        !layout.isIndex && !layout.name.folded.hasPrefix("sqlite_") && !ManagerRecords.keeps(layout.name)
            && !ledgerTables.contains(layout.name)
    }

    /// The tables that are filled, with the layouts of their rows.
    ///
    /// A full-text table has its rows in another one.
    private func places(_ virtual: [VirtualTable]) -> [(layout: TableLayout, table: SQLName)] {
        let shadows = Set(virtual.flatMap(\.shadows))
        let own = layouts.filter { isFilled($0) && !shadows.contains($0.name) }.map { ($0, $0.name) }
        let texts = virtual.compactMap { table in
            layouts.first { $0.name == table.content }.map { (table.layout(of: $0), table.name) }
        }
        return own + texts
    }

    // MARK: Rows

    private mutating func fill(
        _ layout: TableLayout, _ insertion: RowInsertion, as name: SQLName
    ) throws {
        var table = tables[name] ?? SalvageReport.Table(name: name.text)
        if let tree = damaged.tree(of: layout.name), tree.isTable == layout.hasRowid {
            var missing = tree.missing
            for leaf in tree.leaves where try !fill(leaf, layout, insertion, &table) {
                missing.append(leaf)
                damaged.loose.append(DamagedTree(other: leaf, of: tree))
            }
            table.missingPages += missing.count
            table.missingKeys = LostPlaces.keys(of: missing)
            lost[layout.name] = LostPlaces(missing)
        } else if damaged.mayHave(layout.name) {
            table.missingPages += 1
        }
        tables[name] = table
    }

    /// Inserts the rows of a page.
    ///
    /// - Returns: false if none of them can be one of the table: then the page is another's.
    @discardableResult
    private mutating func fill(
        _ leaf: TreeLeaf, _ layout: TableLayout, _ insertion: RowInsertion,
        _ table: inout SalvageReport.Table,
        strictness: TableLayout.Strictness = .stored, in places: LostPlaces? = nil
    ) throws -> Bool {
        try interrupter.check()
        var (fitting, others) = (0, 0)
        var ids: [Int64] = []
        let note = seeded.contains(layout.name) ? { ids.append($0 ?? 0) } : { (_: Int64?) in }
        let unreadable = try damaged.forEachRow(in: leaf, unreadable: note) { rowid, record in
            if let places, let rowid, !places.hold(rowid...rowid) { return }
            guard layout.fits(record, rowid: rowid, strictness) else {
                others += 1
                return
            }
            fitting += 1
            if try insertion.insert(record, rowid: rowid) {
                table.saved += 1
            } else {
                table.refused += 1
            }
        }
        if let error = insertion.functionError { functionErrors[SQLName(table.name)] = error }
        progress?.completedUnitCount += 1
        guard fitting > 0 || others == 0 else { return false }
        table.unreadable += unreadable + others
        if !ids.isEmpty { self.unreadable[layout.name, default: []].formUnion(ids) }
        return true
    }

    /// Throws if a function has refused several rows of a table, and none was saved: it is to blame then, and not the values.
    private func checkFunctions() throws {
        for (name, error) in functionErrors {
            if let table = tables[name], table.saved == 0, table.refused > 1 { throw error }
        }
    }

    /// Inserts the rows of pages that no root leads to, if they can be those of one table alone that has lost pages.
    private mutating func fillWithLooseRows(_ virtual: [VirtualTable]) throws {
        let shadows = Set(virtual.flatMap(\.shadows))
        let madeAgain = shadows.subtracting(virtual.compactMap(\.content))
        var complete: Set<SQLName> = []
        for layout in layouts {
            if lost[layout.name] == nil, let tree = damaged.tree(of: layout.name) {
                lost[layout.name] = LostPlaces(tree.missing)
            }
            if lost[layout.name]?.isEmpty == true { complete.insert(layout.name) }
        }
        // The largest first, as others may be older copies of a part of them.
        for tree in damaged.loose.sorted(by: { $0.leaves.count > $1.leaves.count }) {
            let all = try damaged.layouts(fitting: tree, among: layouts, .possible)
            if let (layout, strictness, places) = try place(for: tree, all, complete), isFilled(layout),
                !shadows.contains(layout.name)
            {
                let insertion = RowInsertion(layout, db)
                var table = self.tables[layout.name] ?? SalvageReport.Table(name: layout.name.text)
                for leaf in tree.leaves {
                    try fill(leaf, layout, insertion, &table, strictness: strictness, in: places)
                }
                self.tables[layout.name] = table
                if let keys = tree.keys, tree.leaves.count > 1, found[layout.name]?.count ?? 0 < 100 {
                    found[layout.name, default: []].append((keys, LostPlaces(tree.missing)))
                }
            } else if try mayHaveRows(all, complete, madeAgain) {
                unassigned += try tree.leaves.reduce(0) { sum, leaf in
                    var count = 0
                    try damaged.forEachRow(in: leaf) { _, _ in count += 1 }
                    return sum + count
                }
            }
        }
    }

    /// Returns the table that a tree is a part of, what its rows have to be for that, and the places that they have to be in.
    private mutating func place(
        for tree: DamagedTree, _ all: [TableLayout], _ complete: Set<SQLName>
    ) throws -> (TableLayout, TableLayout.Strictness, LostPlaces?)? {
        guard let layout = try owner(of: tree, all, complete) else {
            return try forgetfulTable(of: tree, all, complete).map { ($0, .typical, nil) }
        }
        guard !mayBeDeleted(tree), let strictness = try strictness(for: tree, of: layout, all) else {
            return nil
        }
        // What an older page has beside these was moved to other pages since, or deleted.
        return (layout, strictness, canHold(layout, tree) ? nil : lost[layout.name])
    }

    /// Returns the table that a tree is a part of although no page lacks it: the table's first page is an older copy of itself, or
    /// the schema gives it another page as its first one.
    private mutating func forgetfulTable(
        of tree: DamagedTree, _ all: [TableLayout], _ complete: Set<SQLName>
    ) throws -> TableLayout? {
        let keys = tree.leaves.compactMap(\.keys)
        guard keys.count == tree.leaves.count, all.allSatisfy({ complete.contains($0.name) }) else {
            return nil
        }
        // The keys of pages are apart, but a single page may itself be the older copy.
        let rivals = all.filter { hasRoom(for: keys, in: $0) || damaged.tree(of: $0.name)?.leaves.count == 1 }
        guard rivals.count == 1, hasRoom(for: keys, in: rivals[0]),
            try !damaged.layouts(fitting: tree, among: rivals).isEmpty
        else { return nil }
        let isInUse = try knowsAllPages ?? damaged.knowsAllPages(interrupter)
        knowsAllPages = isInUse
        return isInUse ? rivals[0] : nil
    }

    /// Returns true if the keys of pages are between those of the pages of a table.
    private mutating func hasRoom(for keys: [ClosedRange<Int64>], in layout: TableLayout) -> Bool {
        let places = gaps[layout.name] ?? LostPlaces(damaged.tree(of: layout.name)?.gaps ?? [])
        gaps[layout.name] = places
        return keys.allSatisfy(places.hold)
    }

    /// Returns true if a tree may have rows that were not saved.
    ///
    /// A table that lacks no page has its rows, but where all pages of deleted rows are known, one that nothing leads to is in use.
    ///
    /// - Parameters:
    ///   - all: the tables and indexes that the tree can be a part of.
    ///   - remade: tables whose rows are made from those of others.
    private mutating func mayHaveRows(
        _ all: [TableLayout], _ complete: Set<SQLName>, _ remade: Set<SQLName>
    ) throws -> Bool {
        let tables = all.filter { !$0.isIndex && !ledgerTables.contains($0.name) }
        if all.isEmpty || !tables.allSatisfy({ complete.contains($0.name) }) { return true }
        guard damaged.knowsFreePages, !tables.allSatisfy({ remade.contains($0.name) }) else { return false }
        for index in all where index.isIndex {
            let isShort =
                try shortIndexes[index.name] ?? damaged.hasTooFewEntries(index: index.name, interrupter)
            shortIndexes[index.name] = isShort
            if isShort { return false }
        }
        return true
    }

    /// Returns the table that a tree is a part of, if it can be a part of no other one.
    ///
    /// A page whose keys fit nowhere can be an older one of a table that leads to it.
    private func owner(
        of tree: DamagedTree, _ all: [TableLayout], _ complete: Set<SQLName>
    ) throws -> TableLayout? {
        let rivals = all.filter { !complete.contains($0.name) }
        let holding = rivals.filter { canHold($0, tree) }
        guard holding.isEmpty else { return holding.count == 1 ? holding[0] : nil }
        return try rivals.count == 1 && isOwn(tree, of: rivals[0], all) ? rivals[0] : nil
    }

    /// Returns what the rows of a tree have to be for those of a table; nil if they are not.
    ///
    /// A table's own page may have values of other types than the columns are declared with (datatype3.html, 3).
    private func strictness(
        for tree: DamagedTree, of layout: TableLayout, _ all: [TableLayout]
    ) throws -> TableLayout.Strictness? {
        if try isOwn(tree, of: layout, all) { return .possible }
        return try damaged.layouts(fitting: tree, among: [layout]).isEmpty ? nil : .typical
    }

    /// Returns true if a page is in a place of a table, and only this one can have had it: if the table has some of its rows,
    /// too, which were moved when SQLite divided the page, or if no other table, complete or not, can have had it.
    private func isOwn(_ tree: DamagedTree, of layout: TableLayout, _ all: [TableLayout]) throws -> Bool {
        guard tree.keys != nil, let places = lost[layout.name], places.pages.contains(tree.root),
            let own = damaged.tree(of: layout.name)
        else { return false }
        if try damaged.share(tree, own) { return true }
        return try !all.contains { other in
            guard other.name != layout.name else { return false }
            return try damaged.tree(of: other.name).map { try mayHaveHad(tree, $0, places) } ?? true
        }
    }

    /// Returns true if a table may have had a page that is in a place of another one: if it has some of its rows, or if the
    /// page that it begins with, which no parent describes, can have been in that place.
    private func mayHaveHad(_ page: DamagedTree, _ other: DamagedTree, _ places: LostPlaces) throws -> Bool {
        let isSingle = other.leaves.first?.number == other.root
        return try isSingle && other.keys.map(places.hold) ?? false || damaged.share(page, other)
    }

    /// Returns true if the rows of a tree can be those of a table: if they lie where it has lost a page, or beside what was
    /// found of it.
    private func canHold(_ layout: TableLayout, _ tree: DamagedTree) -> Bool {
        let lost = lost[layout.name]
        guard let keys = tree.keys else {
            // The table's own pages there have no children, or this one would be one of them.
            let isOther = tree.leaves.count > 1 && lost?.pages.contains(tree.root) == true
            return lost?.isEmpty != true && !isOther
        }
        if let lost { return lost.hold(keys) }
        guard let found = found[layout.name] else { return true }
        return found.allSatisfy { !$0.keys.overlaps(keys) || $0.lost.hold(keys) }
    }

    /// Returns true for a tree that nothing leads to, if all of its pages can be among those of deleted rows.
    private func mayBeDeleted(_ tree: DamagedTree) -> Bool {
        !tree.hasParent && tree.leaves.count <= damaged.unknownFreePages
    }

    // MARK: Parents

    /// Removes rows that refer to a row that is not there, and then those that refer to them.
    private mutating func removeOrphans(_ seeds: [SeededRows]) throws {
        for (name, count) in removesOrphans ? try Orphans.remove(db, interrupter) : [:] {
            let own = try seeds.first { $0.table == name }?.countOfRemoved(db) ?? 0
            var table = tables[name] ?? SalvageReport.Table(name: name.text)
            table.saved -= count - own
            table.orphaned += count - own
            tables[name] = table
        }
        for rows in seeds { try rows.remove(db) }
    }
}
