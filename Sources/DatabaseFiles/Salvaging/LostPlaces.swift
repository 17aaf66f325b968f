/// The places of the pages that a table has lost.
struct LostPlaces {
    /// The keys that can have been in each, by the first one, and the last key that any of those so far can have had.
    private let ranges: [(first: Int64, last: Int64)]
    let isEmpty: Bool
    /// The pages that should be there.
    let pages: Set<Int>

    init(_ places: [TreeLeaf]) {
        isEmpty = places.isEmpty
        pages = Set(places.map(\.number))
        var last = Int64.min
        ranges = places.compactMap(\.possibleKeys).sorted { $0.lowerBound < $1.lowerBound }.map { keys in
            last = max(last, keys.upperBound)
            return (keys.lowerBound, last)
        }
    }

    /// Returns the keys that can have been in some places, as ranges that do not touch; places without any bound say nothing.
    static func keys(of places: [TreeLeaf]) -> [ClosedRange<Int64>] {
        let ranges = places.filter { ($0.low ?? $0.high) != nil }.compactMap(\.possibleKeys)
        return ranges.sorted { $0.lowerBound < $1.lowerBound }.reduce(into: []) { merged, next in
            guard let last = merged.last, last.upperBound == .max || next.lowerBound <= last.upperBound + 1
            else { return merged.append(next) }
            merged[merged.count - 1] = last.lowerBound...max(last.upperBound, next.upperBound)
        }
    }

    /// Returns true if all of some keys can have been in one of the places.
    func hold(_ keys: ClosedRange<Int64>) -> Bool {
        var (from, to) = (0, ranges.count)
        while from < to {
            let middle = (from + to) / 2
            if ranges[middle].first <= keys.lowerBound { from = middle + 1 } else { to = middle }
        }
        return from > 0 && keys.upperBound <= ranges[from - 1].last
    }
}

extension TreeLeaf {
    /// The keys that can be in the page, by what its parents say.
    var possibleKeys: ClosedRange<Int64>? {
        guard low != .max else { return nil }
        let (first, last) = (low.map { $0 + 1 } ?? .min, high ?? .max)
        return first <= last ? first...last : nil
    }
}
