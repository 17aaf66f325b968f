/// The pages of a database that may be damaged, with what its journals change.
///
/// It trusts nothing in the file: the size of a page is tried if the header does not have one.
final class PageSource {
    private let file: DamagedFile
    let pageSize: Int
    /// The bytes of a page that SQLite itself uses; extensions may reserve the others.
    let usableSize: Int
    /// The highest number of a page.
    let pageCount: Int
    private let fileCount: Int
    /// The numbers of the pages that there are: those in the file, and those in a journal only.
    ///
    /// A damaged journal may have a page of any number.
    var numbers: [Int] { Array(1..<fileCount + 1) + overlay.pages.keys.filter { $0 > fileCount }.sorted() }
    /// Pages that are elsewhere than in the file.
    private let overlay: PageOverlay
    /// The number that SQLite has for the encoding of texts.
    let encoding: Int

    init(_ file: DamagedFile, _ format: PageFormat, overlay: PageOverlay = .none) {
        self.file = file
        self.overlay = overlay
        pageSize = format.pageSize
        usableSize = format.pageSize - format.reserved
        encoding = format.encoding
        fileCount = (file.size + pageSize - 1) / pageSize
        pageCount = max(fileCount, overlay.pages.keys.max() ?? 0)
    }

    private var recent: [Int: [UInt8]] = [:]
    /// The number of pages in the chains that were read: in a hostile file, every row goes on in the whole file.
    private var chainPages = 0

    /// Returns a page, which is shorter if the file ends in it; nil if there is none of this number.
    ///
    /// - Throws: `POSIXError`, if the file cannot be read at all.
    func page(_ number: Int) throws -> [UInt8]? {
        guard number >= 1, number <= pageCount else { return nil }
        if let page = recent[number] { return page }
        if recent.count > 64 { recent.removeAll(keepingCapacity: true) }
        if let offset = overlay.pages[number] {
            recent[number] = try overlay.file?.read(at: offset, count: pageSize) ?? []
        } else {
            guard number <= fileCount else { return nil }
            // Whoever goes on from a page to the next one mostly goes on.
            try readPages(from: number, count: recent[number - 1] == nil ? 1 : Self.pagesAhead)
        }
        return recent[number]
    }

    /// The number of pages that are read at once.
    private static let pagesAhead = 16

    /// Reads pages of the file.
    private func readPages(from first: Int, count: Int) throws {
        let start = (first - 1) * pageSize
        let bytes = try file.read(at: start, count: count * pageSize)
        guard count > 1, bytes.count > pageSize else {
            recent[first] = bytes
            return
        }
        // A page that the disk cannot read, or that the file ends in, is left to the next time, when it is the first one.
        for index in 0..<bytes.count / pageSize where overlay.pages[first + index] == nil {
            recent[first + index] = Array(bytes[index * pageSize..<(index + 1) * pageSize])
        }
    }

    /// Returns bytes with those of a chain of overflow pages after them (fileformat2.html, 1.6); nil if it is broken.
    ///
    /// - Parameter count: the number of all of them.
    func overflow(
        from first: Int, after start: ArraySlice<UInt8>, count: Int, _ chain: inout [Int]
    ) throws -> [UInt8]? {
        var bytes: [UInt8] = []
        // A damaged number may be a large one.
        bytes.reserveCapacity(min(count, 0x1_0000))
        bytes += start
        var next = first
        // A chain that leads back to itself meets, sooner or later, the page in the middle of what was read.
        while bytes.count < count {
            guard next > 1, chain.isEmpty || next != chain[chain.count / 2], chainPages < 100 * fileCount,
                let page = try page(next), let following = page.uint32(0)
            else { return nil }
            chainPages += 1
            chain.append(next)
            let end = 4 + min(usableSize - 4, count - bytes.count)
            guard end <= page.count else { return nil }
            bytes += page[4..<end]
            next = following
        }
        // The last page says that it is the last.
        return next == 0 ? bytes : nil
    }
}

/// How the pages of a database are to be read.
struct PageFormat: Hashable {
    var pageSize: Int
    var reserved: Int
    var encoding: Int
}

/// The fields of a database's header that are needed to read it (fileformat2.html, 1.3).
struct DatabaseHeader {
    static let magic = Array("SQLite format 3\0".utf8)

    let hasMagic: Bool
    /// The size of a page; nil if the field holds none.
    let pageSize: Int?
    let reserved: Int
    /// The number that SQLite has for the encoding of texts.
    let encoding: Int
    let freelist: (first: Int, count: Int)
    /// The number of pages that the file had; 0 if it is unknown.
    let pageCount: Int
    /// True if the header has all its constants: a file in another format, or an encrypted one, has not.
    let isIntact: Bool
    /// True if the file says that only newer versions of SQLite can read it.
    let isOfNewerFormat: Bool

    init(_ bytes: [UInt8]) {
        hasMagic = bytes.starts(with: Self.magic)
        let size = bytes.uint16(16).map { $0 == 1 ? 65_536 : $0 } ?? 0
        pageSize = Self.pageSizes.contains(size) ? size : nil
        let constants = bytes.count >= 100 && bytes[21] == 64 && bytes[22] == 32 && bytes[23] == 32
        let encoding = bytes.uint32(56) ?? 0
        let isKnown = bytes.count >= 100 && (1...2).contains(bytes[18]) && (1...2).contains(bytes[19])
        isIntact = hasMagic && pageSize != nil && constants && isKnown && (0...3).contains(encoding)
        // A bit that has flipped changes one of both.
        isOfNewerFormat =
            hasMagic && constants && pageSize != nil && bytes[18] == bytes[19] && (3...9).contains(bytes[18])
        reserved = constants && hasMagic && bytes[20] <= 32 ? Int(bytes[20]) : 0
        self.encoding = (1...3).contains(encoding) && hasMagic ? encoding : 1
        pageCount = hasMagic ? bytes.uint32(28) ?? 0 : 0
        freelist = (bytes.uint32(32) ?? 0, bytes.uint32(36) ?? 0)
    }

    static let pageSizes = [4096, 1024, 8192, 2048, 512, 16_384, 32_768, 65_536]
}
