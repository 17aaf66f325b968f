import Foundation

/// A journal beside a database's file.
enum JournalKind: String, CaseIterable {
    /// The pages as they were before a transaction that was not completed.
    case rollback = "-journal"
    /// The pages as transactions left them.
    case log = "-wal"
}

/// The pages of a database that stand in its journals, in the place of those in its file.
///
/// The same rules as SQLite's, which it follows when it opens a file after a crash: so nothing that was committed is lost,
/// and nothing that was rolled back, or deleted with the end of the file, comes back.
struct JournalPages {
    struct Place {
        let file: DamagedFile
        let offset: Int
    }

    let pageSize: Int
    /// The number of pages of the database after the last transaction that was committed; what is beyond does not exist.
    let pageCount: Int
    private(set) var places: [Int: Place] = [:]

    /// Reads a journal.
    ///
    /// - Returns: nil if nothing in it counts.
    init?(_ file: DamagedFile, _ kind: JournalKind) throws {
        switch kind {
        case .rollback: try self.init(rollbackJournal: file)
        case .log: try self.init(log: file)
        }
    }

    /// Joins journals: first what the rollback journal restores, and then what the log has changed.
    ///
    /// - Returns: nil if there are none.
    static func joining(_ journals: [JournalKind: JournalPages]) -> JournalPages? {
        let restored = journals[.rollback]
        guard var log = journals[.log] else { return restored }
        if let restored, restored.pageSize == log.pageSize {
            log.places.merge(restored.places.filter { $0.key <= log.pageCount }) { own, _ in own }
        }
        return log
    }

    private static func isPageSize(_ size: Int) -> Bool { DatabaseHeader.pageSizes.contains(size) }
}

extension JournalPages {
    /// Reads the committed transactions of a write-ahead log (fileformat2.html, 4).
    ///
    /// - Returns: nil if there are none.
    private init?(log file: DamagedFile) throws {
        let header = try file.read(at: 0, count: 32)
        guard header.count == 32, let magic = header.uint32(0), magic & ~1 == 0x377f_0682,
            let size = header.uint32(8), Self.isPageSize(size)
        else { return nil }
        var sum = LogChecksum(isBigEndian: magic & 1 == 1)
        sum.add(header[..<24])
        guard sum.matches(header, at: 24) else { return nil }
        var (committed, open): ([Int: Place], [Int: Place]) = ([:], [:])
        var count = 0
        var offset = 32
        while true {
            let frame = try file.read(at: offset, count: 24 + size)
            // The salts of another checkpoint end the log, and so does the first frame that was not written in full.
            guard frame.count == 24 + size, frame[8..<16] == header[16..<24] else { break }
            sum.add(frame[..<8])
            sum.add(frame[24...])
            guard sum.matches(frame, at: 16), let number = frame.uint32(0), let commit = frame.uint32(4),
                number > 0
            else { break }
            open[number] = Place(file: file, offset: offset + 24)
            if commit > 0 {
                committed.merge(open) { $1 }
                (count, open) = (commit, [:])
            }
            offset += 24 + size
        }
        guard count > 0 else { return nil }
        (pageSize, pageCount, places) = (size, count, committed.filter { $0.key <= count })
    }

    /// Reads what a rollback journal restores, because its transaction was not completed (fileformat2.html, 3).
    ///
    /// - Returns: nil if it restores nothing.
    private init?(rollbackJournal file: DamagedFile) throws {
        let header = try file.read(at: 0, count: 28)
        guard let count = header.uint32(16), let size = header.uint32(24), Self.isPageSize(size), count > 0
        else { return nil }
        (pageSize, pageCount) = (size, count)
        var offset = 0
        while let segment = try Segment(file, at: offset, pageSize: size) {
            offset += segment.sector
            for _ in 0..<segment.records {
                let record = try file.read(at: offset, count: size + 8)
                guard record.count == size + 8, let number = record.uint32(0), number > 0,
                    segment.isIntact(record, pageSize: size)
                else { return }
                if number <= count { places[number] = Place(file: file, offset: offset + 4) }
                offset += size + 8
            }
            offset = (offset + segment.sector - 1) / segment.sector * segment.sector
        }
        if offset == 0 { return nil }
    }

    /// A part of a rollback journal, which was written between two syncs.
    private struct Segment {
        let records: Int
        let sector: Int
        private let nonce: UInt32

        init?(_ file: DamagedFile, at offset: Int, pageSize: Int) throws {
            let header = try file.read(at: offset, count: 28)
            guard header.starts(with: [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]),
                let count = header.word(8), let nonce = header.word(12), let sector = header.uint32(20),
                (32...65_536).contains(sector), sector & (sector - 1) == 0
            else { return nil }
            // All ones stand for as many as there are: the journal was never synced.
            let rest = (file.size - offset - sector) / (pageSize + 8)
            records = count == .max ? max(rest, 0) : min(Int(exactly: count) ?? 0, max(rest, 0))
            (self.sector, self.nonce) = (sector, nonce)
        }

        /// Returns true if the checksum of a record is right, which takes in every two hundredth byte.
        func isIntact(_ record: [UInt8], pageSize: Int) -> Bool {
            var sum = nonce
            for place in stride(from: pageSize - 200, to: 0, by: -200) { sum &+= UInt32(record[4 + place]) }
            return record.word(4 + pageSize) == sum
        }
    }
}

/// The checksum of a write-ahead log, which goes on from frame to frame (fileformat2.html, 4.2).
private struct LogChecksum {
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
