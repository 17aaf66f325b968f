/// The version of an app, as its developers write it: `7`, `1.1`, `2.0.3.9.6`, `2.0.0-beta.3`, `1.1-2`.
///
/// Use it wherever a version is compared or stored. Write one as a literal when you know it, and parse one with
/// ``init(parsing:)`` when it comes from elsewhere, such as `CFBundleShortVersionString`:
///
/// ```swift
/// let current = try AppVersion(parsing: "1.1.0")
/// if current < "1.2" { showNews() }
/// ```
///
/// ## Grammar
///
/// `numbers [ "-" sub | "-" prerelease ] [ "+" build ]`
///
/// - *numbers*: one or more integers, separated by dots, each at most `UInt64.max`. Numbers that are missing are
///   zero, and leading zeros have no meaning: `1.1` equals `1.1.0`, and `2024.01` equals `2024.1`. Semantic
///   Versioning asks for exactly three numbers without leading zeros (clause 2); the versions of apps seldom oblige.
/// - *sub*: ASCII digits only, at most `UInt64.max`. `1.1-2` is a sub-migration, the second step added while the
///   app's version stayed `1.1`, and comes *after* `1.1`. This is the one deliberate departure from Semantic
///   Versioning's suffixes: there, `1.1.0-2` is a pre-release and comes before `1.1.0`.
/// - *prerelease*: any other pre-release of [Semantic Versioning 2.0.0](https://semver.org/spec/v2.0.0.html),
///   clause 9, such as `1.0.0-0.3.7`. Its numeric identifiers may be of any length, and have no leading zeros.
/// - *build*: build metadata, clause 10. It is kept and printed, but has no part in order, equality or hash.
///
/// ## Order
///
/// The numbers decide first. Among versions with the same numbers, pre-releases come first, by the precedence of
/// clause 11, then the version without a suffix, then the sub-migrations by their number:
///
/// `1.1-beta.1 < 1.1-rc.1 < 1.1 < 1.1-0 < 1.1-1 < 1.1-2 < 1.1-10 < 1.1.1 < 1.2`
///
/// Versions that are equal may still print differently, because each keeps its text: `1.1`, `1.1.0` and `1.1+42`
/// are one version, and one key of a dictionary.
public struct AppVersion: Sendable {
    /// The text of the version, exactly as it was given.
    ///
    /// Use it to print or to store the version; ``init(parsing:)`` reads it back. Equal versions may differ in their
    /// text, so compare versions rather than descriptions.
    public var description: String { parts.text }

    /// The numbers of the version, without trailing zeros: `[1, 1]` for `1.1`, `1.1.0` and `1.1-2`.
    ///
    /// Use it to look at a single number, such as the major version, `numbers[0]`. There is always at least one
    /// element, `[0]` for `0.0`. A number beyond the last is zero.
    package var numbers: [UInt64] { parts.numbers.list }

    /// The version as it was parsed.
    fileprivate let parts: Parts

    /// An object, because records, plans and errors hold versions by the dozen, and copy each as one reference.
    fileprivate final class Parts: Sendable {
        let text: String
        let numbers: Numbers
        /// The pre-release or sub-migration after the numbers.
        let suffix: Suffix

        init(_ text: String, _ numbers: Numbers, _ suffix: Suffix) {
            self.text = text
            self.numbers = numbers
            self.suffix = suffix
        }
    }

    init(_ text: String, _ numbers: Numbers, _ suffix: Suffix) {
        parts = Parts(text, numbers, suffix)
    }
}

// MARK: - Parts

extension AppVersion {
    /// The number of the sub-migration, `2` for `1.1-2`, or `nil` if the version is not one.
    ///
    /// Use it to tell a step that was added while the app's version stayed the same from the version itself: `1.1`
    /// has none, and `1.1-0` has the number zero. Any `UInt64` is possible.
    package var subMigration: UInt64? {
        if case .subMigration(let number) = parts.suffix { number } else { nil }
    }

    /// The version with these numbers, without suffix and build metadata: `1.1` for `1.1-beta.1`, `1.1-2` and `1.1+42`.
    ///
    /// Use it to find the release that a pre-release or a sub-migration belongs to. Its text has the numbers as they
    /// were written: `2024.01` for `2024.01-2`.
    @inline(never)
    package var release: AppVersion {
        AppVersion(numbersText, parts.numbers, .empty)
    }

    /// The greatest version with these numbers: `1.1-18446744073709551615` for `1.1`, `1.1-beta.1` and `1.1-2`.
    ///
    /// Use it as the upper bound of a release: everything that belongs to this release, its pre-releases and its
    /// sub-migrations, is at most its ceiling, and every version with greater numbers is greater than its ceiling.
    package var ceiling: AppVersion {
        AppVersion(numbersText + Self.greatestSuffix, parts.numbers, .subMigration(.max))
    }

    private static let greatestSuffix = "-\(UInt64.max)"

    /// The numbers as they were written, with leading and trailing zeros.
    @inline(never)
    private var numbersText: String {
        let text = description.utf8.prefix { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "+") }
        return String(Substring(text))
    }
}

// MARK: - Equality and order

extension AppVersion: Hashable {
    /// Returns true if two versions are the same, however they are written.
    ///
    /// Missing numbers are zero, leading zeros have no meaning, and build metadata is ignored (Semantic Versioning
    /// 2.0.0, clause 10): `1.1`, `1.1.0`, `1.01` and `1.1+42` are all equal, and `1.1-0` is not equal to them.
    ///
    /// - Parameters:
    ///   - lhs: a version.
    ///   - rhs: another version.
    @inline(never)
    public static func == (lhs: AppVersion, rhs: AppVersion) -> Bool {
        lhs.parts.numbers == rhs.parts.numbers && lhs.parts.suffix == rhs.parts.suffix
    }

    /// Feeds the parts of the version that decide equality to a hasher.
    ///
    /// You seldom call it yourself; it makes a version a key of a dictionary and an element of a set.
    ///
    /// - Parameter hasher: the hasher.
    @inline(never)
    public func hash(into hasher: inout Hasher) {
        hasher.combine(parts.numbers)
        // Nearly all versions have none, and each launch hashes dozens.
        if parts.suffix != .empty { hasher.combine(parts.suffix) }
    }
}

extension AppVersion: Comparable {
    /// Returns true if a version comes before another.
    ///
    /// The order is total, and agrees with equality: the numbers decide first, then pre-releases come before the
    /// version without a suffix, which comes before its sub-migrations. Pre-releases have the precedence of Semantic
    /// Versioning 2.0.0, clause 11.
    ///
    /// - Parameters:
    ///   - lhs: a version.
    ///   - rhs: another version.
    @inline(never)
    public static func < (lhs: AppVersion, rhs: AppVersion) -> Bool {
        if lhs.parts.numbers != rhs.parts.numbers { return lhs.parts.numbers < rhs.parts.numbers }
        return lhs.parts.suffix < rhs.parts.suffix
    }
}

// MARK: - Conversions

extension AppVersion: CustomStringConvertible, LosslessStringConvertible {
    /// Creates the version that a text describes, or `nil` if it does not describe one.
    ///
    /// Use it where it does not matter why a text is malformed; ``init(parsing:)`` says why.
    ///
    /// A literal as the argument, as in `AppVersion("1.1")`, makes the whole expression a literal (Swift Evolution
    /// proposal SE-0213): it is not optional, and traps if it is malformed. See ``init(stringLiteral:)``.
    ///
    /// - Parameter text: a version such as `2.1` or `1.1-2`.
    public init?(_ text: String) {
        guard let version = try? AppVersion(parsing: text) else { return nil }
        self = version
    }
}

extension AppVersion: ExpressibleByStringLiteral {
    /// Creates the version that a literal in the source describes, and traps if it does not describe one.
    ///
    /// Use it, by writing a literal, for the versions that you know when you write the code. Use ``init(parsing:)``
    /// for any other text.
    ///
    /// - Parameter value: the literal.
    /// - Precondition: The literal is an app version. The message of the trap says where it is malformed.
    public init(stringLiteral value: String) {
        do {
            try self.init(parsing: value)
        } catch {
            // A mistake in the source code, found on its first run. Not a precondition failure, which would say
            // nothing in release builds.
            fatalError("\(error)")
        }
    }
}

extension AppVersion: Codable {
    /// Decodes a version from a single string.
    ///
    /// - Parameter decoder: the decoder to read from.
    /// - Throws: `DecodingError.dataCorrupted` if the string is not an app version, with the
    ///   reason as its debug description. Whatever the decoder
    ///   throws if there is no string.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do {
            try self.init(parsing: text)
        } catch {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: container.codingPath,
                    debugDescription: "\(error)",
                    underlyingError: error
                )
            )
        }
    }

    /// Encodes the version as a single string, its ``description``.
    ///
    /// - Parameter encoder: the encoder to write to.
    /// - Throws: Whatever the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension AppVersion {
    /// The numbers of a version, without trailing zeros.
    ///
    /// A launch makes and compares versions by the hundred, and nearly all of them fit into two words without an array.
    enum Numbers: Sendable, Hashable {
        /// Up to four numbers that fit into 32 bits each, the first one highest; missing ones are zero.
        case few(UInt64, UInt64)

        /// Numbers that do not fit.
        case many([UInt64])
    }
}

extension AppVersion.Numbers {
    /// The number zero.
    static let zero = Self.few(0, 0)

    /// The numbers one by one, at least one.
    var list: [UInt64] {
        switch self {
        case .few(let high, let low):
            let list = [high >> 32, high & Self.greatest, low >> 32, low & Self.greatest]
            return Array(list.prefix((list.lastIndex { $0 != 0 } ?? 0) + 1))
        case .many(let list):
            return list
        }
    }

    /// Sets the number at an index beyond those that were set so far.
    ///
    /// Zeros have nothing to set.
    mutating func set(_ number: UInt64, at index: Int) {
        guard number != 0 else { return }
        if case .few(var high, var low) = self, index < 4, number <= Self.greatest {
            let shifted = number << (index.isMultiple(of: 2) ? 32 : 0)
            if index < 2 { high |= shifted } else { low |= shifted }
            self = .few(high, low)
        } else {
            var list = Array(list.prefix(index))
            list.append(contentsOf: repeatElement(0, count: index - list.count))
            list.append(number)
            self = .many(list)
        }
    }

    private static let greatest = UInt64(UInt32.max)
}

extension AppVersion.Numbers {
    func hash(into hasher: inout Hasher) {
        switch self {
        case .few(let high, let low):
            hasher.combine(high)
            if low != 0 { hasher.combine(low) }
        case .many(let list): hasher.combine(list)
        }
    }
}

extension AppVersion.Numbers {
    static func < (lhs: Self, rhs: Self) -> Bool {
        if case .few(let high, let low) = lhs, case .few(let otherHigh, let otherLow) = rhs {
            return (high, low) < (otherHigh, otherLow)
        }
        // Without trailing zeros, the longer one of two lists with a common start ends in more than zero.
        return lhs.list.lexicographicallyPrecedes(rhs.list)
    }
}

extension AppVersion {
    /// The part of a version after its numbers.
    ///
    /// Equal suffixes have equal payloads, so all conformances but the order are synthesized.
    enum Suffix: Sendable, Hashable {
        /// The identifiers of a pre-release, joined by dots as they are in the text.
        ///
        /// Leading zeros are not allowed here, so pre-releases have equal precedence only if their texts are the same.
        /// Keeping the text rather than its identifiers saves an array, and most often any allocation.
        case prerelease(String)

        /// Nothing, or build metadata only.
        case empty

        /// The number of a sub-migration.
        case subMigration(UInt64)
    }
}

extension AppVersion.Suffix {
    static func < (lhs: Self, rhs: Self) -> Bool {
        switch (lhs, rhs) {
        case (.prerelease(let left), .prerelease(let right)): isPrerelease(left, before: right)
        case (.subMigration(let left), .subMigration(let right)): left < right
        default: lhs.rank < rhs.rank
        }
    }

    /// The place of the kind of suffix among versions with the same numbers.
    private var rank: Int {
        switch self {
        case .prerelease: 0
        case .empty: 1
        case .subMigration: 2
        }
    }

    /// Returns true if a pre-release has lower precedence than another: Semantic Versioning 2.0.0, clause 11.4.
    ///
    /// The first byte that differs lies in the first identifiers that differ, so there is no need to split the texts.
    private static func isPrerelease(_ lhs: String, before rhs: String) -> Bool {
        var lhs = lhs.utf8.makeIterator()
        var rhs = rhs.utf8.makeIterator()
        // Whether the current identifiers, as far as they agree, could still be numeric.
        var agreesOnDigits = true
        while true {
            let left = lhs.next()
            let right = rhs.next()
            if left == right {
                guard let byte = left else { return false }
                agreesOnDigits = byte == UInt8(ascii: ".") || (agreesOnDigits && byte.isDigit)
                continue
            }
            if agreesOnDigits {
                switch (digitCount(from: left, lhs), digitCount(from: right, rhs)) {
                // Without leading zeros, more digits are a greater number (11.4.1), at any length.
                case (let left?, let right?) where left != right: return left < right
                // A numeric identifier is lower than any other (11.4.3).
                case (.some, nil): return true
                case (nil, .some): return false
                default: break
                }
            }
            return rank(left) < rank(right)
        }
    }

    /// How many digits are left of an identifier, or `nil` if something else is left of it.
    private static func digitCount(from first: UInt8?, _ rest: String.UTF8View.Iterator) -> Int? {
        var rest = rest
        var next = first
        var count = 0
        while let byte = next, byte != UInt8(ascii: ".") {
            guard byte.isDigit else { return nil }
            count += 1
            next = rest.next()
        }
        return count
    }

    /// The place of a byte in the order of ASCII (11.4.2), where the end of the text is lowest, because fewer
    /// identifiers are (11.4.4), and the end of an identifier is lower than any of its characters, even the hyphen.
    private static func rank(_ byte: UInt8?) -> UInt8 {
        switch byte {
        case nil: 0
        case UInt8(ascii: "."): 1
        case let byte?: byte
        }
    }
}
