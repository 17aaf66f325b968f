import GRDB

/// The fields of a database's header that are needed to read it (fileformat2.html, 1.3).
///
/// Each field that is plausible is believed for itself, whatever the others are.
struct DatabaseHeader {
    static let magic = Array("SQLite format 3\0".utf8)

    /// True if the file begins as databases do, so that a zero in a field is its value.
    let isThere: Bool
    /// The size of a page; nil if the field holds none.
    let pageSize: Int?
    let reserved: Int
    /// The number that SQLite has for the encoding of texts; nil if the field holds none.
    let encoding: Int?
    let freelist: (first: Int, count: Int)
    /// True if some pages say to which other ones each page belongs (fileformat2.html, 1.8).
    let hasPointerMap: Bool
    /// The numbers that `PRAGMA user_version` and `PRAGMA application_id` set; nil if they are lost.
    let numbers: (user: Int32, application: Int32)?
    /// The number of pages that the database had.
    let pageCount: Int
    /// True if SQLite takes the number of pages for that of the last transaction.
    let hasCurrentPageCount: Bool
    /// True if the file says that only newer versions of SQLite can read it.
    let isOfNewerFormat: Bool
    /// True if SQLite does not write the file, because of a format that only newer versions write; they would name it twice.
    let hasImpossibleFormat: Bool

    init(_ bytes: [UInt8]) {
        let size = bytes.uint16(16).map { $0 == 1 ? 65_536 : $0 } ?? 0
        pageSize = Self.pageSizes.contains(size) ? size : nil
        reserved = bytes.byte(20) ?? 0
        encoding = bytes.uint32(56).flatMap { (1...3).contains($0) ? $0 : nil }
        freelist = (bytes.uint32(32) ?? 0, bytes.uint32(36) ?? 0)
        pageCount = bytes.uint32(28) ?? 0
        let constants = bytes.count >= 100 && bytes[21..<24].elementsEqual([64, 32, 32])
        isThere = constants || bytes.count >= 100 && bytes.starts(with: Self.magic)
        // The zeros behind them say that what has overwritten the beginning ends before.
        let hasNumbers = bytes.count >= 100 && (isThere || bytes[72..<92].allSatisfy { $0 == 0 })
        numbers =
            hasNumbers
            ? (Int32(bitPattern: bytes.word(60) ?? 0), Int32(bitPattern: bytes.word(68) ?? 0)) : nil
        hasCurrentPageCount = isThere && pageCount > 0 && bytes.word(24) == bytes.word(92)
        // The number between both is the highest of a root, and pages are skipped because of it.
        hasPointerMap = hasCurrentPageCount && 1...pageCount ~= bytes.uint32(52) ?? 0
        // A bit that has flipped changes one of both.
        isOfNewerFormat =
            bytes.starts(with: Self.magic) && constants && pageSize != nil && bytes[18] == bytes[19]
            && (3...9).contains(bytes[18])
        hasImpossibleFormat = bytes.starts(with: Self.magic) && bytes.byte(18) ?? 0 > 2 && !isOfNewerFormat
    }

    static let pageSizes = [4096, 1024, 8192, 2048, 512, 16_384, 32_768, 65_536]
}

extension DamagedDatabase {
    /// Copies the numbers that apps set.
    func copyNumbers(to db: Database) throws {
        guard let numbers = DatabaseHeader(try pages.page(1) ?? []).numbers else { return }
        try db.execute(
            sql: """
                PRAGMA main.user_version = \(numbers.user);
                PRAGMA main.application_id = \(numbers.application)
                """)
    }
}
