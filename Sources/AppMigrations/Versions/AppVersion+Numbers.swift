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

extension AppVersion.Numbers: Comparable {
    static func < (lhs: Self, rhs: Self) -> Bool {
        if case .few(let high, let low) = lhs, case .few(let otherHigh, let otherLow) = rhs {
            return (high, low) < (otherHigh, otherLow)
        }
        // Without trailing zeros, the longer one of two lists with a common start ends in more than zero.
        return lhs.list.lexicographicallyPrecedes(rhs.list)
    }
}
