import Foundation
import GRDB

/// Replaces values by others that look like them, and reveal nothing about them.
///
/// In all tables, equal values get equal replacements, and different values get different ones. So foreign
/// keys stay valid, and unique values stay unique. The system's random numbers choose the replacements, so
/// nobody can compute the original values.
struct Noise {
    private let jsonKeys: FixtureMaker.Treatment
    private var replaced: [DatabaseValue: DatabaseValue] = [:]
    /// The replacements so far, with texts in lower case, since an index may ignore case.
    private var taken: Set<DatabaseValue> = []
    private var random = SystemRandomNumberGenerator()

    init(jsonKeys: FixtureMaker.Treatment) {
        self.jsonKeys = jsonKeys
    }

    /// Returns the replacement of a text or a blob; keeps numbers and nulls.
    mutating func replacement(of value: DatabaseValue) -> DatabaseValue {
        if let known = replaced[value] { return known }
        let found: DatabaseValue
        switch value.storage {
        case .string(let text): found = fresh(value) { $0.shape(of: text).databaseValue }
        case .blob(let data): found = fresh(value) { $0.bytes(data.count).databaseValue }
        default: return value
        }
        replaced[value] = found
        return found
    }

    /// Returns a number with as many digits and the same sign.
    ///
    /// It keeps a single digit, which is more often a choice than data.
    mutating func number(like value: DatabaseValue) -> DatabaseValue {
        switch value.storage {
        case .int64(let number) where number > 9 || number < -9:
            let digits = self.digits("\(number.magnitude)")
            return (Int64((number < 0 ? "-" : "") + digits) ?? number / 2).databaseValue
        case .double(let number) where number.isFinite && number != 0:
            return (number * Double.random(in: 0.5..<2, using: &random)).databaseValue
        default: return value
        }
    }

    /// Tries until the replacement is neither the value itself nor an earlier replacement.
    ///
    /// Some texts, such as `-`, and some sets of texts, such as all letters, have no such replacement.
    private mutating func fresh(
        _ value: DatabaseValue, _ make: (inout Noise) -> DatabaseValue
    ) -> DatabaseValue {
        var found = value
        for attempt in 0..<500 {
            found = make(&self)
            if found == value && attempt < 50 { continue }
            if taken.insert(found.inLowerCase).inserted { return found }
        }
        return found
    }

    // MARK: Shapes

    private mutating func shape(of text: String) -> String {
        if let date = date(like: text) { return date }
        if text.wholeMatch(of: Self.uuid) != nil || text.wholeMatch(of: Self.hexadecimal) != nil {
            return hexadecimal(like: text)
        }
        if let first = text.first(where: { !$0.isWhitespace }), first == "{" || first == "[",
            (try? JSONSerialization.jsonObject(with: Data(text.utf8))) != nil
        {
            return json(like: text)
        }
        return plain(text)
    }

    private static var uuid: Regex<Substring> {
        #/[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}/#
    }
    private static var hexadecimal: Regex<Substring> { #/[0-9a-f]{16,}|[0-9A-F]{16,}/# }

    /// Replaces letters by letters and digits by digits of the same script, and keeps other characters.
    private mutating func plain(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { scalars.append(self.scalar(like: scalar)) }
        return String(scalars)
    }

    private static let scripts: [ClosedRange<UInt32>] = [
        0x61...0x7a, 0x41...0x5a, 0xe0...0xf6, 0xf8...0xff, 0xc0...0xd6, 0xd8...0xde, 0x3b1...0x3c9,
        0x391...0x3a1,
        0x430...0x44f, 0x410...0x42f, 0x5d0...0x5ea, 0x627...0x63a, 0x905...0x939, 0xe01...0xe2e,
        0x3041...0x3096,
        0x30a1...0x30fa, 0x4e00...0x9fa5, 0xac00...0xd7a3, 0x1f600...0x1f64f,
    ]

    private mutating func scalar(like scalar: Unicode.Scalar) -> Unicode.Scalar {
        let properties = scalar.properties
        if properties.generalCategory == .decimalNumber, let value = properties.numericValue {
            return Unicode.Scalar(scalar.value - UInt32(value) + UInt32.random(in: 0...9, using: &random))
                ?? "0"
        }
        let script = Self.scripts.first { $0.contains(scalar.value) }
        let isLetter = properties.isAlphabetic || (properties.isEmojiPresentation && scalar.value > 0xff)
        guard script != nil || isLetter else { return scalar }
        let other: ClosedRange<UInt32> =
            properties.isEmojiPresentation
            ? 0x1f600...0x1f64f : properties.isUppercase ? 0x41...0x5a : 0x61...0x7a
        return Unicode.Scalar(UInt32.random(in: script ?? other, using: &random)) ?? "a"
    }

    private mutating func hexadecimal(like text: String) -> String {
        String(
            text.map { character in
                switch character {
                case "0"..."9": pick("0123456789")
                case "a"..."f": pick("abcdef")
                case "A"..."F": pick("ABCDEF")
                default: character
                }
            })
    }

    private mutating func pick(_ characters: String) -> Character {
        characters.randomElement(using: &random) ?? "0"
    }

    /// Returns as many random digits, of which the first is not a zero.
    private mutating func digits(_ text: some StringProtocol) -> String {
        String(
            text.enumerated().map { index, character in
                guard character.isASCII, character.isNumber else { return character }
                return index == 0 ? pick("123456789") : pick("0123456789")
            })
    }

    private mutating func bytes(_ count: Int) -> Data {
        var data = Data(capacity: count)
        for _ in 0..<count { data.append(UInt8.random(in: 0...255, using: &random)) }
        return data
    }

    // MARK: Dates

    /// Returns a date, or a date and a time, in the same ISO 8601 form; nil if the text is not a date.
    private mutating func date(like text: String) -> String? {
        let form = #/(\d{4}-\d\d-\d\d)?([T ]?)(\d\d:\d\d)?(:\d\d)?([.,]\d+)?(Z|[+-]\d\d:?\d\d)?/#
        guard let parts = text.wholeMatch(of: form)?.output, parts.1 != nil || parts.3 != nil,
            parts.2.isEmpty == (parts.1 == nil || parts.3 == nil), parts.3 != nil || parts.4 == nil
        else { return nil }
        var date = ""
        if parts.1 != nil {
            date += "\(Int.random(in: 1_970...2_069, using: &random))-"
            date += two(1...12) + "-" + two(1...28)
        }
        date += parts.2
        if parts.3 != nil { date += two(0...23) + ":" + two(0...59) }
        if parts.4 != nil { date += ":" + two(0...59) }
        if let fraction = parts.5 {
            date += fraction.prefix(1) + digits("1" + fraction.dropFirst()).dropFirst()
        }
        return date + (parts.6 ?? "")
    }

    private mutating func two(_ range: ClosedRange<Int>) -> String {
        let number = Int.random(in: range, using: &random)
        return number < 10 ? "0\(number)" : "\(number)"
    }

    // MARK: JSON

    /// Returns a JSON text of the same structure.
    private mutating func json(like text: String) -> String {
        let string = #/"((?:[^"\\]|\\.)*)"(\s*:)?/#
        var result = ""
        var rest = Substring(text)
        while let match = rest.firstMatch(of: string) {
            result += numbers(in: rest[..<match.range.lowerBound])
            let isKept = match.output.2 != nil && jsonKeys == .kept
            result += "\"" + (isKept ? String(match.output.1) : escaped(match.output.1)) + "\""
            result += match.output.2 ?? ""
            rest = rest[match.range.upperBound...]
        }
        return result + numbers(in: rest)
    }

    /// Replaces the contents of a string, and keeps its escapes except those of characters by number.
    private mutating func escaped(_ text: Substring) -> String {
        var result = ""
        var rest = text
        while let match = rest.firstMatch(of: #/\\(u[0-9A-Fa-f]{4}|.)/#) {
            result += plain(String(rest[..<match.range.lowerBound]))
            result += match.output.1.count > 1 ? "\\u00e" + String(pick("0123456789abcdef")) : match.output.0
            rest = rest[match.range.upperBound...]
        }
        return result + plain(String(rest))
    }

    private mutating func numbers(in text: Substring) -> String {
        var result = ""
        var rest = text
        while let match = rest.firstMatch(of: #/[1-9]\d+/#) {
            result += rest[..<match.range.lowerBound] + digits(match.output)
            rest = rest[match.range.upperBound...]
        }
        return result + rest
    }
}

extension DatabaseValue {
    fileprivate var inLowerCase: DatabaseValue {
        if case .string(let text) = storage { text.lowercased().databaseValue } else { self }
    }
}
