/// How the pages of a database are to be read.
struct PageFormat {
    var pageSize: Int
    var reserved = 0
    var encoding = 1
}

extension PageFormat {
    /// Finds out how the pages of a file are to be read.
    ///
    /// The size of a page is that of the journal, which has a checksum, or else the one in the header, if the file has as
    /// many pages as the header says. If not, it is the size at which most cells are in pages that they fill without a gap,
    /// which hardly ever happens by chance. Such pages also tell how many bytes are reserved at their ends. A part of the
    /// file is enough for that, unless most of its pages are those of long rows.
    ///
    /// The encoding of texts is the one in which the schema can be read, or else the one in the header. Only if both are
    /// lost, the texts tell in which they are.
    ///
    /// - Returns: nil if no row can be read in any way, as in a file that is encrypted.
    static func find(_ file: DamagedFile, _ journal: JournalPages?) throws -> PageFormat? {
        let first = try journal?.places[1].map { try $0.file.read(at: $0.offset, count: 100) }
        let header = DatabaseHeader(try first ?? file.read(at: 0, count: 100))
        let parts = file.size >> 20
        for step in parts > 1 ? [parts, 1] : [1] {
            var best: PageSample?
            for size in sizes(file, header, journal) {
                let sample = try PageSample(file, journal, pageSize: size, step: step, header)
                if best.map({ sample.weight > $0.weight }) ?? true { best = sample }
            }
            guard let best, best.isReadable else { continue }
            var format = PageFormat(pageSize: best.pageSize, reserved: best.reserved)
            format.encoding =
                try format.encodingOfSchema(file, journal) ?? header.encoding
                ?? TextEncodings(best.texts).likeliest
            return format
        }
        return nil
    }

    /// Returns the encoding in which rows of the schema can be read, as in no other one; nil if none can.
    private func encodingOfSchema(_ file: DamagedFile, _ journal: JournalPages?) throws -> Int? {
        try [1, 2, 3].first { encoding in
            let format = PageFormat(pageSize: pageSize, reserved: reserved, encoding: encoding)
            let pages = PageSource(file, format, journal)
            var walk = TreeWalk(pages)
            var chain: [Int] = []
            return try walk.walk(1, isTable: true)?.leaves.contains { leaf in
                guard let page = try pages.tree(leaf.number) else { return false }
                return try page.cells.contains {
                    try pages.record(of: $0, in: page, &chain).flatMap(DamagedDatabase.Entry.init) != nil
                }
            } ?? false
        }
    }

    private static func sizes(_ file: DamagedFile, _ header: DatabaseHeader, _ journal: JournalPages?)
        -> [Int]
    {
        if let journal { return [journal.pageSize] }
        guard let stated = header.pageSize else { return DatabaseHeader.pageSizes }
        return header.pageCount == file.size / stated && file.size % stated == 0
            ? [stated] : [stated] + DatabaseHeader.pageSizes.filter { $0 != stated }
    }
}

/// A sample of the pages of a file, as they are if pages have some size.
private struct PageSample {
    let pageSize: Int
    /// The number of bytes that are reserved at the end of most pages.
    private(set) var reserved: Int
    private(set) var texts: [ArraySlice<UInt8>] = []
    /// The number of cells in pages without a fault, and of bytes in rows that can be read.
    ///
    /// A page has as many cells if it is taken for a larger one, but a long row in it seems to have more bytes.
    var weight: (cells: Int, rows: Int) { (wholeCells, rowBytes) }
    /// True if there are rows: three at least, as noise may look like one, unless a page is without a fault.
    var isReadable: Bool { wholeCells > 0 || rows >= 3 }
    private var (wholeCells, rowBytes, rows) = (0, 0, 0)

    /// Reads a part of a file, the same for each size of pages, until there are enough pages of b-trees.
    ///
    /// - Parameter step: the distance between the pages that are read; 1 reads all.
    init(_ file: DamagedFile, _ journal: JournalPages?, pageSize: Int, step: Int, _ header: DatabaseHeader)
        throws
    {
        self.pageSize = pageSize
        reserved = 0
        let pages = PageSource(file, PageFormat(pageSize: pageSize), journal)
        let numbers = pages.numbers
        var sample: [(Int, [UInt8])] = []
        for index in stride(from: 0, to: numbers.count, by: step) where sample.count < (1 << 20) / pageSize {
            guard let bytes = try pages.page(numbers[index]),
                let page = BTreePage(numbers[index], bytes, usableSize: pageSize), !page.cells.isEmpty
            else { continue }
            sample.append((numbers[index], bytes))
        }
        try choose(from: sample, header)
        try read(sample)
    }

    /// Chooses the number of reserved bytes with which most cells are in pages without a fault.
    private mutating func choose(from sample: [(Int, [UInt8])], _ header: DatabaseHeader) throws {
        var weights: [Int: Int] = [:]
        for (number, bytes) in sample {
            guard let page = BTreePage(number, bytes, usableSize: pageSize), !page.cells.isEmpty else {
                continue
            }
            // The end of one cell alone says nothing.
            let seen = page.cells.count > 1 ? [pageSize - page.contentEnd] : []
            for reserved in Set(seen + [header.reserved, 0])
            where (0...255).contains(reserved) && pageSize - reserved >= 480 {
                guard let page = BTreePage(number, bytes, usableSize: pageSize - reserved), page.isWhole
                else { continue }
                weights[reserved, default: 0] += page.cells.count
            }
        }
        let best = weights.max {
            ($0.value, $0.key == header.reserved ? 1 : 0) < ($1.value, $1.key == header.reserved ? 1 : 0)
        }
        if let best { (reserved, wholeCells) = (best.key, best.value) }
    }

    /// Reads the rows that are in one page.
    private mutating func read(_ sample: [(Int, [UInt8])]) throws {
        for (number, bytes) in sample {
            guard let page = BTreePage(number, bytes, usableSize: pageSize - reserved), page.isLeaf else {
                continue
            }
            for cell in page.cells where cell.overflow == nil {
                guard let record = SavedRecord(bytes, in: cell.local, encoding: 1, isTrusted: true),
                    record.values.count > 1 || number == 1 || cell.size > 8
                else { continue }
                rows += 1
                rowBytes += cell.local.count
                guard texts.count < 2_000 else { continue }
                for case .text(let range) in record.values where !range.isEmpty {
                    texts.append(bytes[range])
                }
            }
        }
    }
}

/// The encodings in which some texts can be.
private struct TextEncodings {
    private let texts: [ArraySlice<UInt8>]

    init(_ texts: [ArraySlice<UInt8>]) { self.texts = texts }

    /// The number that SQLite has for the encoding that looks most like that of the texts.
    var likeliest: Int {
        let strange = texts.count { !$0.isPlainUTF8 }
        let odd = texts.count { $0.count % 2 == 1 }
        // In other encodings, texts are of odd length as often as not.
        guard strange * 4 > texts.count, odd * 4 < strange else { return 1 }
        return isBigEndian ? 3 : 2
    }

    /// True if the first of two bytes changes less often: it says in which script a letter is.
    private var isBigEndian: Bool {
        var (previous, changes) = ([UInt8](), [0, 0])
        for text in texts where text.count % 2 == 0 {
            for start in stride(from: text.startIndex, to: text.endIndex, by: 2) {
                let unit = Array(text[start..<start + 2])
                for place in previous.indices where previous[place] != unit[place] { changes[place] += 1 }
                previous = unit
            }
        }
        return changes[0] < changes[1]
    }
}

extension ArraySlice<UInt8> {
    /// True if the bytes are a text in UTF-8, and do not look like one in UTF-16.
    ///
    /// There, Latin has a zero in each letter, and many scripts have the same small number.
    fileprivate var isPlainUTF8: Bool {
        guard isUTF8, !contains(0) else { return false }
        let isUTF16 =
            count.isMultiple(of: 2)
            && [0, 1].contains { place in
                stride(from: startIndex + place, to: endIndex, by: 2).allSatisfy { self[$0] < 0x20 }
            }
        return isEmpty || !isUTF16
    }
}
