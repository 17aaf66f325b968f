/// What a database is tried with: journals, and damaged pages.
struct SalvageKind: Hashable, Sendable {
    let journal: JournalDamage
    let page: PageDamage

    static let all: [SalvageKind] =
        PageDamage.allCases.filter { ![.none, .olderLeaves].contains($0) }.map {
            SalvageKind(journal: .none, page: $0)
        } + pairs.flatMap { journal, pages in pages.map { SalvageKind(journal: journal, page: $0) } }

    /// The damages of pages beside each kind of journal; with none of them, SQLite itself can read most files.
    private static let pairs: [(JournalDamage, [PageDamage])] = [
        (.newer, [.none, .lostLedger, .lostLedgerAndRecord, .lostLedgerAndDetails]),
        (.older, [.olderLeaves]),
        (
            .log,
            [
                .none, .zeroedAfterFirst, .zeroedLeaf, .zeroedPages, .magic, .firstPage, .truncated, .lostRecord,
                .bits,
            ]
        ),
        (.openLog, [.none, .zeroedLeaf]),
        (.cutLog, [.none, .zeroedLeaf]),
        (.badLog, [.none, .zeroedLeaf]),
        (.reusedLog, [.none, .zeroedLeaf]),
        (.olderLog, [.none, .zeroedLeaf]),
        (.foreignLog, [.none]),
        (.foreignLogOfOtherPages, [.none]),
        (.shrinkingLog, [.none, .zeroedLeaf]),
        (.wholeLog, [.none]),
        (.firstPageInLog, [.none, .zeroedLeaf]),
        (.journal, [.none, .zeroedLeaf]),
        (.hotJournal, [.none, .zeroedLeaf, .truncated, .magic]),
        (.growingJournal, [.none, .zeroedLeaf, .zeroedPages]),
        (.oldJournal, [.none, .zeroedLeaf]),
    ]
}

extension SalvageKind: CustomStringConvertible {
    var description: String {
        [journal.rawValue, page.rawValue].filter { $0 != "none" }.joined(separator: "+")
    }
}
