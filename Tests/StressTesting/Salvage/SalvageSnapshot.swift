import GRDB

/// A value as SQLite has it, so that two are equal only if they are of the same type.
enum SalvageValue: Hashable, Sendable {
    case null
    case integer(Int64)
    /// A number by its bits.
    case real(UInt64)
    /// The bytes of a text, in UTF-8: of one that is no UTF-8, too.
    case text([UInt8])
    case blob([UInt8])

    static func text(_ text: String) -> SalvageValue { .text(Array(text.utf8)) }
}

/// The values of a row: the key first, then the columns of the latest schema.
typealias SalvageRow = [SalvageValue]

/// The rows of the app's tables at one moment, by table and key.
struct SalvageSnapshot: Sendable, Equatable {
    private(set) var tables: [String: [SalvageRow: SalvageRow]] = [:]

    var count: Int { tables.values.reduce(0) { $0 + $1.count } }

    /// The rows of no table.
    init() {}

    /// Reads every table of a schema version that there is; later columns get their defaults.
    init(_ db: Database, _ tables: [SalvageTable], at version: Int) throws {
        for table in tables {
            guard let name = table.name(at: version), try db.tableExists(name) else { continue }
            self.tables[table.mark] = try Self.rows(of: table, called: name, at: version, db)
        }
    }

    /// Reads the tables that can be read, of a database that may lack columns.
    init(readable db: Database, _ tables: [SalvageTable], at version: Int) {
        for table in tables {
            guard let name = table.name(at: version) else { continue }
            self.tables[table.mark] = try? Self.rows(of: table, called: name, at: version, db)
        }
    }

    private static func rows(
        of table: SalvageTable, called name: String, at version: Int, _ db: Database
    ) throws -> [SalvageRow: SalvageRow] {
        let columns = table.columns(at: version)
        // A text as a blob has the bytes behind a NUL, and those that are no UTF-8, too.
        let list = columns.map {
            "CASE typeof(\($0)) WHEN 'text' THEN CAST(\($0) AS BLOB) ELSE \($0) END, typeof(\($0)) = 'text'"
        }
        let encoding = try TextEncoding(db)
        var rows: [SalvageRow: SalvageRow] = [:]
        let defaults = table.defaults(after: version)
        let cursor = try Row.fetchCursor(db, sql: "SELECT \(list.joined(separator: ", ")) FROM \(name)")
        while let row = try cursor.next() {
            let values =
                columns.indices.map { index in
                    SalvageValue(row[2 * index] as DatabaseValue, isText: row[2 * index + 1], encoding)
                } + defaults
            rows[Array(values.prefix(table.keyCount))] = values
        }
        return rows
    }

    /// Every row with its table and key.
    var entries: [(table: String, key: SalvageRow, row: SalvageRow)] {
        tables.flatMap { table, rows in rows.map { (table, $0.key, $0.value) } }
    }

    subscript(table: String, key: SalvageRow) -> SalvageRow? { tables[table]?[key] }
}

/// An encoding of texts in a database.
enum TextEncoding: String, CaseIterable, Sendable {
    case utf8 = "UTF-8"
    case utf16le = "UTF-16le"
    case utf16be = "UTF-16be"

    /// The number that SQLite has for it (fileformat2.html, 1.3.13).
    var number: UInt8 {
        switch self {
        case .utf8: 1
        case .utf16le: 2
        case .utf16be: 3
        }
    }

    /// Reads the encoding of a database.
    init(_ db: Database) throws {
        self = try String.fetchOne(db, sql: "PRAGMA encoding").flatMap(Self.init) ?? .utf8
    }

    /// Returns the bytes of a text in UTF-8; those of a text that is none unchanged.
    func utf8(_ bytes: [UInt8]) -> [UInt8] {
        guard self != .utf8 else { return bytes }
        let (high, low) = self == .utf16be ? (0, 1) : (1, 0)
        let units = stride(from: 0, to: bytes.count - 1, by: 2).map {
            UInt16(bytes[$0 + high]) << 8 | UInt16(bytes[$0 + low])
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }

    /// Returns the bytes of a text in this encoding.
    func bytes(of text: String) -> [UInt8] {
        switch self {
        case .utf8: Array(text.utf8)
        case .utf16le: text.utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }
        case .utf16be: text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }
        }
    }
}

extension SalvageValue {
    /// The bytes of the value, with numbers as wide as they can be.
    var bytes: [UInt8] {
        switch self {
        case .null: []
        case .integer(let integer): Self.bytes(of: UInt64(bitPattern: integer))
        case .real(let bits): Self.bytes(of: bits)
        case .text(let bytes), .blob(let bytes): bytes
        }
    }

    private static func bytes(of word: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) }
    }

    fileprivate init(_ value: DatabaseValue, isText: Bool, _ encoding: TextEncoding) {
        switch value.storage {
        case .null: self = .null
        case .int64(let integer): self = .integer(integer)
        case .double(let real): self = .real(real.bitPattern)
        case .string(let text): self = .text(text)
        case .blob(let data): self = isText ? .text(encoding.utf8(Array(data))) : .blob(Array(data))
        }
    }
}

extension SalvageValue: CustomStringConvertible {
    /// The value for a person, cut short.
    var description: String {
        switch self {
        case .null: "NULL"
        case .integer(let integer): "\(integer)"
        case .real(let bits): "\(Double(bitPattern: bits))"
        case .text(let bytes):
            "'\(String(decoding: bytes.prefix(40), as: UTF8.self))'\(bytes.count > 40 ? "(\(bytes.count))" : "")"
        case .blob(let bytes): "blob(\(bytes.count))"
        }
    }
}
