import SchemaMigrations

// Which journals a damaged database has shows by its pages.
extension DamagedDatabase {
    /// Reads the structure of a file with one of several sets of journals: the first one, unless pages contradict each other
    /// with it, and agree without a part of it.
    ///
    /// Then that part is of another database, or older than the file. A page that is lost contradicts nothing, so a journal
    /// that leads to lost pages stays, and so does one that has the only copy of the schema.
    ///
    /// - Returns: the database, and the index of its journals; nil if nothing can be read.
    static func read(
        _ file: DamagedFile, withOneOf journals: [JournalPages?], _ interrupter: Interrupter
    ) throws -> (database: DamagedDatabase, choice: Int)? {
        let first = try read(file, journals[0])
        if journals.count == 1 { return first.map { ($0, 0) } }
        if let first, try first.isConsistent(interrupter) { return (first, 0) }
        for (choice, fewer) in journals.enumerated().dropFirst() {
            guard let other = try read(file, fewer), other.entries.count >= first?.entries.count ?? 1 else {
                continue
            }
            if try other.isConsistent(interrupter) { return (other, choice) }
        }
        return first.map { ($0, 0) }
    }

    /// Returns true if the pages of all trees, and those on which their rows go on, are what others say of them, as far as
    /// they are not lost.
    private func isConsistent(_ interrupter: Interrupter) throws -> Bool {
        try pagesInUse(interrupter) != nil
    }

    /// Returns the pages with rows, and those on which these go on; nil if others contradict what one of them is.
    func pagesInUse(_ interrupter: Interrupter) throws -> Set<Int>? {
        guard !hasContradiction else { return nil }
        let leaves = trees.values.flatMap(\.leaves)
        var taken = Set(leaves.map(\.number))
        let isConsistent = try leaves.allSatisfy { leaf in
            try interrupter.check()
            guard let page = try pages.tree(leaf.number) else { return true }
            return try page.cells.allSatisfy { cell in
                guard let first = cell.overflow else { return true }
                return try pages.isChain(from: first, count: cell.size - cell.local.count, &taken)
            }
        }
        return isConsistent ? taken : nil
    }
}

extension PageSource {
    /// Returns true if overflow pages end where the row does (fileformat2.html, 1.6), or one of them is lost.
    ///
    /// - Parameters:
    ///   - count: the number of bytes that the row has there.
    ///   - taken: the pages that others have, to which those of the chain are added.
    fileprivate func isChain(from first: Int, count: Int, _ taken: inout Set<Int>) throws -> Bool {
        var (next, rest) = (first, count)
        while rest > 0 {
            guard next > 1, next <= pageCount, taken.insert(next).inserted else { return false }
            guard let page = try page(next), let following = page.uint32(0), page.contains(where: { $0 != 0 })
            else { return true }
            (next, rest) = (following, rest - (usableSize - 4))
        }
        return next == 0
    }
}
