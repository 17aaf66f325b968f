import SchemaMigrations

extension DamagedDatabase {
    /// Puts pages back that have changed places with one of another table.
    ///
    /// One of the two shows by its keys, which its parents do not expect. The other may not, as the first page of a table
    /// has no parent: it is the one page whose keys the first place lacks, and whose place can hold those of the first.
    mutating func exchangeSwappedPages(_ layouts: [TableLayout]) throws {
        var unplaced = Dictionary(loose.map { ($0.root, $0) }) { first, _ in first }
        for root in trees.keys.sorted() {
            for place in trees[root]?.missing ?? [] {
                guard let page = unplaced[place.number],
                    let other = try counterpart(of: page, at: place, in: root, layouts)
                else { continue }
                unplaced[place.number] = nil
                trees[other.root]?.leaves.removeAll { $0.number == other.leaf.number }
                trees[other.root]?.leaves += page.leaves
                trees[root]?.missing.removeAll { $0.number == place.number }
                trees[root]?.leaves.append(
                    TreeLeaf(
                        number: other.leaf.number, low: place.low, high: place.high, keys: other.leaf.keys))
            }
        }
        loose.removeAll { unplaced[$0.root] == nil }
    }

    /// Returns the one page that can have been where a loose one is; nil if there is none, or several.
    private func counterpart(
        of loose: DamagedTree, at place: TreeLeaf, in root: Int, _ layouts: [TableLayout]
    ) throws -> (root: Int, leaf: TreeLeaf)? {
        // Unless keys are there twice, the loose page may be where it was, under a damaged parent.
        guard let keys = loose.keys, let tree = trees[root], let layout = layout(ofRoot: root, layouts),
            tree.leaves.contains(where: { $0.keys?.overlaps(keys) == true })
        else { return nil }
        var found: [(root: Int, leaf: TreeLeaf)] = []
        for (otherRoot, other) in trees where otherRoot != root {
            for leaf in other.leaves where leaf.holds(keys) {
                guard let ownKeys = leaf.keys, place.holds(ownKeys) else { continue }
                let single = DamagedTree(root: leaf.number, isTable: true, leaves: [leaf])
                guard let otherLayout = self.layout(ofRoot: otherRoot, layouts),
                    try !self.layouts(fitting: single, among: [layout]).isEmpty,
                    try !self.layouts(fitting: loose, among: [otherLayout]).isEmpty,
                    try !shareRows(loose, single)
                else { continue }
                found.append((otherRoot, leaf))
            }
        }
        return found.count == 1 ? found[0] : nil
    }

    private func layout(ofRoot root: Int, _ layouts: [TableLayout]) -> TableLayout? {
        guard let entry = entries.first(where: { $0.root == root && $0.type == "table" }) else { return nil }
        return layouts.first { $0.name == entry.name && !$0.isIndex }
    }

    /// Returns true if one is an older copy of the other: then they have rows in common.
    private func shareRows(_ first: DamagedTree, _ second: DamagedTree) throws -> Bool {
        func rows(of tree: DamagedTree) throws -> [Int64: [UInt8]] {
            var rows: [Int64: [UInt8]] = [:]
            for leaf in tree.leaves {
                guard let page = try pages.tree(leaf.number) else { continue }
                for cell in page.cells { rows[cell.rowid ?? 0] = Array(page.bytes[cell.local]) }
            }
            return rows
        }
        let others = try rows(of: second)
        return try rows(of: first).contains { others[$0.key] == $0.value }
    }
}
