/// What a database is tried with: a scene, and a damage of its pages.
struct SalvageKind: Hashable, Sendable {
    let scene: SalvageScene
    let page: PageDamage

    static let all: [SalvageKind] = scenes.flatMap { scene, pages in
        pages.map { SalvageKind(scene: scene, page: $0) }
    }

    /// The damages of each scene; with none of them, SQLite itself can read most files that have journals.
    private static let scenes: [(SalvageScene, [PageDamage])] = [
        (.none, PageDamage.allCases.filter { ![.none, .olderLeaves].contains($0) }),
        (.newer, [.none, .lostLedger, .lostDetails, .lostLedgerAndRecord, .lostLedgerAndDetails]),
        (.older, [.olderLeaves]),
        (.log, [.none, .zeroedAfterFirst, .zeroedLeaf, .zeroedPages, .bits, .magic, .firstPage]),
        (.log, [.truncated, .lostRecord]),
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
        [scene.rawValue, page.rawValue].filter { $0 != "none" }.joined(separator: "+")
    }
}
