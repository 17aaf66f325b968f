/// The pages that no tree of the schema leads to, by what they can be.
///
/// Nearly all of a file may be such pages, as where long texts and images go on, so it reads each of them once.
struct UnknownPages {
    /// The pages that are not in use.
    ///
    /// They still have the rows that were deleted, and these must not come back. Where the list of them is broken, every page
    /// that looks like a part of it is taken for one.
    private(set) var free: Set<Int> = []
    /// True if the list of free pages is whole, and no other page looks like a part of it, as one does where the header is older.
    private(set) var hasWholeList: Bool
    /// The number of free pages that were not found.
    private(set) var lostFreePages = 0
    /// True if a page is in the list that a tree has.
    let hasListedInUse: Bool
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
        let isWhole = header.isThere && next == 0 && free.count == header.freelist.count
        (hasWholeList, hasListedInUse) = (isWhole, !free.isDisjoint(with: used))
        // The end of the file may have been given back: SQLite goes by the header.
        let end = header.hasCurrentPageCount ? header.pageCount : pages.pageCount
        for number in pages.numbers.dropFirst()
        where number <= end && !used.contains(number) && !free.contains(number) {
            guard number != pages.lockPage, let bytes = try pages.page(number),
                !header.hasPointerMap || !pages.isPointerMap(number, bytes)
            else { continue }
            if let trunk = pages.trunk(bytes, upTo: last), !trunk.leaves.isEmpty {
                hasWholeList = false
                if isWhole { continue }
                free.insert(number)
                free.formUnion(trunk.leaves)
            } else if let page = BTreePage(number, bytes, usableSize: pages.usableSize), !page.cells.isEmpty {
                roots.append((number, page.children))
            }
        }
        free.subtract(used)
        // The first page is never free, so any higher number is none.
        if header.isThere, header.freelist.count < end {
            lostFreePages = max(0, header.freelist.count - free.count)
        }
        // Some were found to be free after they were read.
        roots.removeAll { free.contains($0.number) }
        // A flipped bit in the list takes one page out of it, and another one in.
        if hasListedInUse, roots.count == 1 { hasWholeList = false }
    }
}

extension BTreePage {
    /// The pages below an interior page.
    fileprivate var children: [Int] {
        isLeaf ? [] : cells.compactMap(\.child) + (lastChild.map { [$0] } ?? [])
    }
}

extension PageSource {
    /// The page with the bytes of SQLite's locks, which it never uses.
    fileprivate var lockPage: Int { 0x4000_0000 / pageSize + 1 }

    /// Returns true if a page says to which other ones those behind it belong, in a database that has such pages
    /// (fileformat2.html, 1.8).
    ///
    /// It begins with a type of up to five, and a page with rows with a higher one.
    fileprivate func isPointerMap(_ number: Int, _ bytes: [UInt8]) -> Bool {
        guard bytes.byte(0) ?? 0 <= 5 else { return false }
        let place = (number - 2) % (usableSize / 5 + 1)
        return place == 0 && number != lockPage || place == 1 && number - 1 == lockPage
    }

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
