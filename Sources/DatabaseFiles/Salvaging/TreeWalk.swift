/// A page with rows, and the keys that its parents say are in it.
struct TreeLeaf {
    let number: Int
    /// The keys are above this one; nil if it is the first page.
    var low: Int64?
    /// The keys are at most this one; nil if it is the last page.
    var high: Int64?
    /// The first and the last of the keys that are in it; nil if there are none.
    var keys: ClosedRange<Int64>?

    /// Returns true if the parents say that keys are in it.
    func holds(_ keys: ClosedRange<Int64>) -> Bool {
        low.map { $0 < keys.lowerBound } ?? true && keys.upperBound <= high ?? .max
    }

    /// False if the parents say that some of its keys are elsewhere.
    var isInPlace: Bool { keys.map(holds) ?? true }
}

/// A b-tree as far as it can be reached from its root.
struct DamagedTree {
    let root: Int
    let isTable: Bool
    /// The pages with rows: the leaves, and in a tree of keys all of its pages.
    var leaves: [TreeLeaf] = []
    /// The pages that are no page of this tree.
    var missing: [TreeLeaf] = []
    /// What is wrong with it, as far as that shows without reading its rows.
    var faults = 0

    /// The first and the last of its keys, as far as they can be read.
    var keys: ClosedRange<Int64>? {
        let keys = leaves.compactMap(\.keys)
        guard let low = keys.map(\.lowerBound).min(), let high = keys.map(\.upperBound).max() else {
            return nil
        }
        return low...high
    }
}

/// Walks b-trees from their roots, and notes which pages were seen.
struct TreeWalk {
    let pages: PageSource
    private(set) var seen: Set<Int> = []

    init(_ pages: PageSource) { self.pages = pages }

    /// Walks a tree.
    ///
    /// - Parameter isTable: the kind that it has to have; nil for the kind of its root.
    mutating func walk(_ root: Int, isTable: Bool? = nil) throws -> DamagedTree? {
        guard !seen.contains(root), let page = try pages.tree(root), isTable ?? page.isTable == page.isTable
        else { return nil }
        var tree = DamagedTree(root: root, isTable: page.isTable)
        var stack = [(leaf: TreeLeaf(number: root), depth: 0)]
        // No page is looked at twice as part of a tree, so this ends.
        while let (next, depth) = stack.popLast() {
            var place = next
            guard depth < 40, !seen.contains(place.number), let page = try pages.tree(place.number),
                page.isTable == tree.isTable, place.number == root || !page.cells.isEmpty,
                isPlausible(page, in: place)
            else {
                tree.missing.append(place)
                tree.faults += 1
                continue
            }
            place.keys = try keys(of: page, in: place)
            if page.isLeaf || !page.isTable { tree.leaves.append(place) }
            // Whether such a page belongs to the tree shows when all of its pages are known.
            guard place.isInPlace else { continue }
            seen.insert(place.number)
            tree.faults += page.brokenCells
            if !page.isLeaf {
                stack += children(of: page, in: place).reversed().map { ($0, depth + 1) }
            }
        }
        settleLeavesOutOfPlace(&tree)
        return tree
    }

    /// Takes away the pages with keys that are not where the parents say, if they lie among those of other pages: they
    /// come from elsewhere.
    ///
    /// Where they lie beside them, it is a key of the parent that is damaged.
    private mutating func settleLeavesOutOfPlace(_ tree: inout DamagedTree) {
        guard !tree.leaves.allSatisfy(\.isInPlace) else { return }
        var next: Int64?
        let following = Array(
            tree.leaves.reversed().map { leaf in
                defer { if leaf.isInPlace { next = leaf.keys?.lowerBound ?? next } }
                return next
            }.reversed())
        var previous: Int64?
        let leaves = tree.leaves
        tree.leaves.removeAll()
        for (leaf, next) in zip(leaves, following) {
            if leaf.isInPlace {
                previous = leaf.keys?.upperBound ?? previous
                tree.leaves.append(leaf)
            } else if let keys = leaf.keys, previous.map({ $0 < keys.lowerBound }) ?? true,
                next.map({ keys.upperBound < $0 }) ?? true, seen.insert(leaf.number).inserted
            {
                tree.leaves.append(leaf)
            } else {
                tree.missing.append(leaf)
            }
            if !leaf.isInPlace { tree.faults += 1 }
        }
    }

    /// Returns the first and the last key of a page; of one that seems out of place, those with a record.
    private func keys(of page: BTreePage, in place: TreeLeaf) throws -> ClosedRange<Int64>? {
        func range(_ cells: [BTreePage.Cell]) -> ClosedRange<Int64>? {
            guard let first = cells.first?.rowid, let last = cells.last?.rowid, first <= last else {
                return nil
            }
            return first...last
        }
        guard page.kind == .tableLeaf else { return nil }
        let cells = page.cellsInOrder(in: place)
        guard let keys = range(cells), !place.holds(keys) else { return range(cells) }
        // What is in a lost sector looks like cells too.
        var chain: [Int] = []
        return range(try cells.filter { try pages.record(of: $0, in: page, &chain) != nil })
    }

    private func children(of page: BTreePage, in place: TreeLeaf) -> [TreeLeaf] {
        var low = place.low
        var children: [TreeLeaf] = []
        for cell in page.cells {
            guard let child = cell.child else { continue }
            children.append(TreeLeaf(number: child, low: low, high: cell.rowid))
            low = cell.rowid
        }
        if let last = page.lastChild { children.append(TreeLeaf(number: last, low: low, high: place.high)) }
        return children
    }

    /// Returns false if a page of a table is not one where it is: if none of its rows belongs there, or more than one of
    /// the keys between its children do not.
    private func isPlausible(_ page: BTreePage, in place: TreeLeaf) -> Bool {
        guard page.isTable, !page.cells.isEmpty else { return true }
        let outside = page.cells.count { cell in
            guard let rowid = cell.rowid else { return false }
            // The last child of a page has keys of its own, which are larger.
            return place.low.map { rowid <= $0 } ?? false
                || place.high.map { page.isLeaf ? $0 < rowid : $0 <= rowid } ?? false
        }
        return outside < page.cells.count && (page.isLeaf || outside <= 1)
    }

    /// Notes pages that hold no rows.
    mutating func note(_ numbers: some Sequence<Int>) { seen.formUnion(numbers) }
}

extension BTreePage {
    /// The cells whose ids are in order, and between those that the parents give.
    ///
    /// A flipped bit in an id breaks the order, unless it is the first or the last one: then it lies alone beyond the
    /// bound. Where several do, the bound itself is damaged.
    func cellsInOrder(in place: TreeLeaf) -> [Cell] {
        guard kind == .tableLeaf else { return cells }
        let ids = cells.map { $0.rowid ?? 0 }
        // Nearly always nothing is wrong.
        let isAscending = zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 }
        if isAscending, place.low.map({ low in ids.first.map { low < $0 } ?? true }) ?? true,
            place.high.map({ high in ids.last.map { $0 <= high } ?? true }) ?? true
        {
            return cells
        }
        // The longest ascending row of them, by the last one of each length.
        var last: [Int] = []
        var previous = [Int](repeating: -1, count: ids.count)
        for index in ids.indices {
            var (from, to) = (0, last.count)
            while from < to {
                let middle = (from + to) / 2
                if ids[last[middle]] < ids[index] { from = middle + 1 } else { to = middle }
            }
            previous[index] = from > 0 ? last[from - 1] : -1
            if from < last.count { last[from] = index } else { last.append(index) }
        }
        var ordered: [Int] = []
        var next = last.last ?? -1
        while next >= 0 {
            ordered.append(next)
            next = previous[next]
        }
        ordered.reverse()
        if let low = place.low, ordered.count > 1, ids[ordered[0]] <= low, ids[ordered[1]] > low {
            ordered.removeFirst()
        }
        if let high = place.high, ordered.count > 1, let end = ordered.last, ids[end] > high,
            ids[ordered[ordered.count - 2]] <= high
        {
            ordered.removeLast()
        }
        return ordered.map { cells[$0] }
    }
}
