extension PageFormat {
    /// Finds out how the pages of a file are to be read: as its header says, unless more rows can be read in another way.
    ///
    /// - Returns: nil if no row can be read in any way, as in a file that is encrypted.
    static func guess(_ file: DamagedFile, _ header: DatabaseHeader) throws -> PageFormat? {
        let stated = header.pageSize.map {
            PageFormat(pageSize: $0, reserved: header.reserved, encoding: header.encoding)
        }
        var best: (format: PageFormat, score: Int)?
        func consider(_ format: PageFormat) throws {
            let score = try format.score(file)
            guard score > 0 else { return }
            // The header is believed unless it is clearly wrong.
            let isClear = best.map { $0.format == stated ? score / 2 > $0.score : score > $0.score } ?? true
            if isClear { best = (format, score) }
        }
        if let stated { try consider(stated) }
        if let stated, header.isIntact, let best, best.format == stated, header.reserved == 0,
            header.encoding == 1
        {
            return stated
        }
        for size in DatabaseHeader.pageSizes {
            for reserved in Set([header.reserved, 0]) {
                for encoding in Set([header.encoding, 1]) {
                    try consider(PageFormat(pageSize: size, reserved: reserved, encoding: encoding))
                }
            }
        }
        return best?.format
    }

    /// Reads the format from a write-ahead log that has the first page: it may be all that is left of a database.
    static func ofLog(_ log: DamagedFile) throws -> PageFormat? {
        guard let size = try log.read(at: 0, count: 32).uint32(8), DatabaseHeader.pageSizes.contains(size),
            let overlay = try PageOverlay.writeAheadLog(log, pageSize: size), let first = overlay.pages[1]
        else { return nil }
        let header = DatabaseHeader(try log.read(at: first, count: 100))
        guard header.isIntact, header.pageSize == size else { return nil }
        return PageFormat(pageSize: size, reserved: header.reserved, encoding: header.encoding)
    }

    /// Returns how many bytes of rows a sample of pages has.
    ///
    /// Three rows at least: noise, such as that of an encrypted file, may look like one.
    private func score(_ file: DamagedFile) throws -> Int {
        let pages = PageSource(file, self)
        let count = file.size / pageSize
        // The same part of the file for each size of pages.
        let step = max(1, file.size / (1 << 20))
        var (score, rows) = (0, 0)
        for number in stride(from: 1, through: max(count, 1), by: step) {
            guard let page = try pages.tree(number), page.isLeaf else { continue }
            for cell in page.cells {
                var chain: [Int] = []
                guard let record = try pages.record(of: cell, in: page, &chain),
                    record.values.count > 1 || page.number == 1
                        || cell.size > 8
                else { continue }
                score += cell.local.count
                rows += 1
            }
        }
        return rows >= 3 ? score : 0
    }
}
