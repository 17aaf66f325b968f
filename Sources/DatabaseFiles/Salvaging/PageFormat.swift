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
    /// which hardly ever happens by chance. Such pages also tell how many bytes are reserved at their ends, and their texts in
    /// which encoding they are. A part of the file is enough for that, unless most of its pages are those of long rows.
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
            return PageFormat(
                pageSize: best.pageSize, reserved: best.reserved,
                encoding: TextEncodings(best.texts).encoding(stated: header.encoding))
        }
        return nil
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

    /// Returns the number that SQLite has for the encoding.
    ///
    /// - Parameter stated: the one that the header gives, which the texts have to contradict; nil if it gives none.
    func encoding(stated: Int?) -> Int {
        let (utf8, latin) = (texts.count(where: \.isPlainUTF8), texts.count(where: \.isLatinUTF16))
        // Texts in other scripts than Latin are in UTF-16 if they are not in UTF-8.
        let isUTF16 =
            switch stated {
            case 1: latin > utf8
            case _?: latin >= utf8 || utf8 * 2 <= texts.count
            case nil: latin > utf8 || utf8 * 2 < texts.count
            }
        if !isUTF16 { return 1 }
        let bigEndian = texts.count { $0.isLatinUTF16 && $0.zeroPlaces == [0] }
        if latin > 0 { return bigEndian * 2 > latin ? 3 : 2 }
        return stated.flatMap { $0 > 1 ? $0 : nil } ?? (isBigEndian ? 3 : 2)
    }

    /// True if the first of two bytes varies less: it says in which script a letter is.
    private var isBigEndian: Bool {
        var values = (Set<UInt8>(), Set<UInt8>())
        for text in texts where text.count % 2 == 0 {
            for (index, byte) in text.enumerated() {
                if index % 2 == 0 { values.0.insert(byte) } else { values.1.insert(byte) }
            }
        }
        return values.0.count < values.1.count
    }
}

extension ArraySlice<UInt8> {
    fileprivate var isPlainUTF8: Bool { isUTF8 && !contains(0) }

    /// True if half of the letters have a byte of zero, all of them the first one or all the second.
    fileprivate var isLatinUTF16: Bool {
        count % 2 == 0 && self.count { $0 == 0 } * 4 > count && zeroPlaces.count == 1
    }

    /// The places of zeros in units of two bytes: 0, 1, or both.
    fileprivate var zeroPlaces: Set<Int> {
        Set(indices.lazy.filter { self[$0] == 0 }.map { ($0 - startIndex) & 1 })
    }
}
