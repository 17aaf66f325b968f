/// A page of a b-tree, as far as it can be read (fileformat2.html, 1.6).
struct BTreePage {
    enum Kind: UInt8 {
        case indexInterior = 2
        case tableInterior = 5
        case indexLeaf = 10
        case tableLeaf = 13

        var isLeaf: Bool { self == .tableLeaf || self == .indexLeaf }
        var isTable: Bool { self == .tableLeaf || self == .tableInterior }
    }

    /// A row of a table, or an entry of an index; in an interior page, what stands between two children.
    struct Cell {
        /// The page to its left, in an interior page.
        var child: Int?
        /// The row's id, in the tree of a table with ids.
        var rowid: Int64?
        /// The place of the record's first bytes in the page.
        var local = 0..<0
        /// The size of the record.
        var size = 0
        /// The page on which the record goes on.
        var overflow: Int?
        /// The place of the cell.
        fileprivate(set) var start = 0
        /// The place behind it.
        fileprivate(set) var end = 0
        /// The place where something else begins behind it, in a page in which something is wrong.
        fileprivate(set) var next: Int?
    }

    let number: Int
    let kind: Kind
    let bytes: [UInt8]
    /// The cells that can be read, in their order.
    let cells: [Cell]
    /// The number of cells that cannot, as far as it is known.
    let brokenCells: Int
    /// The last child of an interior page.
    let lastChild: Int?
    /// The bytes in which the page has its cells, as its header and its free blocks say.
    private let content: Range<Int>
    /// True if the cells, and the room between them, are all that is there: a page in which something was changed hardly ever
    /// is.
    let isWhole: Bool
    /// True if nothing shows that the page is damaged: then its values are what SQLite reads in it, whatever they are.
    let isHealthy: Bool
    /// The sectors of nothing but zeros, which may be lost.
    let zeros: [Range<Int>]

    /// The place behind the last cell or free block.
    var contentEnd: Int { content.upperBound }
    var isLeaf: Bool { kind.isLeaf }
    var isTable: Bool { kind.isTable }

    /// Reads a page.
    ///
    /// - Returns: nil if the page is none of a b-tree.
    init?(_ number: Int, _ bytes: [UInt8], usableSize: Int) {
        let start = number == 1 ? 100 : 0
        guard let type = bytes.byte(start), let kind = Kind(rawValue: UInt8(type)),
            let count = bytes.uint16(start + 3), let content = bytes.uint16(start + 5)
        else { return nil }
        let pointers = start + (kind.isLeaf ? 8 : 12)
        // A cell has at least four bytes, with its pointer six.
        guard count <= (usableSize - pointers) / 6 + 1, pointers + 2 * count <= usableSize else { return nil }
        let contentStart = content == 0 ? 65_536 : content
        // Where the contents begin is not needed, and no page has them beyond its end.
        guard contentStart <= usableSize || bytes.count >= 65_536 else { return nil }
        self.number = number
        self.kind = kind
        self.bytes = bytes
        lastChild = kind.isLeaf ? nil : bytes.uint32(start + 8)
        let free = Self.freeBlocks(bytes, from: start + 1, before: usableSize)
        var end = free.last?.upperBound ?? contentStart
        var used = free.reduce(bytes.byte(start + 7) ?? 0) { $0 + $1.count }
        var isTaken = [Bool](repeating: false, count: usableSize)
        var (cells, broken): ([Cell], Int) = ([], 0)
        cells.reserveCapacity(count)
        for index in 0..<count {
            if let place = bytes.uint16(pointers + 2 * index), place >= pointers + 2 * count,
                place < usableSize, !isTaken[place],
                let cell = Self.cell(at: place, of: kind, bytes, usableSize)
            {
                isTaken[place] = true
                cells.append(cell)
                end = max(end, cell.end)
                used += cell.end - place
            } else {
                broken += 1
            }
        }
        self.content = min(contentStart, end)..<end
        let zeros = bytes.sectorsOfZeros(in: self.content)
        if kind == .tableInterior, !zeros.isEmpty {
            // What is lost would be believed to be a child, or its last key: 0.
            cells.removeAll { cell in zeros.contains { $0.contains(cell.start + 3) } }
            broken = count - cells.count
            for index in cells.indices
            where zeros.contains(where: { $0.overlaps(cells[index].start + 4..<cells[index].end) }) {
                cells[index].rowid = nil
            }
        }
        self.zeros = zeros
        isWhole = broken == 0 && contentStart + used == usableSize && end <= min(usableSize, bytes.count)
        if !isWhole {
            let starts = (cells.map(\.start) + free.map(\.lowerBound) + [usableSize]).sorted()
            let following = Dictionary(zip(starts, starts.dropFirst())) { first, _ in first }
            for index in cells.indices { cells[index].next = following[cells[index].start] }
        }
        // Bytes in use that are of no cell are of at least one that the page does not count.
        let isCountTooLow = broken == 0 && contentStart + used < usableSize
        (self.cells, brokenCells) = (cells, isCountTooLow ? 1 : broken)
        // Where the file was cut off, what is left is as it was.
        isHealthy = isWhole || bytes.count < usableSize
    }

    /// Reads the places of the page that were in use once; as many as can be read.
    private static func freeBlocks(_ bytes: [UInt8], from header: Int, before end: Int) -> [Range<Int>] {
        var blocks: [Range<Int>] = []
        var next = bytes.uint16(header) ?? 0
        while next > blocks.last?.upperBound ?? 0, let following = bytes.uint16(next),
            let size = bytes.uint16(next + 2), size >= 4, next + size <= end
        {
            blocks.append(next..<next + size)
            next = following
        }
        return blocks
    }

    private static func cell(at place: Int, of kind: Kind, _ bytes: [UInt8], _ usableSize: Int) -> Cell? {
        var (cell, offset) = (Cell(start: place), place)
        if !kind.isLeaf {
            guard let child = bytes.uint32(offset) else { return nil }
            cell.child = child
            offset += 4
        }
        if kind == .tableInterior {
            cell.rowid = bytes.varint(&offset, before: usableSize)
            cell.end = offset
            return cell.rowid == nil ? nil : cell
        }
        guard let size = bytes.varint(&offset, before: usableSize), size > 0, size <= 0x7fff_ffff else {
            return nil
        }
        cell.size = Int(size)
        if kind == .tableLeaf {
            guard let rowid = bytes.varint(&offset, before: usableSize) else { return nil }
            cell.rowid = rowid
        }
        // fileformat2.html, 1.6: how much of a record is in the page itself.
        let most = kind.isTable ? usableSize - 35 : (usableSize - 12) * 64 / 255 - 23
        let least = (usableSize - 12) * 32 / 255 - 23
        var local = cell.size
        if cell.size > most {
            let rest = least + (cell.size - least) % (usableSize - 4)
            local = rest <= most ? rest : least
        }
        guard local >= 0, offset + local <= min(usableSize, bytes.count) else { return nil }
        cell.local = offset..<offset + local
        // fileformat2.html, 1.6: none has fewer than four bytes, of which a free block consists.
        cell.end = max(place + 4, offset + local + (local < cell.size ? 4 : 0))
        if local < cell.size {
            guard offset + local + 4 <= usableSize, let next = bytes.uint32(offset + local) else {
                return nil
            }
            cell.overflow = next
        }
        return cell
    }
}

extension BTreePage {
    /// The bytes of a cell's record up to where something else begins, for a cell whose size is damaged; nil if nothing does.
    func rangeUpToNext(_ cell: Cell) -> Range<Int>? {
        guard let end = cell.next, cell.local.lowerBound < end, end <= bytes.count else { return nil }
        return cell.local.lowerBound..<end
    }
}

extension PageSource {
    /// Returns a page of a b-tree; nil if it is none.
    func tree(_ number: Int) throws -> BTreePage? {
        guard let bytes = try page(number) else { return nil }
        return BTreePage(number, bytes, usableSize: usableSize)
    }

    /// Returns the record of a cell; nil if a part of it is missing.
    ///
    /// - Parameter chain: gets the overflow pages, in the place of those of another cell.
    func record(of cell: BTreePage.Cell, in page: BTreePage, _ chain: inout [Int]) throws -> SavedRecord? {
        chain.removeAll(keepingCapacity: true)
        guard let first = cell.overflow else {
            return SavedRecord(
                page.bytes, in: cell.local, encoding: encoding, isTrusted: page.isHealthy, zeros: page.zeros)
                ?? recordUpToNext(cell, in: page)
        }
        guard cell.size / pageSize <= pageCount,
            let bytes = try overflow(from: first, after: page.bytes[cell.local], count: cell.size, &chain)
        else { return nil }
        let start = cell.local.lowerBound
        let zeros =
            page.zeros.map { $0.clamped(to: cell.local) }.map {
                $0.lowerBound - start..<$0.upperBound - start
            }
            + (try sectorsOfZeros(in: chain, from: cell.local.count, to: cell.size))
        return SavedRecord(
            bytes, in: 0..<bytes.count, encoding: encoding, isTrusted: page.isHealthy, zeros: zeros)
    }

    /// Returns the record of a cell whose size is damaged: one that, by its header, ends where something else begins.
    private func recordUpToNext(_ cell: BTreePage.Cell, in page: BTreePage) -> SavedRecord? {
        page.rangeUpToNext(cell).flatMap {
            SavedRecord(page.bytes, in: $0, encoding: encoding, isTrusted: false)
        }
    }
}
