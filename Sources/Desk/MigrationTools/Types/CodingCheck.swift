import Foundation
import GRDB

/// Determines which stored values the generated code reads, by the same rules, without compiling it.
struct CodingCheck {
    private let coding: ColumnCoding
    private let formatter: DateFormatter?

    init(_ coding: ColumnCoding) {
        self.coding = coding
        guard case .date(.pattern(let pattern)) = coding else {
            formatter = nil
            return
        }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = pattern
        self.formatter = formatter
    }

    /// Returns whether a value that is not null can be read.
    ///
    /// Of an enumeration and of JSON, only the app knows which values it accepts: any text passes, and any number.
    func reads(_ stored: DatabaseValue) -> Bool {
        switch coding {
        case .any: return true
        case .plain(let type): return Self.isExact(type, stored)
        case .date(.grdb):
            guard case .string(let text) = stored.storage, text.utf8.count > 10,
                let date = Date.fromDatabaseValue(stored)
            else { return false }
            let time = text.replacing("T", with: " ", maxReplacements: 1)
            return date.databaseValue
                == (time + "0000-00-00 00:00:00.000".dropFirst(time.count)).databaseValue
        case .date(.pattern):
            guard case .string(let text) = stored.storage, let formatter else { return false }
            return formatter.date(from: text).map { formatter.string(from: $0) == text } ?? false
        case .date(let number): return Self.isExact(number, stored)
        case .uuid(let isUppercase):
            guard case .string(let text) = stored.storage, let uuid = UUID(uuidString: text) else {
                return false
            }
            return text == (isUppercase ? uuid.uuidString : uuid.uuidString.lowercased())
        case .rawValue:
            switch stored.storage {
            case .string, .int64: return true
            default: return false
            }
        case .json:
            guard case .string(let text) = stored.storage else { return false }
            return (try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed))
                != nil
        }
    }

    private static func isExact(_ type: String, _ stored: DatabaseValue) -> Bool {
        func isExact<Value: DatabaseValueConvertible>(_: Value.Type) -> Bool {
            Value.fromDatabaseValue(stored)?.databaseValue == stored
        }
        switch type {
        case "Int64": return isExact(Int64.self)
        case "String": return isExact(String.self)
        case "Double": return isExact(Double.self)
        case "Bool": return isExact(Bool.self)
        case "Data": return isExact(Data.self)
        default: return isExact(UUID.self)
        }
    }

    private static func isExact(_ storage: ColumnCoding.DateStorage, _ stored: DatabaseValue) -> Bool {
        switch stored.storage {
        case .int64, .double: break
        default: return false
        }
        guard let number = Double.fromDatabaseValue(stored) else { return false }
        let back: Double =
            switch storage {
            case .millisecondsSince1970:
                Date(timeIntervalSince1970: number / 1000).timeIntervalSince1970 * 1000
            case .secondsSince2001:
                Date(timeIntervalSinceReferenceDate: number).timeIntervalSinceReferenceDate
            default: Date(timeIntervalSince1970: number).timeIntervalSince1970
            }
        return ((back * 1_000_000).rounded() / 1_000_000).databaseValue == stored
    }

    /// A condition that holds for all values of a column that may not be read; nil if there are none.
    func suspicion(of column: String) -> String? {
        switch coding {
        case .any: nil
        case .plain("Int64"): "typeof(\(column)) <> 'integer'"
        // GRDB ends a text at a NUL.
        case .plain("String"): "(typeof(\(column)) <> 'text' OR instr(\(column), char(0)))"
        case .plain("Double"): "typeof(\(column)) <> 'real'"
        case .plain("Bool"): "(typeof(\(column)) <> 'integer' OR \(column) NOT IN (0, 1))"
        case .plain("Data"): "typeof(\(column)) <> 'blob'"
        default: "1"
        }
    }
}
