import AppMigrations
import Foundation
import Testing

@Suite("AppVersion.ParsingError", .timed)
struct AppVersionParsingErrorTests {
    struct Example: Sendable, CustomTestStringConvertible {
        let text: String
        let offset: Int
        let expected: String
        let found: String
        var quoted: String?

        var testDescription: String { text.debugDescription }

        init(_ text: String, _ offset: Int, _ expected: String, found: String, quoted: String? = nil) {
            (self.text, self.offset, self.expected, self.found, self.quoted) = (
                text, offset, expected, found, quoted
            )
        }
    }

    private static let digit = "a digit"
    private static let smaller = "a number of at most 18446744073709551615"
    private static let afterNumbers = #"a digit, ".", "-", "+" or the end"#
    private static let identifier = #"a digit, an ASCII letter or "-""#
    private static let afterSuffix = #"a digit, an ASCII letter, "-", ".", "+" or the end"#
    private static let afterBuild = #"a digit, an ASCII letter, "-", "." or the end"#
    private static let noLeadingZeros = "a numeric identifier without leading zeros"

    static let examples: [Example] = [
        // Numbers
        Example("", 0, digit, found: "the end"),
        Example("v1.2", 0, digit, found: #""v""#),
        Example("-1", 0, digit, found: #""-""#),
        Example("+1", 0, digit, found: #""+""#),
        Example(".1", 0, digit, found: #"".""#),
        Example("1.", 2, digit, found: "the end"),
        Example("1..2", 2, digit, found: #"".""#),
        Example("1.-2", 2, digit, found: #""-""#),
        Example("1.x", 2, digit, found: #""x""#),
        Example(" 1.1", 0, digit, found: #"" ""#),
        Example("1.2 beta", 3, afterNumbers, found: #"" ""#),
        Example("1.1 ", 3, afterNumbers, found: #"" ""#),
        Example("1,1", 1, afterNumbers, found: #"",""#),
        Example("1.1b", 3, afterNumbers, found: #""b""#),
        Example("1.18446744073709551616", 2, smaller, found: #""18446744073709551616""#),
        Example("99999999999999999999.1", 0, smaller, found: #""99999999999999999999""#),
        // Suffixes
        Example("1.1-", 4, identifier, found: "the end"),
        Example("1.1-+b", 4, identifier, found: #""+""#),
        Example("1.1-.a", 4, identifier, found: #"".""#),
        Example("1.1-a..b", 6, identifier, found: #"".""#),
        Example("1.1-a.", 6, identifier, found: "the end"),
        Example("1.1-2.", 6, identifier, found: "the end"),
        Example("1.1-é", 4, identifier, found: #""é""#),
        Example("1.1-rc 1", 6, afterSuffix, found: #"" ""#),
        Example("1.1-2_3", 5, afterSuffix, found: #""_""#),
        Example("1.1-18446744073709551616", 4, smaller, found: #""18446744073709551616""#),
        Example("1.1-18446744073709551616+b", 4, smaller, found: #""18446744073709551616""#),
        Example("1.1-a.01", 6, noLeadingZeros, found: #""01""#),
        Example("1.1-a.00.b", 6, noLeadingZeros, found: #""00""#),
        Example("1.1-01.a", 4, noLeadingZeros, found: #""01""#),
        // Build metadata
        Example("1.1+", 4, identifier, found: "the end"),
        Example("1.1+a..b", 6, identifier, found: #"".""#),
        Example("1.1+a+b", 5, afterBuild, found: #""+""#),
        Example("1.1-2+a b", 7, afterBuild, found: #"" ""#),
        // Characters of other scripts, and invisible ones
        Example("١.٢", 0, digit, found: #""١""#),
        Example("1.२", 2, digit, found: #""२""#),
        Example("\u{ff11}", 0, digit, found: "\"\u{ff11}\""),
        Example("1🇨🇭", 1, afterNumbers, found: #""🇨🇭""#),
        Example("1.1\0", 3, afterNumbers, found: #""\0""#, quoted: #""1.1\0""#),
        Example("\n1", 0, digit, found: #""\n""#, quoted: #""\n1""#),
        Example("1.1\r\n", 3, afterNumbers, found: #""\r\n""#, quoted: #""1.1\r\n""#),
        Example("1\t", 1, afterNumbers, found: #""\t""#, quoted: #""1\t""#),
        Example("1\u{7f}", 1, afterNumbers, found: #""\u{7f}""#, quoted: #""1\u{7f}""#),
        Example("1\u{301}.2", 1, afterNumbers, found: #""\u{301}""#, quoted: #""1\u{301}.2""#),
        Example("1\u{a0}b", 1, afterNumbers, found: #""\u{a0}""#, quoted: #""1\u{a0}b""#),
        Example("\u{feff}1", 0, digit, found: #""\u{feff}""#, quoted: #""\u{feff}1""#),
        Example("1\u{2028}", 1, afterNumbers, found: #""\u{2028}""#, quoted: #""1\u{2028}""#),
        Example("1.\u{202e}2", 2, digit, found: #""\u{202e}""#, quoted: #""1.\u{202e}2""#),
        Example(#""1\"#, 0, digit, found: #""\"""#, quoted: #""\"1\\""#),
    ]

    @Test("malformed text is an error that says what is wrong and where", arguments: examples)
    func malformed(example: Example) throws {
        let thrown = #expect(throws: AppVersion.ParsingError.self) { try AppVersion(parsing: example.text) }
        let error = try #require(thrown)
        #expect(error.text == example.text)
        #expect(error.offset == example.offset)
        #expect(error.expected == example.expected)
        let quoted = example.quoted ?? "\"\(example.text)\""
        #expect(
            error.description
                == "\(quoted) is not an app version: expected \(example.expected) at offset \(example.offset), "
                + "found \(example.found).")
        #expect(AppVersion(example.text) == nil)
    }

    @Test(
        "the message is a sentence",
        arguments: [
            ("1..2", #""1..2" is not an app version: expected a digit at offset 2, found "."."#),
            ("1.", #""1." is not an app version: expected a digit at offset 2, found the end."#),
            ("", #""" is not an app version: expected a digit at offset 0, found the end."#),
            (
                "1.2 beta",
                #""1.2 beta" is not an app version: expected a digit, ".", "-", "+" or the end at offset 3, found " "."#
            ),
        ])
    func message(text: String, message: String) throws {
        let thrown = #expect(throws: AppVersion.ParsingError.self) { try AppVersion(parsing: text) }
        let error = try #require(thrown)
        #expect(error.description == message)
        #expect(error.errorDescription == message)
        #expect((error as any Error).localizedDescription == message)
    }

    @Test("errors are equal if their texts and offsets are")
    func equality() throws {
        func error(_ text: String) throws -> AppVersion.ParsingError {
            let thrown = #expect(throws: AppVersion.ParsingError.self) { try AppVersion(parsing: text) }
            return try #require(thrown)
        }
        #expect(try error("1.") == error("1."))
        #expect(try error("1.") != error("2."))
    }
}
