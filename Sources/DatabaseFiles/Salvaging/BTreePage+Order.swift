extension BTreePage {
    /// The cells whose ids are in order, and between those that the parents give.
    ///
    /// A flipped bit in an id breaks the order, unless it is the first or the last one: then it lies alone beyond the
    /// bound. Where several do, the bound itself is damaged.
    func cellsInOrder(in place: TreeLeaf) -> [Cell] {
        guard kind == .tableLeaf else { return cells }
        let ids = cells.map { $0.rowid ?? 0 }
        // Nearly always nothing is wrong.
        let isAscending = zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 }
        if isAscending, place.low.map({ low in ids.first.map { low < $0 } ?? true }) ?? true,
            place.high.map({ high in ids.last.map { $0 <= high } ?? true }) ?? true
        {
            return cells
        }
        var ordered = Self.longestAscending(ids, of: cells.indices.filter { holdsRecord(cells[$0]) })
        if let low = place.low, ordered.count > 1, ids[ordered[0]] <= low, ids[ordered[1]] > low {
            ordered.removeFirst()
        }
        if let high = place.high, ordered.count > 1, let end = ordered.last, ids[end] > high,
            ids[ordered[ordered.count - 2]] <= high
        {
            ordered.removeLast()
        }
        return ordered.map { cells[$0] }
    }

    /// Returns true if a cell may have a record: a number in a torn page is no id.
    private func holdsRecord(_ cell: Cell) -> Bool {
        func isRecord(_ range: Range<Int>) -> Bool {
            SavedRecord(bytes, in: range, encoding: 1, isTrusted: true) != nil
        }
        return cell.overflow != nil || isRecord(cell.local) || rangeUpToNext(cell).map(isRecord) ?? false
    }

    /// Returns the places of the most ids that ascend, with room for those between them.
    ///
    /// What an id was that is left out lies between its neighbours. So of two that are the same, the right one is that which
    /// leaves room for what the other was; if both do, the first, as in `.recover`.
    private static func longestAscending(_ ids: [Int64], of candidates: [Int]) -> [Int] {
        // An id less its place does not descend if there is room.
        let levels = ids.enumerated().map { place, id in
            let (level, isBelow) = id.subtractingReportingOverflow(Int64(place))
            return isBelow ? .min : level
        }
        // The places at which a row of each length can end: the later they are, the lower.
        var ends: [[Int]] = []
        for index in candidates {
            var (from, to) = (0, ends.count)
            while from < to {
                let middle = (from + to) / 2
                if let last = ends[middle].last, levels[last] <= levels[index] {
                    from = middle + 1
                } else {
                    to = middle
                }
            }
            if from < ends.count { ends[from].append(index) } else { ends.append([index]) }
        }
        var chosen: [Int] = []
        var next = (place: ids.count, level: Int64.max)
        for places in ends.reversed() {
            let fitting = places.filter { $0 < next.place && levels[$0] <= next.level }
            guard let last = fitting.last, let first = fitting.first(where: { ids[$0] == ids[last] })
            else { break }
            chosen.append(first)
            next = (first, levels[first])
        }
        return chosen.reversed()
    }

    /// Returns true if the numbers by which the cells are ordered are between two others; one of them may be damaged.
    func lies(above low: Double?, upTo high: Double?) -> Bool {
        cells.compactMap(number).count { $0 < low ?? $0 || $0 > high ?? $0 } < 2
    }

    /// Returns the number by which a cell is ordered before all others: its row's id, or the first value of an index's entry;
    /// nil if that is none.
    func number(of cell: Cell) -> Double? {
        if let rowid = cell.rowid { return Double(rowid) }
        return switch SavedRecord(bytes, in: cell.local, encoding: 1, isTrusted: true)?.values.first {
        case .integer(let integer): Double(integer)
        case .real(let real): real
        default: nil
        }
    }
}
