/// What each page of an intact database is: found by walking its trees, without the code that is tested.
struct PageMap: Sendable {
    /// A leaf of a table or an index.
    struct Leaf: Sendable {
        let number: Int
        /// The pages that lead to it, from the root.
        let path: [Int]
        /// The rows' ids, of a table with these, and the pages on which each row goes on.
        fileprivate(set) var rows: [(id: Int64, chain: [Int])] = []
    }

    /// The tree of a table or an index.
    struct Tree: Sendable {
        let name: String
        let root: Int
        fileprivate(set) var leaves: [Leaf] = []
        fileprivate(set) var interior: [Int] = []
        fileprivate(set) var overflow: Set<Int> = []

        var pages: Set<Int> { Set(leaves.map(\.number) + interior).union(overflow) }
    }

    let pageSize: Int
    let pageCount: Int
    /// The trees by the names of their tables and indexes; the schema's is `sqlite_schema`.
    private(set) var trees: [String: Tree] = [:]
    /// The pages of the list of free pages.
    private(set) var trunks: Set<Int> = []
    private(set) var free: Set<Int> = []

    /// Walks the trees.
    ///
    /// - Parameter roots: the roots of tables and indexes, by name.
    init(_ bytes: [UInt8], _ shape: SalvageShape, roots: [String: Int]) {
        pageSize = shape.pageSize
        pageCount = bytes.count / shape.pageSize
        let reader = PageReader(bytes: bytes, pageSize: shape.pageSize, usableSize: shape.usableSize)
        for (name, root) in roots.merging(["sqlite_schema": 1], uniquingKeysWith: { $1 }) where root > 0 {
            var tree = Tree(name: name, root: root)
            reader.walk(root, path: [], &tree)
            trees[name] = tree
        }
        var trunk = reader.uint32(32)
        while trunk > 0, trunk <= pageCount, trunks.insert(trunk).inserted {
            let start = (trunk - 1) * pageSize
            let count = min(reader.uint32(start + 4), pageSize / 4 - 2)
            free.formUnion((0..<count).map { reader.uint32(start + 8 + 4 * $0) })
            trunk = reader.uint32(start)
        }
    }

    /// Returns the pages that were free in an earlier image, in which the trees had the same roots.
    func free(in older: [UInt8], _ shape: SalvageShape) -> Set<Int> {
        let map = PageMap(older, shape, roots: trees.mapValues(\.root))
        return map.free.union(map.trunks)
    }

    /// The bytes of a page.
    func range(of page: Int) -> Range<Int> { (page - 1) * pageSize..<page * pageSize }

    /// The pages whose bytes differ between two images, of which the second one may be shorter.
    func differences(_ first: [UInt8], _ second: [UInt8]) -> Set<Int> {
        Set(
            (1..<max(pageCount, second.count / pageSize) + 1).filter { page in
                let range = range(of: page)
                guard range.upperBound <= first.count else { return true }
                guard range.upperBound <= second.count else { return true }
                return first[range] != second[range]
            })
    }
}

/// Reads the pages of a database (fileformat2.html, 1.6).
private struct PageReader {
    let bytes: [UInt8]
    let pageSize: Int
    let usableSize: Int

    private func byte(_ place: Int) -> Int { bytes.indices.contains(place) ? Int(bytes[place]) : 0 }
    private func uint16(_ place: Int) -> Int { byte(place) << 8 | byte(place + 1) }
    func uint32(_ place: Int) -> Int { uint16(place) << 16 | uint16(place + 2) }

    private func varint(_ place: inout Int) -> Int64 {
        var value: UInt64 = 0
        for index in 0..<9 {
            let next = byte(place)
            place += 1
            if index == 8 { return Int64(bitPattern: value << 8 | UInt64(next)) }
            value = value << 7 | UInt64(next & 0x7f)
            if next < 0x80 { break }
        }
        return Int64(bitPattern: value)
    }

    func walk(_ page: Int, path: [Int], _ tree: inout PageMap.Tree) {
        let start = (page - 1) * pageSize
        guard start >= 0, start + pageSize <= bytes.count, path.count < 20 else { return }
        let header = start + (page == 1 ? 100 : 0)
        let kind = byte(header)
        let (isLeaf, isTable) = (kind & 8 != 0, kind & 1 != 0)
        var leaf = PageMap.Leaf(number: page, path: path)
        let pointers = header + (isLeaf ? 8 : 12)
        for index in 0..<uint16(header + 3) {
            var place = start + uint16(pointers + 2 * index)
            if !isLeaf {
                walk(uint32(place), path: path + [page], &tree)
                place += 4
            }
            if isLeaf || !isTable { readCell(at: place, isTable: isTable, &leaf, &tree) }
        }
        if isLeaf {
            tree.leaves.append(leaf)
        } else {
            tree.interior.append(page)
            walk(uint32(header + 8), path: path + [page], &tree)
        }
    }

    private func readCell(
        at start: Int, isTable: Bool, _ leaf: inout PageMap.Leaf, _ tree: inout PageMap.Tree
    ) {
        var place = start
        let size = Int(varint(&place))
        let id = isTable ? varint(&place) : 0
        let most = isTable ? usableSize - 35 : (usableSize - 12) * 64 / 255 - 23
        let least = (usableSize - 12) * 32 / 255 - 23
        var chain: [Int] = []
        if size > most {
            let part = least + (size - least) % (usableSize - 4)
            var next = uint32(place + (part <= most ? part : least))
            while next > 0, next * pageSize <= bytes.count, chain.count <= bytes.count / pageSize {
                chain.append(next)
                next = uint32((next - 1) * pageSize)
            }
        }
        tree.overflow.formUnion(chain)
        if isTable { leaf.rows.append((id, chain)) }
    }
}
