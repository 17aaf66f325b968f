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

extension AppVersion.Suffix: Comparable {
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

    /// Whether a pre-release has lower precedence than another: Semantic Versioning 2.0.0, clause 11.4.
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
