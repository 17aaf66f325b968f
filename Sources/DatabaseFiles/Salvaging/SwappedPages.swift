import SchemaMigrations

extension DamagedDatabase {
    /// Puts pages back that have changed places with one of another table.
    ///
    /// One of the two shows by its keys, which its parents do not expect. The other may not, as the first page of a table
    /// has no parent: it is the one page that fits the first place exactly, and whose place can hold the keys of the first.
    mutating func exchangeSwappedPages(_ layouts: [TableLayout]) throws {
        let tables: [Int: TableLayout] = entries.reduce(into: [:]) { tables, entry in
            guard entry.type == "table" else { return }
            tables[entry.root] = layouts.first { $0.name == entry.name && !$0.isIndex }
        }
        try exchangeTrees(of: tables)
        let unplaced = Dictionary(loose.map { ($0.root, $0) }) { first, _ in first }
        let places = trees.keys.sorted().flatMap { root in
            (trees[root]?.missing ?? []).filter { unplaced[$0.number] != nil }.map { (root, $0) }
        }
        var exchanged: Set<Int> = []
        // Pages change places by twos, and not by hundreds.
        for (root, place) in places.prefix(100) {
            guard let page = unplaced[place.number],
                let other = try counterpart(of: page, at: place, in: root, tables),
                exchanged.insert(page.root).inserted
            else { continue }
            trees[other.root]?.leaves.removeAll { $0.number == other.leaf.number }
            trees[other.root]?.leaves += page.leaves
            trees[other.root]?.missing += page.missing
            trees[root]?.missing.removeAll { $0.number == place.number }
            trees[root]?.leaves.append(
                TreeLeaf(number: other.leaf.number, low: place.low, high: place.high, keys: other.leaf.keys))
        }
        loose.removeAll { exchanged.contains($0.root) }
    }

    /// Puts the trees of two tables back whose first pages have changed places: the rows that the schema gives the one cannot be
    /// its own, but those of the other, whose rows look like those of the one.
    ///
    /// However short they are, a table's rows can be its own.
    ///
    /// - Parameter tables: the tables by their roots.
    private mutating func exchangeTrees(of tables: [Int: TableLayout]) throws {
        for (root, layout) in tables {
            guard let tree = trees[root], !tree.leaves.isEmpty,
                try layouts(fitting: tree, among: [layout], .stored).isEmpty
            else { continue }
            let others = try tables.keys.filter { other in
                guard other != root, let rival = tables[other], let own = trees[other] else { return false }
                return try !layouts(fitting: tree, among: [rival], .possible).isEmpty
                    && !layouts(fitting: own, among: [layout]).isEmpty
            }
            guard others.count == 1, let other = trees[others[0]] else { continue }
            (trees[root], trees[others[0]]) = (other, tree)
        }
    }

    /// Returns the one page that can have been where a loose one is; nil if there is none, or several.
    private func counterpart(
        of loose: DamagedTree, at place: TreeLeaf, in root: Int, _ tables: [Int: TableLayout]
    ) throws -> (root: Int, leaf: TreeLeaf)? {
        // Unless keys are there twice, or it has children in the place of a leaf, the loose page may be where it was, under
        // a damaged parent.
        guard let keys = loose.keys, let tree = trees[root], let layout = tables[root],
            loose.leaves.count > 1 && place.holds(keys)
                || tree.leaves.contains(where: { $0.keys?.overlaps(keys) == true })
        else { return nil }
        let candidates = trees.keys.filter { $0 != root && tables[$0] != nil }.flatMap { other in
            (trees[other]?.leaves ?? []).filter { place.isExactly($0) && $0.holds(keys) }.map { (other, $0) }
        }
        guard candidates.count < 20 else { return nil }
        let found = try candidates.filter { other, leaf in
            let single = DamagedTree(root: leaf.number, isTable: true, leaves: [leaf])
            return try !layouts(fitting: single, among: [layout]).isEmpty
                && !layouts(fitting: loose, among: tables[other].map { [$0] } ?? []).isEmpty
                && !hasRow(of: leaf, loose)
        }
        return found.count == 1 ? found[0] : nil
    }

    /// Returns true if a page has a row that is in a tree, too: then one of them is an older copy.
    private func hasRow(of leaf: TreeLeaf, _ tree: DamagedTree) throws -> Bool {
        let own = try Dictionary(rows(in: leaf)) { first, _ in first }
        return try tree.leaves.contains { try rows(in: $0).contains { own[$0.0] == $0.1 } }
    }

    /// Returns true if two trees share a row with its key.
    func share(_ tree: DamagedTree, _ other: DamagedTree) throws -> Bool {
        guard let keys = tree.keys else { return false }
        var near = other
        near.leaves.removeAll { $0.keys?.overlaps(keys) != true }
        return try tree.leaves.contains { try hasRow(of: $0, near) }
    }

    private func rows(in leaf: TreeLeaf) throws -> [(Int64, ArraySlice<UInt8>)] {
        guard let page = try pages.tree(leaf.number) else { return [] }
        return page.cells.map { ($0.rowid ?? 0, page.bytes[$0.local]) }
    }
}

extension TreeLeaf {
    /// Returns true if a page has all keys that the parents say are here, as far as the bounds tell.
    ///
    /// Where SQLite divides a page, the key in the parent is the last one that is left in it. A page that lies within the
    /// bounds by chance, as an older copy of another table may, hardly ever ends there.
    fileprivate func isExactly(_ page: TreeLeaf) -> Bool {
        guard let keys = page.keys, holds(keys) else { return false }
        guard let high else { return low.map { $0 < .max && keys.lowerBound == $0 + 1 } ?? true }
        return keys.upperBound == high
    }
}
