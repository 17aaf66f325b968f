import Foundation
import GRDB
import SchemaMigrations

/// The kind of values in a column, by its declared type and its name.
enum GeneratedValue {
    case integer, real, boolean, text, day, moment, identifier, json, blob

    init(_ column: TableLayout.Column) {
        let type = column.type
        let name = column.name.folded
        // First the types that SQLite does not know and GRDB's users declare, then datatype3.html, section
        // 3.1.
        switch type {
        case _ where type.contains("BOOL"): self = .boolean
        case _ where type.contains("INT"):
            self = name.hasPrefix("is_") || name.hasPrefix("has_") ? .boolean : .integer
        case _ where type.contains("DATETIME") || type.contains("TIMESTAMP"): self = .moment
        case _ where type.contains("DATE"): self = .day
        case _ where type.contains("JSON"): self = .json
        case _ where type.contains("CHAR") || type.contains("CLOB") || type.contains("TEXT"):
            self = Self.text(named: name)
        case _ where type.contains("BLOB"): self = .blob
        case _ where type.contains("REAL") || type.contains("FLOA") || type.contains("DOUB"): self = .real
        case "": self = .text
        default: self = .integer
        }
    }

    private static func text(named name: String) -> GeneratedValue {
        if name.contains("json") { return .json }
        if name.contains("uuid") { return .identifier }
        if name.hasSuffix("_at") || name == "timestamp" { return .moment }
        if name == "day" || name.hasSuffix("date") { return .day }
        return .text
    }

    /// Returns a value; a unique column gets a different one for each number.
    func value(number: Int64, isUnique: Bool, using random: inout RandomNumbers) -> DatabaseValue {
        let free = isUnique ? number : Int64.random(in: 0...9_999, using: &random)
        switch self {
        case .integer: return free.databaseValue
        case .real: return (Double(free) + 0.5).databaseValue
        case .boolean: return (isUnique ? number : free % 2).databaseValue
        case .text: return text(number, isUnique: isUnique, using: &random).databaseValue
        case .day: return Self.day(free).databaseValue
        case .moment: return "\(Self.day(free)) 08:30:00.000".databaseValue
        case .identifier: return UUID.random(using: &random).uuidString.databaseValue
        case .json: return #"{"number":\#(free)}"#.databaseValue
        case .blob:
            let bytes = (0..<8).map { _ in UInt8.random(in: 0...255, using: &random) }
            return (Data("\(number)\0".utf8) + bytes).databaseValue
        }
    }

    /// Returns whether a value is of the kind, as far as its storage class and its beginning say.
    func holds(_ value: DatabaseValue) -> Bool {
        switch (self, value.storage) {
        case (.integer, .int64), (.real, .int64), (.text, .string), (.identifier, .string): true
        case (.boolean, .int64(let number)): [0, 1].contains(number)
        case (.day, .string(let text)), (.moment, .string(let text)): text.first?.isNumber == true
        case (.json, .string(let text)): text.hasPrefix("{") || text.hasPrefix("[")
        default: false
        }
    }

    /// Values that a column can hold, though its type does not suggest them (datatype3.html, 3).
    var surprisingValues: [DatabaseValue] {
        switch self {
        // Two reals that differ only in digits that a text has not.
        case .integer:
            [1_700_000_000.123456, 1_700_000_000.123457].map { (number: Double) in number.databaseValue }
                + ["x".databaseValue]
        case .real: ["x".databaseValue]
        case .text, .json: [Data("x".utf8).databaseValue]
        case .blob: ["x".databaseValue, 7.databaseValue]
        default: []
        }
    }

    /// Few values, of which some are easily taken for the same: a conversion that loses values makes two of them one.
    var awkwardValues: [DatabaseValue] {
        switch self {
        case .integer:
            // The greatest integer that a real can tell from its neighbours, and the next (floatingpoint.html).
            [0, 1, -1, 9_007_199_254_740_992, 9_007_199_254_740_993].map { (number: Int64) in
                number.databaseValue
            }
        case .real: [0.25, 0.5, 1, -1].map(\.databaseValue)
        case .boolean: [0, 1].map(\.databaseValue)
        case .text: ["", "7", "007", "a", "A"].map(\.databaseValue)
        case .day: [1, 2].map { (number: Int64) in Self.day(number).databaseValue }
        case .moment: [1, 2].map { (number: Int64) in "\(Self.day(number)) 08:30:00.000".databaseValue }
        case .identifier:
            [1, 2].map { "00000000-0000-4000-8000-00000000000\($0)".databaseValue }
        case .json: [1, 2].map { #"{"number":\#($0)}"#.databaseValue } + ["{}".databaseValue]
        case .blob: [Data([1]), Data([255])].map(\.databaseValue)
        }
    }

    /// Words that include cases that break careless code: quotes, accents, other scripts, emoji, and an empty
    /// text.
    private static let words = [
        "harbour", "Ada", "O'Hara", "\u{e9}t\u{e9}", "na\u{ef}ve", "100 %", "a \"quoted\" word",
        "\u{65e5}\u{8a18}",
        "\u{1f642}", "two\nlines", "", "semi;colon",
    ]

    private func text(_ number: Int64, isUnique: Bool, using random: inout RandomNumbers) -> String {
        let word = random.pick(Self.words) ?? ""
        return isUnique ? "\(word) \(number)" : word
    }

    /// Returns a day in the year 2000 or later.
    static func day(_ number: Int64) -> String {
        let days = Int(number % 15_000)
        return String(
            format: "%04d-%02d-%02d", 2000 + days / 336, days % 336 / 28 + 1, days % 28 + 1)
    }
}

extension UUID {
    fileprivate static func random(using random: inout RandomNumbers) -> UUID {
        let bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
