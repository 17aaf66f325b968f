/// The pages that no tree of the schema leads to, by what they can be.
///
/// Nearly all of a file may be such pages, as where long texts and images go on, so it reads each of them once.
struct UnknownPages {
    /// The pages that are not in use.
    ///
    /// They still have the rows that were deleted, and these must not come back. Where the list of them is broken, every page
    /// that looks like a part of it is taken for one.
    private(set) var free: Set<Int> = []
    /// True if the list of free pages is whole.
    let hasWholeList: Bool
    /// The pages of trees, with their children.
    private(set) var roots: [(number: Int, children: [Int])] = []

    /// Finds out what the pages are.
    ///
    /// - Parameter used: the pages of the trees, which are in use whatever the list says.
    init(_ pages: PageSource, _ header: DatabaseHeader, except used: Set<Int>) throws {
        // A file that was cut off has lost some of them.
        let last = max(pages.pageCount, header.pageCount)
        var next = header.isThere ? header.freelist.first : 0
        while next != 0 {
            guard let trunk = try pages.page(next).flatMap({ pages.trunk($0, upTo: last) }),
                free.insert(next).inserted
            else { break }
            free.formUnion(trunk.leaves)
            next = trunk.next
        }
        hasWholeList = header.isThere && next == 0 && free.count == header.freelist.count
        // SQLite never uses the page with the bytes of its locks.
        let lockPage = 0x4000_0000 / pages.pageSize + 1
        // The end of the file may have been given back: SQLite goes by the header.
        let end = header.hasCurrentPageCount ? header.pageCount : pages.pageCount
        for number in pages.numbers.dropFirst()
        where number <= end && !used.contains(number) && !free.contains(number) {
            guard let bytes = try pages.page(number) else { continue }
            if !hasWholeList, let trunk = pages.trunk(bytes, upTo: last), !trunk.leaves.isEmpty {
                free.insert(number)
                free.formUnion(trunk.leaves)
            } else if number != lockPage,
                let page = BTreePage(number, bytes, usableSize: pages.usableSize), !page.cells.isEmpty
            {
                roots.append((number, page.children))
            }
        }
        free.subtract(used)
        // Some were found to be free after they were read.
        roots.removeAll { free.contains($0.number) }
    }
}

extension BTreePage {
    /// The pages below an interior page.
    fileprivate var children: [Int] {
        isLeaf ? [] : cells.compactMap(\.child) + (lastChild.map { [$0] } ?? [])
    }
}

extension PageSource {
    /// Reads a page of the list of free pages (fileformat2.html, 1.5).
    fileprivate func trunk(_ page: [UInt8], upTo last: Int) -> (next: Int, leaves: Set<Int>)? {
        guard let next = page.uint32(0), next <= last,
            let count = page.uint32(4), (0...usableSize / 4 - 2).contains(count)
        else { return nil }
        let leaves = (0..<count).compactMap { page.uint32(8 + 4 * $0) }
        let distinct = Set(leaves)
        guard distinct.count == count, distinct.allSatisfy({ $0 > 1 && $0 <= last }) else { return nil }
        return (next, distinct)
    }
}
