/// The pages of a database that may be damaged, as its last committed transaction left them.
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
    /// A damaged journal may say that there are any number.
    var numbers: [Int] {
        let inFile = min(fileCount, pageCount)
        return Array(1..<inFile + 1) + (journal?.places.keys.filter { $0 > inFile }.sorted() ?? [])
    }
    /// Pages that are elsewhere than in the file.
    private let journal: JournalPages?
    /// The number that SQLite has for the encoding of texts.
    let encoding: Int

    init(_ file: DamagedFile, _ format: PageFormat, _ journal: JournalPages?) {
        self.file = file
        self.journal = journal
        pageSize = format.pageSize
        usableSize = format.pageSize - format.reserved
        encoding = format.encoding
        fileCount = (file.size + pageSize - 1) / pageSize
        pageCount = journal?.pageCount ?? fileCount
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
        if let place = journal?.places[number] {
            recent[number] = try place.file.read(at: place.offset, count: pageSize)
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
        // Where the disk cannot read one of many pages, some systems hand out none.
        if count > 1, bytes.count < pageSize { return try readPages(from: first, count: 1) }
        guard count > 1, bytes.count > pageSize else {
            recent[first] = bytes
            return
        }
        // A page that the disk cannot read, or that the file ends in, is left to the next time, when it is the first one.
        for index in 0..<bytes.count / pageSize where journal?.places[first + index] == nil {
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
            guard next > 1, chain.isEmpty || next != chain[chain.count / 2],
                chainPages < 100 * max(fileCount, journal?.places.count ?? 0),
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

    /// Returns the sectors of nothing but zeros in the pages of a chain, by their places in the record.
    ///
    /// - Parameters:
    ///   - start: the number of the record's bytes before the chain.
    ///   - end: the number of all of them.
    func sectorsOfZeros(in chain: [Int], from start: Int, to end: Int) throws -> [Range<Int>] {
        var first = start
        var sectors: [Range<Int>] = []
        for number in chain {
            // The first four bytes name the next page.
            let used = 0..<4 + min(end - first, usableSize - 4)
            for sector in try page(number)?.sectorsOfZeros(in: used) ?? [used] {
                let lower = max(sector.lowerBound - 4, 0)
                let upper = max(min(sector.upperBound, used.upperBound) - 4, 0)
                sectors.append(first + lower..<first + upper)
            }
            first += usableSize - 4
        }
        return sectors
    }
}
