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
        // The longest ascending row of them, by the last one of each length.
        var last: [Int] = []
        var previous = [Int](repeating: -1, count: ids.count)
        for index in ids.indices {
            var (from, to) = (0, last.count)
            while from < to {
                let middle = (from + to) / 2
                if ids[last[middle]] < ids[index] { from = middle + 1 } else { to = middle }
            }
            previous[index] = from > 0 ? last[from - 1] : -1
            if from < last.count { last[from] = index } else { last.append(index) }
        }
        var ordered: [Int] = []
        var next = last.last ?? -1
        while next >= 0 {
            ordered.append(next)
            next = previous[next]
        }
        ordered.reverse()
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
}
