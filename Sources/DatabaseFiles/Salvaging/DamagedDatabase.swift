import AppMigrations
import Foundation
import SchemaMigrations

/// The trees of a database that may be damaged, and the pages that belong to none of them.
struct DamagedDatabase {
    /// A table or an index, as the damaged schema describes it.
    struct Entry {
        let type: String
        let name: SQLName
        let table: SQLName
        let root: Int
        let sql: String?
    }

    let pages: PageSource
    /// The schema, as far as it can be read.
    private(set) var entries: [Entry] = []
    /// True if every row of the schema can be read, so that what it does not name is not there.
    private(set) var hasWholeSchema = false
    /// The trees of the schema's tables and indexes, by their roots.
    var trees: [Int: DamagedTree] = [:]
    /// The trees and single pages that no root leads to.
    var loose: [DamagedTree] = []
    /// The number of pages of deleted rows of which it is unknown which they are.
    private(set) var unknownFreePages = 0
    /// True if it is known which pages are those of deleted rows.
    private(set) var knowsFreePages = false
    /// The pages of deleted rows, as far as they are known.
    private var freePages: Set<Int> = []
    /// True if a page of a tree is in the list of those of deleted rows.
    private var hasFreePageInUse = false
    /// True if a journal beside the file is taken for one of another database, or for an older one, or if damage ends one.
    var hasUnusedJournal = false
    /// True if a page of a tree is not what its parent says, and not merely lost.
    private(set) var hasContradiction = false
    /// True if the schema names tables that cannot be made, so that what it does not name may be one of them.
    private var hasUnknownTables = false

    /// Reads the structure of a file.
    ///
    /// - Parameter journal: the journals that count, as those of another database do not.
    /// - Returns: nil if nothing can be read.
    static func read(_ file: DamagedFile, _ journal: JournalPages?) throws -> DamagedDatabase? {
        guard let format = try PageFormat.find(file, journal) else { return nil }
        return try DamagedDatabase(PageSource(file, format, journal))
    }

    private init(_ pages: PageSource) throws {
        self.pages = pages
        let header = DatabaseHeader(try pages.page(1) ?? [])
        var walk = TreeWalk(pages)
        if let schema = try walk.walk(1, isTable: true) {
            let objects = try rows(of: schema)
            entries = objects.compactMap { Entry($0.record) }
            hasWholeSchema = try entries.count == objects.count && hasAllRows(of: schema)
        }
        let counts = entries.reduce(into: [:]) { $0[$1.root, default: 0] += 1 }
        // Two cannot have one root.
        for entry in entries where entry.root > 1 && counts[entry.root] == 1 {
            trees[entry.root] = try walk.walk(entry.root)
        }
        hasContradiction = walk.hasContradiction
        walk.releaseContested(&trees)
        let unknown = try UnknownPages(pages, header, except: walk.seen)
        knowsFreePages = unknown.hasWholeList
        (freePages, hasFreePageInUse) = (unknown.free, unknown.hasListedInUse)
        unknownFreePages = unknown.lostFreePages
        walk.note(unknown.free)
        try readLooseTrees(unknown, &walk)
    }

    private mutating func readLooseTrees(_ unknown: UnknownPages, _ walk: inout TreeWalk) throws {
        let roots = unknown.roots.map(\.number)
        let children = Set(unknown.roots.lazy.flatMap(\.children))
        // First the trees from their tops, then what is left of them.
        for root in roots.filter({ !children.contains($0) }) + roots {
            guard var tree = try walk.walk(root), !tree.leaves.isEmpty else { continue }
            tree.hasParent = walk.isReferred(to: root)
            loose.append(tree)
        }
    }

    /// Returns the rows of a tree that can be read.
    func rows(of tree: DamagedTree) throws -> [(rowid: Int64?, record: SavedRecord)] {
        var rows: [(Int64?, SavedRecord)] = []
        for leaf in tree.leaves { try forEachRow(in: leaf) { rows.append(($0, $1)) } }
        return rows
    }

    /// Calls the body with each row of a page that can be read.
    ///
    /// - Parameter unreadable: gets the id of each row whose record cannot be read.
    /// - Returns: the number of rows that cannot.
    @discardableResult
    func forEachRow(
        in leaf: TreeLeaf, unreadable: (Int64?) -> Void = { _ in },
        _ body: (Int64?, SavedRecord) throws -> Void
    ) throws -> Int {
        guard let page = try pages.tree(leaf.number) else { return 0 }
        let cells = page.cellsInOrder(in: leaf)
        var lost = page.cells.count - cells.count + page.brokenCells
        var chain: [Int] = []
        for cell in cells {
            if let record = try pages.record(of: cell, in: page, &chain) {
                try body(cell.rowid, record)
            } else {
                lost += 1
                unreadable(cell.rowid)
            }
        }
        return lost
    }

    /// The name of the encoding of texts.
    var encodingName: String { [2: "UTF-16le", 3: "UTF-16be"][pages.encoding] ?? "UTF-8" }

    /// Returns true if every row of a tree can be read.
    func hasAllRows(of tree: DamagedTree) throws -> Bool {
        try tree.missing.isEmpty && tree.leaves.allSatisfy { try forEachRow(in: $0) { _, _ in } == 0 }
    }

    /// Returns true if every page is known to be either in use or one of deleted rows: then one that nothing leads to is in use.
    func knowsAllPages(_ interrupter: Interrupter) throws -> Bool {
        guard knowsFreePages, !hasFreePageInUse, hasWholeSchema, let used = try pagesInUse(interrupter)
        else { return false }
        return freePages.isDisjoint(with: used)
    }

    /// Returns true if an index has fewer entries than its table has rows: it lacks pages, unless it is for a part of the rows.
    func hasTooFewEntries(index name: SQLName, _ interrupter: Interrupter) throws -> Bool {
        func count(_ tree: DamagedTree) throws -> Int {
            try tree.leaves.reduce(0) { sum, leaf in
                try interrupter.check()
                return try sum + (pages.tree(leaf.number)?.cells.count ?? 0)
            }
        }
        guard let entry = entries.first(where: { $0.type == "index" && $0.name == name }),
            let index = tree(of: name), let table = tree(of: entry.table)
        else { return true }
        return try count(index) < count(table)
    }

    /// Returns true unless the schema is whole, and does not name a table.
    func mayHave(_ table: SQLName) -> Bool {
        !hasWholeSchema || hasUnknownTables || entries.contains { $0.name == table }
    }

    /// Takes the trees of tables that cannot be made, since their definitions are damaged, for trees that no root leads to.
    ///
    /// - Parameter known: the tables that there are.
    mutating func releaseUnknownTables(except known: Set<SQLName>) {
        for entry in entries where entry.type == "table" && !entry.name.folded.hasPrefix("sqlite_") {
            guard !known.contains(entry.name), var tree = trees.removeValue(forKey: entry.root) else {
                continue
            }
            // A root leads to it: its rows were not deleted.
            tree.hasParent = true
            loose.append(tree)
            hasUnknownTables = true
        }
    }

    /// Returns the tree of a table or an index; nil if the schema does not lead to it.
    func tree(of name: SQLName) -> DamagedTree? {
        let named = entries.filter { $0.name == name && $0.root > 1 }
        return named.count == 1 ? trees[named[0].root] : nil
    }
}

extension DamagedDatabase.Entry {
    /// Reads a row of the schema (schematab.html).
    init?(_ record: SavedRecord) {
        guard record.values.count == 5, let type = record.text(0), let name = record.text(1),
            let table = record.text(2), let root = record.integer(3) ?? (record.values[3] == .null ? 0 : nil),
            let page = UInt32(exactly: root).flatMap({ Int(exactly: $0) }),
            ["table", "index", "view", "trigger"].contains(type)
        else { return nil }
        let sql = record.text(4)
        // A table has its name three times: two that are equal are right.
        let isDamaged = type == "table" && name != table && sql?.definesTable(named: table) == true
        self.init(
            type: type, name: SQLName(isDamaged ? table : name), table: SQLName(table), root: page, sql: sql)
    }
}

extension String {
    /// Returns true if the text, as SQLite keeps it, makes a table of a name.
    fileprivate func definesTable(named name: String) -> Bool {
        let beginning = "CREATE TABLE "
        guard hasPrefix(beginning) else { return false }
        let rest = dropFirst(beginning.count)
        let quoted = [("\"", "\""), ("`", "`"), ("[", "]"), ("'", "'")].map { "\($0)\(name)\($1)" }
        if quoted.contains(where: rest.hasPrefix) { return true }
        guard rest.hasPrefix(name), let next = rest.dropFirst(name.count).first else { return false }
        return !next.isLetter && !next.isNumber && next != "_" && next != "$"
    }
}
