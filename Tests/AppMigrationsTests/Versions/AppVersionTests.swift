import AppMigrations
import Foundation
import Testing

@Suite("AppVersion", .timed)
struct AppVersionTests {
    // MARK: Numbers

    @Test(
        "a version has any number of parts, kept as written",
        arguments: [
            ("7", [7]), ("0", [0]), ("1.1", [1, 1]), ("2.0.3.9.6", [2, 0, 3, 9, 6]), ("402.0.0", [402]),
            ("2024.01", [2024, 1]), ("0.0", [0]), ("0.0.1", [0, 0, 1]), ("1.10.0", [1, 10]), ("00", [0]),
            ("18446744073709551615.0018446744073709551615", [.max, .max]),
            ("4294967295.1.2.4294967295", [4_294_967_295, 1, 2, 4_294_967_295]),
            ("4294967296", [4_294_967_296]), ("0.4294967296.0", [0, 4_294_967_296]),
            ("1.2.3.4.0", [1, 2, 3, 4]), ("1.2.0.0.5.0", [1, 2, 0, 0, 5]),
            ("0.0.0.0.0.6", [0, 0, 0, 0, 0, 6]),
        ] as [(String, [UInt64])])
    func numbers(text: String, numbers: [UInt64]) throws {
        let version = try AppVersion(parsing: text)
        #expect(version.numbers == numbers)
        #expect(version.description == text)
        #expect(version.subMigration == nil)
    }

    @Test(
        "missing numbers are zero",
        arguments: [("1.1", "1.1.0"), ("7", "7.0.0.0"), ("0", "0.0"), ("1-2", "1.0-2"), ("1-a", "1.0.0-a")])
    func missingNumbers(short: String, long: String) throws {
        try expectEqual(short, long)
    }

    @Test(
        "leading zeros are ignored",
        arguments: [("2024.01", "2024.1"), ("01-02", "1-2"), ("00", "0")])
    func leadingZeros(padded: String, plain: String) throws {
        try expectEqual(padded, plain)
    }

    @Test(
        "the first number that differs decides, however many there are and however great they are",
        arguments: [
            ("1.2.3.4", "1.2.3.4.1"), ("1.2.3.4.1", "1.2.3.5"), ("4294967295", "4294967296"),
            ("1.4294967296", "2"), ("0.4294967296", "1.0.0.0.1"), ("1.0.0.0.1", "1.0.0.1"),
            ("1.9", "1.10"), ("0", "0.0.0.0.0.1"), ("4294967296", "4294967296.1"),
        ])
    func order(lower: String, higher: String) throws {
        let (lower, higher) = (try AppVersion(parsing: lower), try AppVersion(parsing: higher))
        #expect(lower < higher)
        #expect(!(higher < lower))
        #expect(lower != higher)
    }

    @Test("equal versions are the same dictionary key")
    func keys() {
        let names: [AppVersion: String] = ["1.1": "one"]
        #expect(names["1.1.0"] == "one")
        #expect(names["01.1+7"] == "one")
        #expect(names["1.1-0"] == nil)
    }

    // MARK: Suffixes

    @Test(
        "a suffix of digits is a sub-migration",
        arguments: [
            ("1.1-2", 2), ("1.1-0", 0), ("1.1-0010", 10), ("7-1+build", 1), ("1-18446744073709551615", .max),
        ] as [(String, UInt64)])
    func subMigration(text: String, number: UInt64) throws {
        let version = try AppVersion(parsing: text)
        #expect(version.subMigration == number)
        #expect(version.description == text)
    }

    @Test(
        "any other suffix is a pre-release",
        arguments: [
            "2.0.0-beta.3", "1.0.0-0.3.7", "1.0-x-y-z", "1.0.0-alpha", "1.0.0-x.7.z.92", "1.0.0-x-y-z.--",
            "1.0--",
            "1.0--1", "1.0-1a", "1.0-0a.00a", "1.0-2.3", "1.0-a.99999999999999999999999",
            "1.0-beta+exp.sha.5114f85",
        ])
    func prerelease(text: String) throws {
        let version = try AppVersion(parsing: text)
        #expect(version.subMigration == nil)
        #expect(version.description == text)
        #expect(version < version.release)
    }

    @Test("pre-releases are case-sensitive")
    func prereleaseCase() {
        #expect("1.0-RC" < ("1.0-rc" as AppVersion))
    }

    @Test(
        "build metadata is kept, and ignored by comparisons",
        arguments: [
            ("1.1+42", "1.1"), ("1.1+001", "1.1+002"), ("1.1-2+a.b-c", "1.1-2"), ("1.1-rc.1+-", "1.1-rc.1"),
            ("1+21AF26D3---117B344092BD", "1.0"), ("1+a-1", "1"),
        ])
    func build(text: String, other: String) throws {
        try expectEqual(text, other)
        #expect(try AppVersion(parsing: text).description == text)
    }

    // MARK: Order

    /// Each of the versions is less than all that follow it.
    static let chains: [[AppVersion]] = [
        ["1.1-beta.1", "1.1-rc.1", "1.1", "1.1-0", "1.1-1", "1.1-2", "1.1-10", "1.1.1", "1.2"],
        // The examples of Semantic Versioning 2.0.0, sections 11.4 and 11.2.
        [
            "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11",
            "1.0.0-rc.1", "1.0.0",
        ],
        ["1.0.0", "2.0.0", "2.1.0", "2.1.1"],
        // Numbers are compared as numbers, and come before any suffix.
        ["0", "0.0.1", "0.9", "0.10-a", "0.10", "0.10-9", "0.10.0.1-a", "1-a", "1", "9", "10"],
        // The end of an identifier is lower than a hyphen, although a dot is greater in ASCII.
        ["1-a", "1-a.b", "1-a-", "1-a-b", "1-aa"],
        // Numeric identifiers of any length, which are lower than all others.
        [
            "1-a.0", "1-a.0.0", "1-a.9", "1-a.10", "1-a.18446744073709551615", "1-a.18446744073709551616",
            "1-a.99999999999999999999998", "1-a.99999999999999999999999", "1-a.100000000000000000000000",
            "1-a.-",
            "1-a.0a", "1-a.10a", "1-a.1a", "1-a.A",
        ],
    ]

    @Test(
        "versions are ordered as in Semantic Versioning, with sub-migrations after their version",
        arguments: chains)
    func order(chain: [AppVersion]) {
        for (index, left) in chain.enumerated() {
            #expect(!(left < left), "\(left) < \(left)")
            for right in chain[(index + 1)...] {
                #expect(left < right)
                #expect(right > left)
                #expect(!(right < left))
                #expect(left != right)
            }
        }
    }

    // MARK: Conversions

    @Test(
        "text converts without loss, or not at all",
        arguments: [("1.01-2+b", true), ("1.1.0", true), ("v1.2", false), ("", false)])
    func losslessString(text: String, isVersion: Bool) {
        #expect(AppVersion(text)?.description == (isVersion ? text : nil))
    }

    @Test("a literal is a version")
    func literal() throws {
        let version: AppVersion = "1.1-2"
        #expect(try version == AppVersion(parsing: "1.1-2"))
        #expect(version < "1.2")
    }

    // Exit tests need processes, which only desktop platforms let a test start.
    #if os(Linux) || os(macOS) || os(Windows)
        @Test("a malformed literal traps with the error's message")
        func malformedLiteral() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let version: AppVersion = "1..2"
                _ = version
            }
            // Preconditions have no message in release builds.
            #if DEBUG
                let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
                #expect(
                    output.contains(
                        #""1..2" is not an app version: expected a digit at offset 2, found "."."#))
            #else
                #expect(result != nil)
            #endif
        }
    #endif

    @Test("a version is encoded as a string")
    func coding() throws {
        let versions: [AppVersion] = ["1.1.0", "1.1-02+7", "2.0.0-beta.3"]
        let json = try JSONEncoder().encode(versions)
        #expect(String(decoding: json, as: UTF8.self) == #"["1.1.0","1.1-02+7","2.0.0-beta.3"]"#)
        let decoded = try JSONDecoder().decode([AppVersion].self, from: json)
        #expect(decoded.map(\.description) == versions.map(\.description))
    }

    @Test("decoding a malformed string is an error with the message and the coding path")
    func malformedCoding() throws {
        let error = #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([String: AppVersion].self, from: Data(#"{"app": "1..2"}"#.utf8))
        }
        guard case .dataCorrupted(let context) = error else {
            Issue.record("not dataCorrupted: \(String(describing: error))")
            return
        }
        #expect(
            context.debugDescription
                == #""1..2" is not an app version: expected a digit at offset 2, found "."."#)
        #expect(context.codingPath.map(\.stringValue) == ["app"])
        #expect((context.underlyingError as? AppVersion.ParsingError)?.offset == 2)
    }

    @Test("only a string is decoded as a version", arguments: ["1.1", "null", "[]"])
    func wrongTypeCoding(json: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(AppVersion.self, from: Data(json.utf8))
        }
    }

    // MARK: Releases

    @Test(
        "a release has only the numbers, as written",
        arguments: [
            ("1.1", "1.1"), ("1.1.0-beta.1", "1.1.0"), ("2024.01-2", "2024.01"), ("1+b-1", "1"),
            ("7-x+y", "7"),
        ])
    func release(text: String, release: String) throws {
        let version = try AppVersion(parsing: text).release
        #expect(version.description == release)
        #expect(try version == AppVersion(parsing: release))
    }

    @Test(
        "a ceiling is the greatest version with the same numbers",
        arguments: ["1.1", "1.1-rc.1", "1.1-2", "1.1.0+42"])
    func ceiling(text: String) throws {
        let version = try AppVersion(parsing: text)
        #expect(version.ceiling == "1.1-18446744073709551615")
        #expect(version.ceiling == version.ceiling.ceiling)
        #expect(version <= version.ceiling)
        #expect(version.ceiling < "1.1.0.0.1-a")
        #expect(try AppVersion(parsing: version.ceiling.description) == version.ceiling)
    }

    private func expectEqual(_ left: String, _ right: String) throws {
        let left = try AppVersion(parsing: left)
        let right = try AppVersion(parsing: right)
        #expect(left == right)
        #expect(left.hashValue == right.hashValue)
        #expect(!(left < right))
        #expect(!(right < left))
    }
}
