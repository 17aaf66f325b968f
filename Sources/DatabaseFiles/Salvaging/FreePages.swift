extension PageSource {
    /// Returns the pages that are not in use, and whether the list of them is whole.
    ///
    /// They still have the rows that were deleted, and these must not come back. Where the list is broken, every page that
    /// looks like a part of it is taken for one.
    ///
    /// - Parameter used: the pages of the trees, which are in use whatever the list says.
    func freePages(_ header: DatabaseHeader, except used: Set<Int>) throws -> (pages: Set<Int>, isWhole: Bool)
    {
        // A file that was cut off has lost some of them.
        let last = max(pageCount, header.pageCount)
        var free: Set<Int> = []
        var next = header.hasMagic ? header.freelist.first : 0
        while next != 0 {
            guard let trunk = try trunk(next, upTo: last), free.insert(next).inserted else { break }
            free.formUnion(trunk.leaves)
            next = trunk.next
        }
        if header.hasMagic, next == 0, free.count == header.freelist.count {
            return (free.subtracting(used), true)
        }
        for number in numbers.dropFirst() where !used.contains(number) && !free.contains(number) {
            guard let trunk = try trunk(number, upTo: last), !trunk.leaves.isEmpty else { continue }
            free.insert(number)
            free.formUnion(trunk.leaves)
        }
        return (free.subtracting(used), false)
    }

    /// Reads a page of the list (fileformat2.html, 1.5).
    private func trunk(_ number: Int, upTo last: Int) throws -> (next: Int, leaves: Set<Int>)? {
        guard let page = try page(number), let next = page.uint32(0), next <= last,
            let count = page.uint32(4), (0...usableSize / 4 - 2).contains(count)
        else { return nil }
        let leaves = (0..<count).compactMap { page.uint32(8 + 4 * $0) }
        let distinct = Set(leaves)
        guard distinct.count == count, distinct.allSatisfy({ $0 > 1 && $0 <= last }) else { return nil }
        return (next, distinct)
    }
}
