import Foundation
import SchemaMigrations

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

    fileprivate static func isPageSize(_ size: Int) -> Bool { DatabaseHeader.pageSizes.contains(size) }
}

extension JournalPages {
    /// Reads the committed transactions of a write-ahead log (fileformat2.html, 4).
    ///
    /// - Parameter isCut: becomes true if damage ends the log, and committed transactions may follow.
    /// - Returns: nil if none count.
    init?(log file: DamagedFile, isCut: inout Bool) throws {
        let start = try file.read(at: 0, count: LogHeader.count + LogHeader.frameCount)
        guard let header = LogHeader(Array(start.prefix(LogHeader.count))) else {
            // A power cut can leave zeros where nothing was written.
            isCut = start.count == LogHeader.count + LogHeader.frameCount && start.contains { $0 != 0 }
            return nil
        }
        let size = header.pageSize
        let step = LogHeader.frameCount + size
        var sum = header.sum
        var (committed, open): ([Int: Place], [Int: Place]) = ([:], [:])
        var count = 0
        var offset = LogHeader.count
        while true {
            let frame = try file.read(at: offset, count: step)
            // The salts of another checkpoint end the log, and so does the first frame that was not written in full.
            guard frame.count == step, header.isOfLog(frame) else { break }
            sum.add(frame[..<8])
            sum.add(frame[LogHeader.frameCount...])
            guard sum.matches(frame, at: 16), let number = frame.uint32(0), let commit = frame.uint32(4),
                number > 0
            else { break }
            open[number] = Place(file: file, offset: offset + LogHeader.frameCount)
            if commit > 0 {
                committed.merge(open) { $1 }
                (count, open) = (commit, [:])
            }
            offset += step
        }
        // A transaction that was not completed may have frames with wrong checksums, but none that commits.
        isCut = try stride(from: offset, to: file.size, by: step).contains { offset in
            let frame = try file.read(at: offset, count: LogHeader.frameCount)
            return header.isOfLog(frame) && frame.uint32(4) ?? 0 > 0
        }
        guard count > 0 else { return nil }
        (pageSize, pageCount, places) = (size, count, committed.filter { $0.key <= count })
    }

    /// Reads what a rollback journal restores, because its transaction was not completed (fileformat2.html, 3).
    ///
    /// As in SQLite, it restores nothing either if it was one of several databases' whose common journal is gone: that is how the
    /// transaction was committed (atomiccommit.html, 5.5).
    ///
    /// - Parameters:
    ///   - database: the database's file.
    ///   - isCut: becomes true if damage ends the journal, and the transaction may be undone in part.
    /// - Returns: nil if it restores nothing.
    init?(rollbackJournal file: DamagedFile, of database: DamagedFile, isCut: inout Bool) throws {
        let header = try file.read(at: 0, count: 28)
        guard let count = header.uint32(16), let size = header.uint32(24), Self.isPageSize(size), count > 0
        else { return nil }
        if let common = try Self.commonJournal(of: file), (try? common.status().st_size) ?? 0 == 0 {
            return nil
        }
        (pageSize, pageCount) = (size, count)
        var offset = 0
        while let segment = try Segment(file, at: offset, pageSize: size) {
            offset += segment.sector
            let start = offset
            for _ in 0..<segment.records {
                let record = try file.read(at: offset, count: size + 8)
                guard record.count == size + 8, let number = record.uint32(0), number > 0,
                    segment.isIntact(record, pageSize: size)
                else {
                    isCut = try segment.isSynced(start, file, database, pageSize: size)
                    return
                }
                if number <= count { places[number] = Place(file: file, offset: offset + 4) }
                offset += size + 8
            }
            offset = (offset + segment.sector - 1) / segment.sector * segment.sector
        }
        if offset == 0 { return nil }
    }

    /// Returns the journal of several databases that one of a database names at its end; nil if it names none.
    private static func commonJournal(of file: DamagedFile) throws -> URL? {
        let end = try file.read(at: file.size - 16, count: 16)
        guard end.count == 16, Array(end[8...]) == Segment.magic, let count = end.uint32(0),
            (1...4_096).contains(count), count <= file.size - 16
        else { return nil }
        let name = try file.read(at: file.size - 16 - count, count: count)
        // Whether a char has a sign depends on the processor.
        let sums = [
            name.reduce(0 as UInt32) { $0 &+ UInt32($1) },
            name.reduce(0 as UInt32) { $0 &+ UInt32(bitPattern: Int32(Int8(bitPattern: $1))) },
        ]
        guard let sum = end.word(4), sums.contains(sum) else { return nil }
        return URL(fileURLWithPath: String(decoding: name, as: UTF8.self))
    }

    /// A part of a rollback journal, which was written between two syncs.
    private struct Segment {
        static let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]

        let records: Int
        /// True if the number of records was written, as it is before they are synced.
        private let isCounted: Bool
        let sector: Int
        private let nonce: UInt32

        init?(_ file: DamagedFile, at offset: Int, pageSize: Int) throws {
            let header = try file.read(at: offset, count: 28)
            guard header.starts(with: Self.magic),
                let count = header.word(8), let nonce = header.word(12), let sector = header.uint32(20),
                (32...65_536).contains(sector), sector & (sector - 1) == 0
            else { return nil }
            // All ones stand for as many as there are: the journal was never synced.
            let rest = (file.size - offset - sector) / (pageSize + 8)
            isCounted = count != .max
            // One more than there are shows that the file was cut.
            records = isCounted ? min(Int(exactly: count) ?? 0, max(rest, 0) + 1) : max(rest, 0)
            (self.sector, self.nonce) = (sector, nonce)
        }

        /// Returns true if the records were once on the disk: SQLite begins the next segment, and writes to the database, only then.
        ///
        /// Their number says nothing: with `synchronous=NORMAL`, it is synced together with them.
        func isSynced(
            _ start: Int, _ file: DamagedFile, _ database: DamagedFile, pageSize: Int
        ) throws -> Bool {
            guard isCounted else { return false }
            let end = (start + records * (pageSize + 8) + sector - 1) / sector * sector
            if try Segment(file, at: end, pageSize: pageSize) != nil { return true }
            return try (0..<records).contains { index in
                let record = try file.read(at: start + index * (pageSize + 8), count: pageSize + 8)
                guard record.count == pageSize + 8, isIntact(record, pageSize: pageSize),
                    let number = record.uint32(0), number > 0, number <= database.size / pageSize
                else { return false }
                return try record[4..<4 + pageSize]
                    != database.read(at: (number - 1) * pageSize, count: pageSize)[...]
            }
        }

        /// Returns true if the checksum of a record is right, which takes in every two hundredth byte.
        func isIntact(_ record: [UInt8], pageSize: Int) -> Bool {
            var sum = nonce
            for place in stride(from: pageSize - 200, to: 0, by: -200) { sum &+= UInt32(record[4 + place]) }
            return record.word(4 + pageSize) == sum
        }
    }
}

/// The header of a write-ahead log, and what a frame begins with (fileformat2.html, 4.1).
private struct LogHeader {
    static let count = 32
    static let frameCount = 24

    let pageSize: Int
    /// The checksum with which that of the first frame begins.
    let sum: LogChecksum
    private let salts: ArraySlice<UInt8>

    /// Reads a header.
    ///
    /// - Returns: nil if it is damaged, or none.
    init?(_ header: [UInt8]) {
        guard header.count == Self.count, let magic = header.uint32(0), magic & ~1 == 0x377f_0682,
            let size = header.uint32(8), JournalPages.isPageSize(size)
        else { return nil }
        var sum = LogChecksum(isBigEndian: magic & 1 == 1)
        sum.add(header[..<24])
        guard sum.matches(header, at: 24) else { return nil }
        (pageSize, self.sum, salts) = (size, sum, header[16..<24])
    }

    /// Returns true if a frame was written since the log began anew.
    func isOfLog(_ frame: [UInt8]) -> Bool { frame.count >= Self.frameCount && frame[8..<16] == salts }
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
