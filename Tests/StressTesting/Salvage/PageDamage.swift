import MigrationTesting
import MigrationTools

/// A way in which the file of a database is damaged.
enum PageDamage: String, CaseIterable, Sendable {
    case none
    case bits, zeroedPages, swappedPages, tornSectors, tornPages, truncated, freelist
    /// One leaf of a table.
    case zeroedLeaf
    /// Everything but the first page.
    case zeroedAfterFirst
    /// Two neighboring leaves that are replaced by what they were earlier.
    case olderLeaves
    /// The pages of the manager's record, of its history, of the migrator's ledger, and of the details beside it.
    case lostRecord, lostRecordAndHistory, lostLedger, lostDetails, lostLedgerAndRecord, lostLedgerAndDetails
    case header, firstPage, schemaRoot
    /// The first page without its header.
    case schemaPage
    case magic, pageSize, reserved, encoding, pageCount, versions, vacuum

    /// True if bytes inside of values may have changed, which nothing can see.
    var changesValues: Bool { [.bits, .tornSectors, .tornPages].contains(self) }

    func apply(to input: inout SalvageInput, _ template: SalvageTemplate, _ random: inout RandomNumbers) {
        var pages = DamagedPages(input: input, template: template, random: random)
        switch self {
        case .none: break
        case .bits, .tornSectors, .tornPages, .truncated: pages.tear(self)
        case .zeroedPages: for _ in 0..<3 { pages.zero(pages.anyPage()) }
        case .swappedPages: pages.swap()
        case .freelist: pages.breakFreelist()
        case .zeroedLeaf: pages.zero(pages.leaf())
        case .zeroedAfterFirst: pages.zeroAfterFirst()
        case .olderLeaves: pages.replaceLeaves()
        case .lostRecord: pages.zero(["app_migrations"])
        case .lostRecordAndHistory: pages.zero(["app_migrations", "app_migrations_history"])
        case .lostLedger: pages.zero(["schema_migrations", "grdb_migrations"])
        case .lostDetails: pages.zero(["schema_migrations_details"])
        case .lostLedgerAndRecord: pages.zero(["schema_migrations", "grdb_migrations", "app_migrations"])
        case .lostLedgerAndDetails:
            pages.zero(["schema_migrations", "grdb_migrations", "schema_migrations_details"])
        case .header: for _ in 0..<2 { pages.noise(at: pages.random.pick(0..<100), count: 1) }
        case .firstPage: pages.noise(at: 0, count: template.shape.pageSize)
        case .schemaRoot: pages.noise(at: 100, count: min(200, template.shape.pageSize - 100))
        case .schemaPage: pages.zero(100..<template.shape.pageSize)
        case .magic, .pageSize, .reserved, .encoding, .pageCount, .versions, .vacuum:
            pages.setField(self)
        }
        (input, random) = (pages.input, pages.random)
    }
}
