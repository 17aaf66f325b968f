/// Pages of a database that are in one of its journals.
struct PageOverlay {
    static var none: PageOverlay { PageOverlay(file: nil, pages: [:]) }

    let file: DamagedFile?
    /// Where each page is in the file.
    let pages: [Int: Int]

    /// Reads which pages the committed transactions of a write-ahead log have written (fileformat2.html, 4).
    ///
    /// - Returns: nil if there are none, or if they are of a database with other pages.
    static func writeAheadLog(_ file: DamagedFile, pageSize: Int) throws -> PageOverlay? {
        let header = try file.read(at: 0, count: 32)
        guard let magic = header.uint32(0), magic & ~1 == 0x377f_0682, header.uint32(8) == pageSize else {
            return nil
        }
        var sum = WALChecksum(isBigEndian: magic & 1 == 1)
        sum.add(header[..<24])
        guard sum.matches(header, at: 24) else { return nil }
        var (committed, open): ([Int: Int], [Int: Int]) = ([:], [:])
        var offset = 32
        while true {
            let frame = try file.read(at: offset, count: 24 + pageSize)
            guard frame.count == 24 + pageSize, frame[8..<16] == header[16..<24] else { break }
            sum.add(frame[..<8])
            sum.add(frame[24...])
            guard sum.matches(frame, at: 16), let number = frame.uint32(0), let size = frame.uint32(4),
                number > 0
            else { break }
            open[number] = offset + 24
            if size > 0 {
                committed.merge(open) { $1 }
                committed = committed.filter { $0.key <= size }
                open = [:]
            }
            offset += 24 + pageSize
        }
        return committed.isEmpty ? nil : PageOverlay(file: file, pages: committed)
    }

    /// Reads which pages a rollback journal restores, because a transaction was not completed (fileformat2.html, 3).
    ///
    /// - Returns: nil if there are none.
    static func rollbackJournal(_ file: DamagedFile, pageSize: Int) throws -> PageOverlay? {
        let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
        var pages: [Int: Int] = [:]
        var offset = 0
        while true {
            let header = try file.read(at: offset, count: 28)
            // A count of 0xffffffff stands for all that follow, and is left to SQLite (fileformat2.html, 3).
            guard header.starts(with: magic), let count = header.uint32(8), let nonce = header.word(12),
                let sector = header.uint32(20), (32...65_536).contains(sector),
                header.uint32(24) == pageSize || offset > 0
            else { break }
            offset += sector
            var left = count
            while left > 0 {
                let record = try file.read(at: offset, count: pageSize + 8)
                guard record.count == pageSize + 8, let number = record.uint32(0), number > 0 else { break }
                var sum = nonce
                var place = pageSize - 200
                while place > 0 {
                    sum &+= UInt32(record[4 + place])
                    place -= 200
                }
                guard record.word(4 + pageSize) == sum else { break }
                // The first one is the page as it was before the transaction.
                if pages[number] == nil { pages[number] = offset + 4 }
                offset += pageSize + 8
                left -= 1
            }
            guard left == 0, count > 0 else { break }
            offset = (offset + sector - 1) / sector * sector
        }
        return pages.isEmpty ? nil : PageOverlay(file: file, pages: pages)
    }
}

/// The checksum of a write-ahead log, which goes on from frame to frame (fileformat2.html, 4.2).
private struct WALChecksum {
    let isBigEndian: Bool
    private var (first, second): (UInt32, UInt32) = (0, 0)

    init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

    mutating func add(_ bytes: ArraySlice<UInt8>) {
        func word(_ index: Int) -> UInt32 {
            let word =
                UInt32(bytes[index]) << 24 | UInt32(bytes[index + 1]) << 16 | UInt32(bytes[index + 2]) << 8
                | UInt32(bytes[index + 3])
            return isBigEndian ? word : word.byteSwapped
        }
        var index = bytes.startIndex
        while index + 8 <= bytes.endIndex {
            first &+= word(index) &+ second
            second &+= word(index + 4) &+ first
            index += 8
        }
    }

    func matches(_ bytes: [UInt8], at offset: Int) -> Bool {
        bytes.word(offset) == first && bytes.word(offset + 4) == second
    }
}
