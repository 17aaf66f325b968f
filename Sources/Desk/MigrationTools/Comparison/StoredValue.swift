import CMigrationSQLite
package import Foundation
package import GRDB
import MigrationDiagnostics
import SchemaMigrations
import TextOutput

/// A value as SQLite tells it from others: by its type, and for texts by its bytes.
///
/// `DatabaseValue` compares texts as Swift does, for which `é` and `e` with an accent are one, and takes 1 and
/// 1.0 for the same.
package enum StoredValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(UInt64)
    case text([UInt8])
    case blob(Data)

    package init(_ value: DatabaseValue) {
        switch value.storage {
        case .null: self = .null
        case .int64(let number): self = .integer(number)
        case .double(let number): self = .real(number.bitPattern)
        case .string(let text): self = .text(Array(text.utf8))
        case .blob(let data): self = .blob(data)
        }
    }

    /// Reads a column of a statement's current row.
    ///
    /// GRDB ends a text at a NUL, and repairs what is not UTF-8.
    init(_ statement: Statement, column: Int) {
        var (integer, real): (Int64, Double) = (0, 0)
        var (start, count): (UnsafeRawPointer?, Int32) = (nil, 0)
        let type = app_migrations_value(
            statement.sqliteStatement, Int32(column), &integer, &real, &start, &count)
        let bytes = UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(count))
        switch type {
        case 1: self = .integer(integer)
        case 2: self = .real(real.bitPattern)
        case 3: self = .text(Array(bytes))
        case 4: self = .blob(Data(bytes))
        default: self = .null
        }
    }

    package func hash(into hasher: inout Hasher) {
        func combine(_ bytes: UnsafeRawBufferPointer, _ type: Int) {
            hasher.combine(type)
            hasher.combine(bytes.count)
            hasher.combine(bytes: bytes)
        }
        switch self {
        case .null: hasher.combine(0)
        case .integer(let number):
            hasher.combine(1)
            hasher.combine(number)
        case .real(let bits):
            hasher.combine(2)
            hasher.combine(bits)
        // An array gives a hasher each byte by itself, and `Data` the first 80 alone.
        case .text(let bytes): bytes.withUnsafeBytes { combine($0, 3) }
        case .blob(let data): data.withUnsafeBytes { combine($0, 4) }
        }
    }

    /// The value as SQL.
    package var sql: String {
        switch self {
        case .null: return "NULL"
        // The lowest integer as a literal would be a real (lang_expr.html, 3).
        case .integer(.min): return "(-9223372036854775807 - 1)"
        case .integer(let number): return "\(number)"
        case .real(let bits): return Self.sql(Double(bitPattern: bits))
        case .blob(let data): return "x'\(Self.hexadecimal(data))'"
        case .text(let bytes):
            // SQLite ends a statement at a NUL.
            guard let text = String(validUTF8: bytes), !bytes.contains(0) else {
                return "CAST(x'\(Self.hexadecimal(bytes))' AS TEXT)"
            }
            return text.quotedInSQL(by: "'")
        }
    }

    /// The value as SQL in a sentence, which shows only the beginning of a long text or blob.
    package var excerpt: String {
        let text = sql
        return text.count > 44 ? text.shortened(to: 41) + "'" : text
    }

    private static func sql(_ number: Double) -> String {
        // SQLite reads a number that is too large as infinity.
        number.isFinite ? "\(number)" : number < 0 ? "-9e999" : "9e999"
    }

    private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// A number that values share only if they mean the same, such as 1, 1.0 and `'1'`; 0 for null.
    var meaning: Int {
        switch self {
        case .null: return 0
        case .real(let bits):
            let number = Double(bitPattern: bits)
            return Int64(exactly: number).map { StoredValue.integer($0).hashValue } ?? hashValue
        case .text(let bytes):
            // Only a text that SQLite writes for a number means that number.
            guard let first = bytes.first, (0x2d...0x39).contains(first),
                let text = String(validUTF8: bytes)
            else { return hashValue }
            if let number = Int64(text), "\(number)" == text { return StoredValue.integer(number).hashValue }
            guard let number = Double(text), "\(number)" == text else { return hashValue }
            return StoredValue.real(number.bitPattern).meaning
        case .integer, .blob: return hashValue
        }
    }

    /// The value with the letters of a text in lower case.
    package var inLowerCase: StoredValue {
        guard case .text(let bytes) = self else { return self }
        return .text(Array(String(decoding: bytes, as: UTF8.self).lowercased().utf8))
    }
}
