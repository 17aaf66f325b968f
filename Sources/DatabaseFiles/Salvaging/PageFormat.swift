/// How the pages of a database are to be read.
struct PageFormat: Hashable {
    var pageSize: Int
    var reserved = 0
    var encoding = 1
}

extension PageFormat {
    /// Finds out how the pages of a file are to be read.
    ///
    /// The size of a page is that of the journal, which has a checksum, or else the one in the header, if the file has as
    /// many pages as the header says. If not, it is the size at which most of the file is pages whose cells fill them without
    /// a gap, which hardly ever happens by chance. Such pages also tell how many bytes are reserved at their ends, and their
    /// texts in which encoding they are.
    ///
    /// - Returns: nil if no row can be read in any way, as in a file that is encrypted.
    static func find(_ file: DamagedFile, _ journal: JournalPages?) throws -> PageFormat? {
        let first = try journal?.places[1].map { try $0.file.read(at: $0.offset, count: 100) }
        let header = DatabaseHeader(try first ?? file.read(at: 0, count: 100))
        var best: PageSample?
        for size in sizes(file, header, journal) {
            let sample = try PageSample(file, journal, pageSize: size, header)
            // The header's own size comes first.
            if best.map({ sample.weight > $0.weight }) ?? true { best = sample }
        }
        guard let best, best.isReadable else { return nil }
        return PageFormat(
            pageSize: best.pageSize, reserved: best.reserved,
            encoding: TextEncodings(best.texts).encoding(stated: header.encoding))
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
    /// The number of bytes in pages without a fault, and of those in rows that can be read.
    var weight: (whole: Int, rows: Int) { (wholeBytes, rowBytes) }
    /// True if there are rows: three at least, as noise may look like one, unless a page is without a fault.
    var isReadable: Bool { wholeBytes > 0 || rows >= 3 }
    private var (wholeBytes, rowBytes, rows) = (0, 0, 0)

    init(_ file: DamagedFile, _ journal: JournalPages?, pageSize: Int, _ header: DatabaseHeader) throws {
        self.pageSize = pageSize
        reserved = 0
        let pages = PageSource(file, PageFormat(pageSize: pageSize), journal)
        let numbers = pages.numbers
        // The same part of the file for each size of pages.
        let step = max(1, file.size / (1 << 20))
        let sample = try stride(from: 0, to: numbers.count, by: step).compactMap { index in
            try pages.page(numbers[index]).map { (numbers[index], $0) }
        }
        try choose(from: sample, header)
        try read(sample)
    }

    /// Chooses the number of reserved bytes with which most pages are without a fault.
    private mutating func choose(from sample: [(Int, [UInt8])], _ header: DatabaseHeader) throws {
        var weights: [Int: Int] = [:]
        for (number, bytes) in sample {
            guard let page = BTreePage(number, bytes, usableSize: pageSize), !page.cells.isEmpty else {
                continue
            }
            for reserved in Set([pageSize - page.contentEnd, header.reserved, 0])
            where (0...255).contains(reserved) && pageSize - reserved >= 480 {
                guard let page = BTreePage(number, bytes, usableSize: pageSize - reserved), page.isWhole
                else { continue }
                weights[reserved, default: 0] += page.contentSize
            }
        }
        let best = weights.max {
            ($0.value, $0.key == header.reserved ? 1 : 0) < ($1.value, $1.key == header.reserved ? 1 : 0)
        }
        if let best { (reserved, wholeBytes) = (best.key, best.value) }
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
    /// - Parameter stated: the one that the header gives, from which three quarters of the texts have to differ; nil if it
    ///   gives none, and most texts decide.
    func encoding(stated: Int?) -> Int {
        // A text in UTF-16 hardly ever is one in UTF-8.
        let parts = texts.isEmpty ? 0 : texts.count(where: Self.isUTF8) * 4 / texts.count
        switch stated {
        case 1: return parts > 0 || texts.isEmpty ? 1 : utf16
        case let stated?: return parts < 3 ? stated : 1
        case nil: return parts > 1 || texts.isEmpty ? 1 : utf16
        }
    }

    private var utf16: Int { isBigEndian ? 3 : 2 }

    private static func isUTF8(_ text: ArraySlice<UInt8>) -> Bool { text.isUTF8 && !text.contains(0) }

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
