import AppMigrations
import Foundation
import MigrationTesting
import MigrationTools
import Testing

/// Tests the laws that hold for all versions on generated ones.
///
/// The generator has a fixed seed and few parts to choose from, so that many versions are equal or
/// differ only in their last part.
@Suite("The laws of AppVersion", .timed)
struct AppVersionLawsTests {
    let versions: [AppVersion]

    init() throws {
        var generator = RandomNumbers(seed: 2024)
        versions = try (0..<3000).map { _ in try AppVersion(parsing: generator.version()) }
    }

    @Test("exactly one of <, == and > holds for two versions")
    func totality() {
        for (left, right) in pairs() {
            let holding = [left < right, left == right, left > right].count { $0 }
            #expect(holding == 1, "\(left), \(right)")
            #expect((left <= right) == !(right < left), "\(left), \(right)")
            #expect((left >= right) == !(left < right), "\(left), \(right)")
        }
    }

    @Test("the order is antisymmetric")
    func antisymmetry() {
        for (left, right) in pairs() {
            #expect(!(left < right && right < left), "\(left), \(right)")
            #expect((left <= right && right <= left) == (left == right), "\(left), \(right)")
        }
    }

    @Test("the order is transitive")
    func transitivity() {
        // Comparing each version of a sorted array with all later ones covers every triple of them.
        let sorted = versions.prefix(600).sorted()
        for (index, left) in sorted.enumerated() {
            for right in sorted[index...] where right < left {
                Issue.record("\(right) < \(left), but was sorted after it")
            }
        }
        var generator = RandomNumbers(seed: 3)
        for _ in 0..<20_000 {
            let (a, b, c) = (pick(&generator), pick(&generator), pick(&generator))
            if a < b, b < c, !(a < c) { Issue.record("\(a) < \(b) < \(c)") }
            if a == b, b == c, a != c { Issue.record("\(a) == \(b) == \(c)") }
            if a == b, (a < c) != (b < c) || (c < a) != (c < b) { Issue.record("\(a) == \(b), \(c)") }
        }
    }

    @Test("equal versions have equal hashes")
    func hashing() {
        var equal = 0
        for (left, right) in pairs() where left == right {
            equal += 1
            #expect(left.hashValue == right.hashValue, "\(left), \(right)")
        }
        #expect(equal > 1000, "the generated versions are too different to try this")
    }

    @Test("sorting gives the same result for any initial order, with equal versions adjacent")
    func sorting() {
        var generator = RandomNumbers(seed: 4)
        let sorted = versions.sorted()
        let shuffled = versions.shuffled(using: &generator).sorted()
        #expect(sorted == shuffled)
        let classes = 1 + zip(sorted, sorted.dropFirst()).count { $0 != $1 }
        #expect(classes == Set(versions).count)
        #expect(classes < versions.count)
    }

    @Test("the order is that of a plain implementation of the rules")
    func reference() throws {
        for (left, right) in pairs() {
            let expected = try Reference(left.description).compare(to: Reference(right.description))
            #expect((left < right) == (expected < 0), "\(left), \(right)")
            #expect((left == right) == (expected == 0), "\(left), \(right)")
        }
    }

    @Test("parsing a description returns the same version")
    func roundTrip() throws {
        for version in versions {
            let copy = try AppVersion(parsing: version.description)
            #expect(copy == version)
            #expect(copy.description == version.description)
            #expect(copy.numbers == version.numbers)
            #expect(copy.subMigration == version.subMigration)
        }
    }

    @Test("encoding and decoding keeps versions and their texts")
    func codingRoundTrip() throws {
        let decoded = try JSONDecoder().decode([AppVersion].self, from: JSONEncoder().encode(versions))
        #expect(decoded == versions)
        #expect(decoded.map(\.description) == versions.map(\.description))
    }

    @Test("a version is at most its ceiling, which is below every greater release")
    func ceilings() throws {
        for (left, right) in pairs() {
            #expect(left <= left.ceiling, "\(left)")
            #expect(left.release.ceiling == left.ceiling, "\(left)")
            #expect(left.release.numbers == left.numbers, "\(left)")
            #expect((left.release < right.release) == (left.ceiling < right), "\(left), \(right)")
        }
    }

    @Test("parsing garbage never traps, and its errors lie within the text")
    func garbage() throws {
        var generator = RandomNumbers(seed: 5)
        var count = 0
        for round in 0..<20_000 {
            let text = round.isMultiple(of: 2) ? generator.garbage() : generator.damagedVersion()
            do {
                let version = try AppVersion(parsing: text)
                #expect(version.description == text)
            } catch let error as AppVersion.ParsingError {
                count += 1
                #expect(error.text == text)
                #expect((0...text.utf8.count).contains(error.offset))
                #expect(text.utf8.prefix(error.offset).allSatisfy { $0 < 0x80 })
                #expect(error.description.hasSuffix("."))
                #expect(!error.description.contains { $0.isNewline })
                // The text before the error is the start of a version, which one of these completes.
                let start = String(decoding: text.utf8.prefix(error.offset), as: UTF8.self)
                #expect(["", "0", "1a"].contains { AppVersion(start + $0) != nil }, "\(error)")
            }
        }
        #expect(count > 10_000)
    }

    /// Random pairs, and the pairs of sorted neighbors, which are often equal or nearly so.
    private func pairs() -> [(AppVersion, AppVersion)] {
        var generator = RandomNumbers(seed: 2)
        let sorted = versions.sorted()
        return (0..<20_000).map { _ in (pick(&generator), pick(&generator)) }
            + zip(sorted, sorted.dropFirst())
    }

    private func pick(_ generator: inout RandomNumbers) -> AppVersion {
        versions[Int.random(in: versions.indices, using: &generator)]
    }
}

/// A plain implementation of the order's rules, to compare with.
///
/// It splits and pads, while `AppVersion` scans.
private struct Reference {
    let numbers: [UInt64]
    let suffix: String?

    init(_ text: String) throws {
        let parts = text.split(separator: "+")[0].split(separator: "-", maxSplits: 1)
        numbers = try parts[0].split(separator: ".").map { try #require(UInt64($0)) }
        suffix = parts.count > 1 ? String(parts[1]) : nil
    }

    /// Returns a number less than, equal to or greater than zero, as this version compares to the other.
    func compare(to other: Reference) -> Int {
        for index in 0..<max(numbers.count, other.numbers.count) {
            let left = index < numbers.count ? numbers[index] : 0
            let right = index < other.numbers.count ? other.numbers[index] : 0
            if left != right { return left < right ? -1 : 1 }
        }
        if rank != other.rank { return rank - other.rank }
        guard let suffix, let otherSuffix = other.suffix else { return 0 }
        if let left = UInt64(suffix), let right = UInt64(otherSuffix) {
            return left < right ? -1 : left == right ? 0 : 1
        }
        let (left, right) = (suffix.split(separator: "."), otherSuffix.split(separator: "."))
        for (left, right) in zip(left, right) where left != right {
            switch (left.allSatisfy(\.isNumber), right.allSatisfy(\.isNumber)) {
            case (true, false): return -1
            case (false, true): return 1
            case (true, true) where left.count != right.count: return left.count - right.count
            default: return left.utf8.lexicographicallyPrecedes(right.utf8) ? -1 : 1
            }
        }
        return left.count - right.count
    }

    private var rank: Int {
        guard let suffix else { return 1 }
        return suffix.allSatisfy(\.isNumber) ? 2 : 0
    }
}

/// Generates versions from random numbers.
extension RandomNumbers {
    mutating func version() -> String {
        var text = list(of: ["0", "0", "1", "01", "2", "10", "18446744073709551615"], upTo: 3)
        switch next() % 4 {
        case 0: text += "-" + pick(["0", "00", "1", "2", "02", "10", "18446744073709551615"])
        case 1: text += "-" + pick(["a", "-", "0a", "1.0", "0.1", "rc"])
        case 2: text += "-" + pick(["a.", "a-", "0."]) + identifiers()
        default: break
        }
        if next().isMultiple(of: 4) {
            text += "+" + list(of: ["0", "01", "a", "-", "b-1"], upTo: 2)
        }
        return text
    }

    mutating func damagedVersion() -> String {
        var bytes = Array(version().utf8)
        for _ in 0...(next() % 2) {
            let index = Int.random(in: 0...bytes.count, using: &self)
            let byte =
                next().isMultiple(of: 4) ? UInt8(truncatingIfNeeded: next()) : pick(Array("0.-+a \0".utf8))
            bytes.replaceSubrange(index..<min(index + Int(next() % 2), bytes.count), with: [byte])
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    mutating func garbage() -> String {
        let count = Int(next() % 24)
        return String(decoding: (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }, as: UTF8.self)
    }

    private mutating func identifiers() -> String {
        let long = ["99999999999999999998", "99999999999999999999"]
        return list(of: ["0", "1", "9", "10", "1a", "a", "A", "a-", "-"] + long, upTo: 3)
    }

    private mutating func list(of parts: [String], upTo count: UInt64) -> String {
        (0...(next() % count)).map { _ in pick(parts) }.joined(separator: ".")
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int(next() % UInt64(elements.count))]
    }
}
