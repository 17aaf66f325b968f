import SchemaMigrations

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

    /// Returns the place between the keys of two pages; nil if these are unknown.
    fileprivate func between(_ previous: TreeLeaf?, _ next: TreeLeaf?) -> TreeLeaf? {
        var place = TreeLeaf(number: number)
        if let previous {
            guard let keys = previous.keys else { return nil }
            place.low = keys.upperBound
        }
        if let next {
            guard let keys = next.keys, keys.lowerBound > .min else { return nil }
            place.high = keys.lowerBound - 1
        }
        return place
    }
}

/// A b-tree as far as it can be reached from its root.
struct DamagedTree {
    let root: Int
    let isTable: Bool
    /// The pages with rows: the leaves, and in a tree of keys all of its pages.
    var leaves: [TreeLeaf] = []
    /// The places whose page is no page of this tree; the number is 0 if it is unknown, too.
    var missing: [TreeLeaf] = []
    /// True if a page of another tree leads to its root.
    var hasParent = false

    /// The first and the last of its keys, as far as they can be read.
    var keys: ClosedRange<Int64>? {
        let keys = leaves.compactMap(\.keys)
        guard let low = keys.map(\.lowerBound).min(), let high = keys.map(\.upperBound).max() else {
            return nil
        }
        return low...high
    }

    /// The places between the keys of its pages; none if some of these are unknown.
    var gaps: [TreeLeaf] {
        let keys = leaves.compactMap(\.keys).sorted { $0.lowerBound < $1.lowerBound }
        // A single page has no keys if it has no rows.
        guard keys.count == leaves.count || leaves.count == 1 else { return [] }
        let lows = [nil] + keys.map(\.upperBound)
        return zip(lows, keys.map(\.lowerBound) + [nil]).compactMap { low, next in
            next == .min ? nil : TreeLeaf(number: 0, low: low, high: next.map { $0 - 1 })
        }
    }
}

extension DamagedTree {
    /// Takes a page that is in a tree for one of another tree.
    init(other leaf: TreeLeaf, of tree: DamagedTree) {
        self.init(
            root: leaf.number, isTable: tree.isTable,
            leaves: [TreeLeaf(number: leaf.number, keys: leaf.keys)],
            hasParent: true)
    }
}

/// Walks b-trees from their roots, and notes which pages were seen.
struct TreeWalk {
    let pages: PageSource
    private(set) var seen: Set<Int> = []
    /// The pages of rows that belong in more places than one, by their keys.
    private(set) var contested: Set<Int> = []
    /// How often a page was not what its parent says.
    private var refusals: [Int: Int] = [:]
    /// True if a page was not what its parent says, although it can be read, or is beyond the end.
    private(set) var hasContradiction = false

    init(_ pages: PageSource) { self.pages = pages }

    /// Walks a tree.
    ///
    /// Where a page has other keys than its parents say, the page may come from elsewhere, or a key of the parents may be
    /// damaged. It is a page of the tree if its keys are between those of its neighbours.
    ///
    /// - Parameter isTable: the kind that it has to have; nil for the kind of its root.
    mutating func walk(_ root: Int, isTable: Bool? = nil) throws -> DamagedTree? {
        guard let page = try pages.tree(root), isTable ?? page.isTable == page.isTable else {
            if try !pages.isLost(root) { hasContradiction = true }
            return nil
        }
        guard !seen.contains(root) else {
            hasContradiction = true
            if page.isLeaf { contested.insert(root) }
            refusals[root, default: 0] += 1
            return nil
        }
        var tree = DamagedTree(root: root, isTable: page.isTable)
        let depth = try leafDepth(below: page)
        let gaps = try walk(from: TreeLeaf(number: root), at: 0, leavesAt: depth, &tree)
        let counts = gaps.reduce(into: [:]) { $0[$1.index, default: 0] += 1 }
        let leaves = tree.leaves
        for gap in gaps {
            // Of two in a row, neither has a neighbour.
            guard gap.isReadable, counts[gap.index] == 1,
                let place = gap.place.between(leaves[..<gap.index].last, leaves[gap.index...].first)
            else {
                tree.missing.append(gap.place)
                continue
            }
            tree.missing += try walk(from: place, at: gap.depth, leavesAt: depth, &tree).map {
                $0.place.number == place.number ? gap.place : $0.place
            }
        }
        return tree
    }

    /// A place without a page of the tree.
    private struct Gap {
        let place: TreeLeaf
        let depth: Int
        /// The number of leaves before it.
        let index: Int
        /// True if there is a page, with other keys than the parents say.
        let isReadable: Bool
    }

    /// Returns how deep the leaves of a tree are, by most of some paths to them; nil if it is unknown.
    ///
    /// All are equally deep, so a page with children where the others are leaves comes from elsewhere. If as many paths say
    /// something else, only those count that lead to keys between the ones beside the child.
    private func leafDepth(below root: BTreePage) throws -> Int? {
        let children = root.cells.compactMap(\.child) + (root.lastChild.map { [$0] } ?? [])
        let paths = try children.prefix(5).enumerated().compactMap { index, child in
            try firstLeaf(below: child, of: root).map { (leaf: $0, depth: $1, index: index) }
        }
        func isInOrder(_ leaf: BTreePage, _ index: Int) -> Bool {
            leaf.lies(
                above: index > 0 ? root.number(of: root.cells[index - 1]) : nil,
                upTo: index < root.cells.count ? root.number(of: root.cells[index]) : nil)
        }
        return Self.most(paths.map(\.depth))
            ?? Self.most(paths.filter { isInOrder($0.leaf, $0.index) }.map(\.depth))
    }

    /// Returns what more than half of some depths are.
    private static func most(_ depths: [Int]) -> Int? {
        let votes = depths.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        return votes.first { $0.value * 2 > depths.count }?.key
    }

    /// Returns the first leaf below a child of a page, and how deep it is; nil if nothing leads to it.
    private func firstLeaf(below child: Int, of root: BTreePage) throws -> (BTreePage, Int)? {
        var (next, depth) = (child, 1)
        while depth < 40, let page = try pages.tree(next), page.isTable == root.isTable {
            if page.isLeaf { return (page, depth) }
            guard let child = page.cells.first?.child else { return nil }
            (next, depth) = (child, depth + 1)
        }
        return nil
    }

    /// Walks what is below a place, and adds it to the tree.
    private mutating func walk(
        from start: TreeLeaf, at depth: Int, leavesAt leafDepth: Int?, _ tree: inout DamagedTree
    ) throws -> [Gap] {
        var gaps: [Gap] = []
        var stack = [(place: start, depth: depth)]
        // No page is twice a part of a tree, so this ends.
        while let (next, depth) = stack.popLast() {
            var place = next
            func note(isReadable: Bool) {
                gaps.append(
                    Gap(place: place, depth: depth, index: tree.leaves.count, isReadable: isReadable))
            }
            // A hostile file leads to one page from everywhere.
            guard depth < 40, refusals[place.number, default: 0] < 4,
                let page = try pages.tree(place.number), page.isTable == tree.isTable,
                place.number == tree.root || !page.cells.isEmpty
            else {
                if try !pages.isLost(place.number) { hasContradiction = true }
                note(isReadable: false)
                continue
            }
            place.keys = try keys(of: page, in: place)
            let isDeepEnough = leafDepth.map { page.isLeaf == (depth == $0) } ?? true
            let isPart = isDeepEnough && isPart(page, at: place)
            guard isPart, seen.insert(place.number).inserted else {
                if isPart, page.isLeaf { contested.insert(place.number) }
                refusals[place.number, default: 0] += 1
                hasContradiction = true
                note(isReadable: isDeepEnough && !isPart)
                continue
            }
            if page.isLeaf || !page.isTable { tree.leaves.append(place) }
            guard !page.isLeaf else { continue }
            // Where the children of its broken cells are is unknown.
            for _ in 0..<page.brokenCells {
                let lost = TreeLeaf(number: 0, low: place.low, high: place.high)
                gaps.append(
                    Gap(place: lost, depth: depth + 1, index: tree.leaves.count, isReadable: false))
            }
            stack += children(of: page, in: place).reversed().map { ($0, depth + 1) }
        }
        return gaps
    }

    /// Returns true if a page has the keys that its parents say are there.
    private func isPart(_ page: BTreePage, at place: TreeLeaf) -> Bool {
        guard page.kind == .tableInterior else { return place.keys.map(place.holds) ?? true }
        let outside = page.cells.count { cell in
            guard let rowid = cell.rowid else { return false }
            // The last child has keys of its own, which are larger.
            return place.low.map { rowid <= $0 } ?? false || place.high.map { $0 <= rowid } ?? false
        }
        // One of several may be damaged.
        return outside == 0 || outside == 1 && page.cells.count > 1
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
            children.append(TreeLeaf(number: child, low: low, high: cell.rowid ?? place.high))
            low = cell.rowid ?? low
        }
        if let last = page.lastChild { children.append(TreeLeaf(number: last, low: low, high: place.high)) }
        return children
    }

    /// Returns true if a page leads to another one that is no part of its tree.
    func isReferred(to number: Int) -> Bool { refusals[number] != nil }

    /// Notes pages that hold no rows.
    mutating func note(_ numbers: some Sequence<Int>) { seen.formUnion(numbers) }

    /// Takes the pages that belong in several places away from the trees: their rows may tell where they belong.
    mutating func releaseContested(_ trees: inout [Int: DamagedTree]) {
        guard !contested.isEmpty else { return }
        for root in trees.keys {
            guard let leaves = trees[root]?.leaves else { continue }
            trees[root]?.missing += leaves.filter { contested.contains($0.number) }
            trees[root]?.leaves.removeAll { contested.contains($0.number) }
        }
        seen.subtract(contested)
        contested = []
    }
}

extension PageSource {
    /// Returns true if there should be a page of a tree, and no cell can be read in it.
    fileprivate func isLost(_ number: Int) throws -> Bool {
        guard number >= 1, number <= pageCount else { return false }
        return try tree(number)?.cells.isEmpty ?? true
    }
}
