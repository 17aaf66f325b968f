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
    /// True if there are more pages of deleted rows than are known.
    private(set) var hasUnknownFreePages = false
    /// True if it is known which pages are those of deleted rows.
    private(set) var knowsFreePages = false
    /// What is wrong, as far as that shows without reading the rows.
    private(set) var faults = 0

    /// Reads the structure, with the journals that fit.
    ///
    /// - Returns: nil if nothing in the file can be read.
    static func read(_ file: DamagedFile, besides journals: [String: DamagedFile]) throws -> DamagedDatabase?
    {
        let header = DatabaseHeader(try file.read(at: 0, count: 100))
        guard let format = try PageFormat.guess(file, header) ?? journals["-wal"].flatMap(PageFormat.ofLog)
        else { return nil }
        var best = try DamagedDatabase(PageSource(file, format), header)
        for (end, journal) in journals.sorted(by: { $0.key > $1.key }) {
            let overlay =
                try end == "-wal"
                ? PageOverlay.writeAheadLog(journal, pageSize: format.pageSize)
                : PageOverlay.rollbackJournal(journal, pageSize: format.pageSize)
            guard let overlay else { continue }
            let source = PageSource(file, format, overlay: overlay)
            let first = try source.page(1) ?? []
            let other = try DamagedDatabase(source, DatabaseHeader(first))
            // What another database's journal changes does not fit together.
            if other.faults <= best.faults { best = other }
        }
        return best
    }

    private init(_ pages: PageSource, _ header: DatabaseHeader) throws {
        self.pages = pages
        var walk = TreeWalk(pages)
        faults = header.isIntact ? 0 : 1
        if let schema = try walk.walk(1, isTable: true) {
            faults += schema.faults
            let objects = try rows(of: schema)
            entries = objects.compactMap { Entry($0.record) }
            hasWholeSchema =
                try schema.faults == 0 && entries.count == objects.count && hasAllRows(of: schema)
        } else {
            faults += 1
        }
        let counts = entries.reduce(into: [:]) { $0[$1.root, default: 0] += 1 }
        for entry in entries where entry.root > 1 {
            // Two cannot have one root.
            guard counts[entry.root] == 1, let tree = try walk.walk(entry.root) else {
                faults += 1
                continue
            }
            trees[entry.root] = tree
            faults += tree.faults
        }
        walk.releaseContested(&trees)
        let unknown = try UnknownPages(pages, header, except: walk.seen)
        if !unknown.hasWholeList { faults += 1 }
        knowsFreePages = unknown.hasWholeList
        hasUnknownFreePages = header.hasMagic && unknown.free.count < header.freelist.count
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
        faults += loose.count
    }

    /// Returns the rows of a tree that can be read.
    func rows(of tree: DamagedTree) throws -> [(rowid: Int64?, record: SavedRecord)] {
        var rows: [(Int64?, SavedRecord)] = []
        for leaf in tree.leaves { try forEachRow(in: leaf) { rows.append(($0, $1)) } }
        return rows
    }

    /// Calls the body with each row of a page that can be read.
    ///
    /// - Returns: the number of rows that cannot.
    @discardableResult
    func forEachRow(in leaf: TreeLeaf, _ body: (Int64?, SavedRecord) throws -> Void) throws -> Int {
        guard let page = try pages.tree(leaf.number) else { return 0 }
        let cells = page.cellsInOrder(in: leaf)
        var lost = page.cells.count - cells.count + page.brokenCells
        var chain: [Int] = []
        for cell in cells {
            chain.removeAll(keepingCapacity: true)
            if let record = try pages.record(of: cell, in: page, &chain) {
                try body(cell.rowid, record)
            } else {
                lost += 1
            }
        }
        return lost
    }

    /// Returns true if every row of a tree can be read.
    func hasAllRows(of tree: DamagedTree) throws -> Bool {
        try tree.missing.isEmpty && tree.leaves.allSatisfy { try forEachRow(in: $0) { _, _ in } == 0 }
    }

    /// Returns the tree of a table or an index; nil if the schema does not lead to it.
    func tree(of name: SQLName) -> DamagedTree? {
        let named = entries.filter { $0.name == name && $0.root > 1 }
        return named.count == 1 ? trees[named[0].root] : nil
    }

    /// The versions in the ledger; nil if it cannot be found.
    func ledgerVersions() throws -> Set<SchemaVersion>? {
        guard let tree = tree(of: "schema_migrations"), tree.isTable else { return nil }
        let versions = try rows(of: tree).compactMap { $0.record.integer(0) ?? $0.rowid }
        return Set(versions.compactMap { SchemaVersion($0) })
    }
}

extension DamagedDatabase.Entry {
    /// Reads a row of the schema (schematab.html).
    fileprivate init?(_ record: SavedRecord) {
        guard record.values.count == 5, let type = record.text(0), let name = record.text(1),
            let table = record.text(2), let root = record.integer(3) ?? (record.values[3] == .null ? 0 : nil),
            let page = UInt32(exactly: root).flatMap({ Int(exactly: $0) }),
            ["table", "index", "view", "trigger"].contains(type)
        else { return nil }
        self.init(
            type: type, name: SQLName(name), table: SQLName(table), root: page, sql: record.text(4))
    }
}
