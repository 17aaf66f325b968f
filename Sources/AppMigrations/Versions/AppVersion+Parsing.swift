import Foundation

extension AppVersion {
    /// Creates the version that a text describes, or throws an error that says where the text goes wrong.
    ///
    /// Use it for text from outside of the source code, such as an `Info.plist`, a file or a server. The grammar is
    /// that of ``AppVersion``. All of the text has to match: white space around a version is an error too.
    ///
    /// - Parameter text: The text to parse. It becomes the ``description`` of the version.
    /// - Throws: An error whose description quotes the text, and says where it goes wrong: at the first character that does
    ///   not continue a version, or at the first digit of a number greater than `UInt64.max`, or of a pre-release's
    ///   numeric identifier with leading zeros (Semantic Versioning 2.0.0, clause 9).
    public init(parsing text: String) throws {
        // Strings bridged from Objective-C become native here, once, which makes every later use of the text fast.
        var text = text
        let result = text.withUTF8 { bytes in
            Result { () throws(Parser.Failure) in
                var parser = Parser(bytes: bytes)
                return try parser.parse()
            }
        }
        switch result {
        case .success(let parts):
            self.init(text, parts.numbers, parts.suffix)
        case .failure(let failure):
            throw ParsingError(text: text, offset: failure.offset, expected: failure.expectation.rawValue)
        }
    }
}

// MARK: - Error

extension AppVersion {
    /// Why a text is not an app version: where it goes wrong, and what was expected there.
    ///
    /// Use ``description`` for a message that says all of it, for example
    /// `"1..2" is not an app version: expected a digit at offset 2, found ".".`
    package struct ParsingError: Error, Sendable, Equatable {
        /// The whole text that was to be parsed.
        ///
        /// It is as it was given. Use ``description`` to print it, where what cannot be seen is escaped.
        package let text: String

        /// How far into the text the error is, in UTF-8 code units, from zero to the length of the text.
        ///
        /// Whatever comes before an error is ASCII, so this is just as well the offset in characters of the text as
        /// it appears to a reader. An offset equal to the length of the text says that the text ended too early.
        package let offset: Int

        /// The character or part that would have been right at the offset, such as `a digit`.
        ///
        /// Use it for messages of your own; it is English, and completes the sentence "expected …".
        package let expected: String
    }
}

extension AppVersion.ParsingError: CustomStringConvertible {
    /// A sentence with the text, the offset, what was expected there, and what was found instead.
    ///
    /// Use it for logs and for developers. It is always a single line of visible characters: control characters, and
    /// all others that cannot be seen by themselves, are escaped as in a Swift literal, such as `\0` or `\u{7f}`.
    package var description: String {
        "\(Self.quoted(text)) is not an app version: expected \(expected) at offset \(offset), found \(found)."
    }

    /// The text that the message quotes: a character, or a whole number if the character is a digit, because a digit
    /// by itself is never wrong.
    private var found: String {
        let index = text.utf8.index(text.startIndex, offsetBy: offset)
        let rest = Substring(text.unicodeScalars[index...])
        guard let character = rest.first else { return "the end" }
        let digits = rest.utf8.prefix(while: \.isDigit)
        return Self.quoted(digits.isEmpty ? String(character) : String(Substring(digits)))
    }

    private static func quoted(_ text: String) -> String {
        "\"\(text.unicodeScalars.map(escaped).joined())\""
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\0": return #"\0"#
        case "\t": return #"\t"#
        case "\n": return #"\n"#
        case "\r": return #"\r"#
        case "\"": return #"\""#
        case "\\": return #"\\"#
        case " "..."~": return String(scalar)
        default: break
        }
        switch scalar.properties.generalCategory {
        // Spaces are here because U+0020 is done with, and the others look just like it.
        case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator,
            .nonspacingMark, .spacingMark, .enclosingMark,
            .privateUse, .surrogate, .unassigned:
            return "\\u{\(String(scalar.value, radix: 16))}"
        default:
            return String(scalar)
        }
    }
}

extension AppVersion.ParsingError: LocalizedError {
    /// The ``description``, so that `localizedDescription` is of use too.
    ///
    /// It is not localized: a malformed version is for a developer to see.
    package var errorDescription: String? { description }
}

// MARK: - Parser

/// Parses the UTF-8 of an app version from start to end, without going back further than one suffix of digits.
private struct Parser {
    /// The text.
    ///
    /// A byte beyond ASCII never matches, and thus is an error wherever it is.
    let bytes: UnsafeBufferPointer<UInt8>

    /// The offset of the next byte.
    private var position = 0

    init(bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    /// A parsing error without the text, which a parser of bytes does not have.
    struct Failure: Error {
        let offset: Int
        let expectation: Expectation
    }

    /// All that can be expected.
    enum Expectation: String {
        case digit = "a digit"
        case smallerNumber = "a number of at most 18446744073709551615"
        case identifier = #"a digit, an ASCII letter or "-""#
        case noLeadingZeros = "a numeric identifier without leading zeros"
        case endOfNumbers = #"a digit, ".", "-", "+" or the end"#
        case endOfSuffix = #"a digit, an ASCII letter, "-", ".", "+" or the end"#
        case endOfBuild = #"a digit, an ASCII letter, "-", "." or the end"#
    }

    mutating func parse() throws(Failure) -> (numbers: AppVersion.Numbers, suffix: AppVersion.Suffix) {
        let numbers = try parseNumbers()
        var suffix = AppVersion.Suffix.empty
        var end = Expectation.endOfNumbers
        if skip("-") {
            suffix = try parseSuffix()
            end = .endOfSuffix
        }
        if skip("+") {
            try skipBuild()
            end = .endOfBuild
        }
        guard position == bytes.endIndex else {
            throw Failure(offset: position, expectation: end)
        }
        return (numbers, suffix)
    }

    private mutating func parseNumbers() throws(Failure) -> AppVersion.Numbers {
        var numbers = AppVersion.Numbers.zero
        var index = 0
        repeat {
            numbers.set(try parseNumber(), at: index)
            index += 1
        } while skip(".")
        return numbers
    }

    private mutating func parseNumber() throws(Failure) -> UInt64 {
        let start = position
        var number: UInt64 = 0
        while let byte = next, byte.isDigit {
            let (tens, multiplicationOverflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, additionOverflow) = tens.addingReportingOverflow(UInt64(byte - UInt8(ascii: "0")))
            guard !multiplicationOverflow, !additionOverflow else {
                throw Failure(offset: start, expectation: .smallerNumber)
            }
            number = sum
            position += 1
        }
        guard position > start else {
            throw Failure(offset: start, expectation: .digit)
        }
        return number
    }

    /// Parses what follows the first hyphen: a sub-migration if it is a single identifier of digits, otherwise a
    /// pre-release.
    private mutating func parseSuffix() throws(Failure) -> AppVersion.Suffix {
        let start = position
        var identifier = try skipIdentifier()
        if identifier.isNumeric, next != UInt8(ascii: ".") {
            position = start
            return .subMigration(try parseNumber())
        }
        while true {
            let first = identifier.range.lowerBound
            if identifier.isNumeric, identifier.range.count > 1, bytes[first] == UInt8(ascii: "0") {
                throw Failure(offset: first, expectation: .noLeadingZeros)
            }
            guard skip(".") else { break }
            identifier = try skipIdentifier()
        }
        return .prerelease(String(decoding: bytes[start..<position], as: UTF8.self))
    }

    private mutating func skipBuild() throws(Failure) {
        repeat {
            _ = try skipIdentifier()
        } while skip(".")
    }

    private mutating func skipIdentifier() throws(Failure) -> (range: Range<Int>, isNumeric: Bool) {
        let start = position
        var isNumeric = true
        while let byte = next, byte.isIdentifierCharacter {
            isNumeric = isNumeric && byte.isDigit
            position += 1
        }
        guard position > start else {
            throw Failure(offset: start, expectation: .identifier)
        }
        return (start..<position, isNumeric)
    }

    /// The next byte, or `nil` at the end of the text.
    private var next: UInt8? {
        position < bytes.endIndex ? bytes[position] : nil
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }
}

extension UInt8 {
    /// True if the byte is one of the digits 0 to 9 in ASCII.
    var isDigit: Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= self
    }

    /// True if the byte may be part of an identifier: Semantic Versioning 2.0.0, clauses 9 and 10.
    fileprivate var isIdentifierCharacter: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default:
            false
        }
    }
}
