import Foundation
import GRDB
import MigrationTesting
import MigrationTools

/// The format of a database's file, how large it is, and how its app keeps records.
struct SalvageShape: Sendable {
    enum Vacuum: Int, CaseIterable {
        case none, full, incremental
    }

    /// What the app migrates its schema with.
    enum Migrations: CaseIterable {
        case files, grdb
    }

    /// Where the manager has its record.
    enum Store: CaseIterable {
        case database, json
    }

    /// How the manager finds the version of an install that it has no record of.
    enum Adopting: CaseIterable {
        case newApp, tables
    }

    var pageSize: Int
    let encoding: TextEncoding
    /// The number of bytes that each page reserves, for checksums for instance.
    let reserved: Int
    let vacuum: Vacuum
    let isWAL: Bool
    /// The number of rows of a table, about.
    let scale: Int
    let migrations: Migrations
    let store: Store
    let adopting: Adopting
    /// The release of the app that has had the database last, which is also the version of the schema.
    let release: Int

    var usableSize: Int { pageSize - reserved }

    init(_ random: inout RandomNumbers, isSmall: Bool) {
        let sizes = [512, 1_024, 2_048, 4_096, 4_096, 4_096, 8_192, 16_384, 32_768, 65_536]
        pageSize = random.pick(isSmall ? Array(sizes.prefix(8)) : sizes)
        encoding = random.chance(60) ? .utf8 : random.pick(TextEncoding.allCases)
        reserved = random.chance(60) ? 0 : random.pick([8, 32])
        vacuum = random.chance(50) ? .none : random.pick(Vacuum.allCases)
        isWAL = Bool.random(using: &random)
        scale = Self.scale(&random, isSmall: isSmall)
        migrations = random.chance(75) ? .files : .grdb
        store = random.pick(Store.allCases)
        adopting = random.pick(Adopting.allCases)
        release = Int.random(in: 1...SalvageSchema.latest, using: &random)
    }

    private static func scale(_ random: inout RandomNumbers, isSmall: Bool) -> Int {
        switch Int.random(in: 0..<100, using: &random) {
        case ..<55: Int.random(in: 5...40, using: &random)
        case ..<90: Int.random(in: 40...160, using: &random)
        case ..<99: Int.random(in: 160...(isSmall ? 200 : 600), using: &random)
        default: isSmall ? 200 : Int.random(in: 600...2_500, using: &random)
        }
    }

    /// Returns true if a row is too long for one page, so that it goes on in others (fileformat2.html, 1.6).
    func isTooLong(_ row: SalvageRow, hasRowid: Bool) -> Bool {
        let sizes = row.map { value -> Int in
            switch value {
            case .null, .integer: 1
            case .real: 9
            case .text(let bytes): 1 + bytes.count * (encoding == .utf8 ? 1 : 2)
            case .blob(let bytes): 1 + bytes.count
            }
        }
        return sizes.reduce(1, +) > (hasRowid ? usableSize - 35 : (usableSize - 12) * 64 / 255 - 23)
    }

    /// Creates a database of this format without tables.
    func create(at file: URL) throws {
        try execute(
            "PRAGMA page_size = \(pageSize); PRAGMA auto_vacuum = \(vacuum.rawValue); VACUUM", at: file)
        var bytes = [UInt8](try Data(contentsOf: file))
        setFields(of: &bytes)
        try Data(bytes).write(to: file)
        if isWAL { try execute("PRAGMA journal_mode = WAL", at: file) }
        guard try hasFormat(file) else { throw OtherFormat() }
    }

    private func execute(_ sql: String, at file: URL) throws {
        let queue = try SalvageConnection.open(file)
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }

    /// Writes into a database of one page, without a row, the encoding of texts, and how many bytes each page reserves.
    ///
    /// GRDB reads the schema of a new file, after which SQLite keeps the encoding (pragma.html); reserving bytes is offered in
    /// C alone (SQLITE_FCNTL_RESERVE_BYTES), and moves the place at which the page's cells begin (fileformat2.html, 1.6).
    private func setFields(of bytes: inout [UInt8]) {
        guard bytes.count == pageSize else { return }
        bytes[20] = UInt8(reserved)
        (bytes[105], bytes[106]) = (UInt8(usableSize >> 8 & 0xff), UInt8(usableSize & 0xff))
        bytes[59] = encoding.number
    }

    /// Returns true if SQLite sees the format, too.
    func hasFormat(_ file: URL) throws -> Bool {
        let queue = try SalvageConnection.open(file)
        defer { try? queue.close() }
        return try queue.read { db in
            func number(_ name: String) throws -> Int? { try Int.fetchOne(db, sql: "PRAGMA \(name)") }
            return try number("page_size") == pageSize && number("auto_vacuum") == vacuum.rawValue
                && TextEncoding(db) == encoding
                && String.fetchOne(db, sql: "PRAGMA integrity_check") == "ok"
        }
    }

    private struct OtherFormat: Error, CustomStringConvertible {
        var description: String { "SQLite does not see the format that a database was to have" }
    }
}

extension SalvageShape: CustomStringConvertible {
    var description: String {
        """
        \(pageSize)\(reserved > 0 ? "-\(reserved)" : ""), \(encoding.rawValue), vacuum \(vacuum), \
        \(isWAL ? "WAL" : "journal"), \(migrations), \(store), \(adopting), \(release).0
        """
    }
}

/// Connections that leave what they delete where it is.
enum SalvageConnection {
    static func open(_ file: URL) throws -> DatabaseQueue {
        var configuration = Configuration()
        // Debian's SQLite overwrites what is deleted, unlike others.
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA secure_delete = OFF; PRAGMA wal_autocheckpoint = 0")
        }
        return try DatabaseQueue(path: file.path, configuration: configuration)
    }
}
