import Foundation
import MigrationTesting
import MigrationTools

/// Makes random texts of all kinds that people write, and of kinds that nobody would.
struct PrivateTexts {
    private var random: RandomNumbers

    init(seed: UInt64) { random = RandomNumbers(seed: seed) }

    mutating func chance(_ percent: Int) -> Bool { random.chance(percent) }
    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    /// Scalars that join others to one character, or that texts hide in.
    private static let awkward: [Unicode.Scalar] = [
        "\u{301}", "\u{fe0f}", "\u{200d}", "\u{1f3fb}", "\u{1f3ff}", "\u{e33}", "\u{600}", "\u{6dd}",
        "\u{110bd}", "\u{2801}", "\u{28ff}", "\u{e0061}", "\u{e007f}", "\u{e0100}", "\u{1f1e6}", "\u{ffffe}",
        "\u{345}", "\u{1100}", "\u{1161}", "\u{903}", "\u{d4d}", "\u{20e3}", "\u{1d800}", "\u{2f00}",
        "\u{feff}",
        "\u{2028}", "\u{85}", "\"", "\\", "\n", "\t", "\r", " ", "{", "[", ":", "'", "\u{7f}", "\u{1}",
    ]

    private mutating func scalar() -> Unicode.Scalar {
        switch number(0...99) {
        case 0..<25: return Unicode.Scalar(UInt32(number(0x61...0x7a))) ?? "a"
        case 25..<30: return Unicode.Scalar(UInt32(number(0x41...0x5a))) ?? "A"
        case 30..<34: return Unicode.Scalar(UInt32(number(0x30...0x39))) ?? "0"
        case 34..<50: return random.pick(Self.awkward)
        case 50..<75: return Unicode.Scalar(UInt32(number(0x80...0x2fff))) ?? "b"
        default: return Unicode.Scalar(UInt32(number(1...0x10ffff))) ?? "c"
        }
    }

    /// A text of one to forty scalars.
    mutating func text() -> String {
        // Runs of one kind: words, lines of Braille, numbers.
        let isMixed = chance(60)
        let first = scalar()
        var scalars = String.UnicodeScalarView()
        for _ in 0..<number(1...40) {
            if isMixed {
                scalars.append(scalar())
            } else {
                // No trap at the end of the code space, nor at the surrogates.
                scalars.append(Unicode.Scalar(first.value &+ UInt32(number(0...20))) ?? first)
            }
        }
        scalars.removeAll { $0 == "\0" }
        return String(scalars)
    }

    /// A date, an identifier, a telephone number.
    mutating func code() -> String {
        func digits(_ count: Int) -> String { (0..<count).map { _ in "\(number(0...9))" }.joined() }
        switch number(0...6) {
        case 0: return "\(number(1000...2999))-\(number(10...12))-\(number(10...28))"
        case 1:
            return
                "\(number(1000...2999))-05-17T08:30:\(number(10...59)).\(digits(number(1...9)))+\(digits(4))"
        case 2: return "\(number(1000...2999))\(digits(10))"
        case 3:
            return UUID(
                uuid: (0, 1, 2, 3, 4, 5, 6, 7, byte(), byte(), byte(), byte(), byte(), byte(), byte(), byte())
            )
            .uuidString
        case 4: return (0..<number(8...20)).map { _ in String(format: "%02x", byte()) }.joined()
        case 5: return "+49 (\(digits(4))) \(digits(7))"
        default:
            // Digits of another script.
            let zero: UInt32 = random.pick([0x660, 0x966, 0xff10, 0x1d7ce])
            var scalars = String.UnicodeScalarView()
            for digit in "2024-05-17".unicodeScalars {
                scalars.append(
                    digit == "-" ? digit : Unicode.Scalar(zero + digit.value - 0x30) ?? digit)
            }
            return String(scalars)
        }
    }

    mutating func byte() -> UInt8 { UInt8(number(0...255)) }

    /// A text in JSON.
    mutating func json() -> String { chance(50) ? object(depth: 0) : "[" + value(depth: 0) + "]" }

    private mutating func value(depth: Int) -> String {
        switch number(0...9) {
        case 0: return random.pick(["true", "false", "null", "0", "7"])
        case 1: return "\(number(-1_000_000_000...1_000_000_000))"
        case 2: return "\(number(1...9)).\(number(1000...999_999_999))e\(number(-20...20))"
        case 3 where depth < 3: return object(depth: depth + 1)
        case 4 where depth < 3:
            return "[" + (0..<number(0...3)).map { _ in value(depth: depth + 1) }.joined(separator: ", ")
                + "]"
        default: return string()
        }
    }

    private mutating func object(depth: Int) -> String {
        "{" + (0..<number(1...4)).map { _ in "\(string()) : \(value(depth: depth))" }.joined(separator: ",")
            + "}"
    }

    private mutating func string() -> String {
        var json = "\"".unicodeScalars
        for scalar in text().unicodeScalars {
            switch scalar {
            case "\"", "\\":
                json.append("\\")
                json.append(scalar)
            case "\n": json.append(contentsOf: "\\n".unicodeScalars)
            case _ where scalar.value < 0x20 || chance(10):
                for unit in String(scalar).utf16 {
                    json.append(contentsOf: String(format: "\\u%04X", Int(unit)).unicodeScalars)
                }
            default: json.append(scalar)
            }
        }
        json.append("\"")
        return String(json)
    }
}
