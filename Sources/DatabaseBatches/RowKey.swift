import AppMigrations
import Foundation
import GRDB
import MigrationDiagnostics
import SchemaMigrations

/// The primary key of one row.
struct RowKey: Sendable {
    let values: [KeyValue]

    var hasNull: Bool { values.contains(where: \.isNull) }

    /// True for a key of integers.
    var isNumber: Bool {
        values.allSatisfy { if case .integer = $0 { true } else { $0.isNull } }
    }

    /// The literals of the values, from which they can be read again.
    var literals: [String] { values.map(\.literal) }

    init(values: [KeyValue]) {
        self.values = values
    }

    /// Reads literals; nil if there is one that this version does not know.
    init?(literals: [String]) {
        let values = literals.compactMap(KeyValue.init(literal:))
        guard values.count == literals.count else { return nil }
        self.values = values
    }
}

extension RowKey: Codable {
    init(from decoder: any Decoder) throws {
        let literals = try decoder.singleValueContainer().decode([String].self)
        guard let key = RowKey(literals: literals) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "\(literals) is no key of a row"))
        }
        self = key
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(literals)
    }
}

extension RowKey: CustomStringConvertible {
    var description: String { StepPosition.description(ofKey: literals) }
}

/// A value of a primary key, exactly as SQLite stores it.
enum KeyValue: Sendable, Equatable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    /// A text that Swift and GRDB would change: it has a NUL, or is not in the encoding of the database.
    case textBytes(Data)
    case blob(Data)

    /// - Parameters:
    ///   - isText: whether the value is the bytes of a text.
    ///   - encoding: the encoding of the text.
    init(_ value: DatabaseValue, isText: Bool, _ encoding: TextEncoding) {
        switch value.storage {
        case .null: self = .null
        case .int64(let number): self = .integer(number)
        case .double(let number): self = .real(number)
        case .string(let text): self = .text(text)
        case .blob(let bytes) where !isText: self = .blob(bytes)
        case .blob(let bytes):
            let text = encoding.text(bytes)
            let isPlain = text.map { !$0.unicodeScalars.contains("\0") } ?? false
            self = isPlain ? .text(text ?? "") : .textBytes(bytes)
        }
    }

    var isNull: Bool { if case .null = self { true } else { false } }

    var sql: SQL {
        switch self {
        case .null: "NULL"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let text): "\(text)"
        // SQLite takes the bytes of an argument for UTF-8, and those of a literal for what the database has.
        // The sign takes away the affinity of CAST, which would change what it is compared with (datatype3.html).
        case .textBytes(let bytes): SQL(sql: "+CAST(\(Self.hex(bytes)) AS TEXT)")
        case .blob(let bytes): "\(bytes)"
        }
    }

    /// Swift takes two spellings of a character for the same, and SQLite does not.
    static func == (value: KeyValue, other: KeyValue) -> Bool {
        value.literal.utf8.elementsEqual(other.literal.utf8)
    }

    /// A literal from which the value can be read again: bit by bit, unlike SQLite's own.
    var literal: String {
        switch self {
        case .null: "NULL"
        case .integer(let number): "\(number)"
        case .real(let number): "real \(number)"
        case .text(let text): text.quotedInSQL(by: "'")
        case .textBytes(let bytes): "text \(Self.hex(bytes))"
        case .blob(let bytes): Self.hex(bytes)
        }
    }

    init?(literal: String) {
        if literal == "NULL" {
            self = .null
        } else if let number = Int64(literal) {
            self = .integer(number)
        } else if literal.hasPrefix("real "), let number = Double(literal.dropFirst(5)) {
            self = .real(number)
        } else if literal.hasPrefix("text "), let bytes = Self.bytes(hex: literal.dropFirst(5)) {
            self = .textBytes(bytes)
        } else if let bytes = Self.bytes(hex: literal[...]) {
            self = .blob(bytes)
        } else if literal.utf8.first == UInt8(ascii: "'"), literal.utf8.count > 1 {
            self = .text(SQLName(token: literal).text)
        } else {
            return nil
        }
    }

    private static func hex(_ bytes: Data) -> String {
        let digits = Array("0123456789abcdef")
        return "x'\(String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }))'"
    }

    private static func bytes(hex literal: Substring) -> Data? {
        guard literal.hasPrefix("x'"), literal.hasSuffix("'"), literal.utf8.count > 2 else { return nil }
        let digits = literal.dropFirst(2).dropLast().utf8.map { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes = Data()
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }
}

/// The encoding of a database's texts, by the names of `PRAGMA encoding`.
enum TextEncoding: String {
    case utf8 = "UTF-8"
    case utf16LittleEndian = "UTF-16le"
    case utf16BigEndian = "UTF-16be"

    /// Decodes a text; nil if the bytes are not exactly one.
    func text(_ bytes: Data) -> String? {
        if self == .utf8 { return String(validUTF8: bytes) }
        guard bytes.count.isMultiple(of: 2) else { return nil }
        let bytes = Array(bytes)
        let units = stride(from: 0, to: bytes.count, by: 2).map { index in
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            return self == .utf16BigEndian ? first << 8 | second : second << 8 | first
        }
        let text = String(decoding: units, as: UTF16.self)
        // What is invalid has become a replacement character.
        return text.utf16.elementsEqual(units) ? text : nil
    }
}
