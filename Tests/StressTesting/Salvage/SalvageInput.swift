import MigrationTools

/// A database that is damaged, or about to be.
struct SalvageInput: Sendable {
    var files: SalvageFiles
    var truth: SalvageTruth
    /// The schema version of the database.
    var version: Int
    /// The pages of the file as SQLite reads it with its journals; nil if these make no intact database.
    var map: PageMap?
    /// The last keys that tables have given.
    var sequences: [String: Int64] = [:]
    /// The pages that are in a journal, so that those in the file do not count.
    var overlaid: Set<Int> = []
    /// The pages of which the file has other bytes than before, and no journal has them.
    var touched: Set<Int> = []
    /// True if only the header of the first page is damaged.
    var hasHeaderDamageOnly = false
    /// True if a newer app has migrated the database.
    var isNewer = false
    /// True if two pages have changed places.
    var isSwapped = false
    /// True if a page was put back that had deleted rows then, so that nothing in the file shows that they were deleted.
    var hasOlderFreePage = false
    /// The file as it was earlier, if pages of it are to be put back.
    var older: [UInt8]?

    /// Damages pages of the file.
    mutating func damage(_ damage: PageDamage, _ template: SalvageTemplate, _ random: inout RandomNumbers) {
        let before = files.main
        damage.apply(to: &self, template, &random)
        guard let map, files.main != before else { return }
        touched = map.differences(before, files.main).subtracting(overlaid)
        hasHeaderDamageOnly =
            touched.contains(1) && files.main.count >= map.pageSize && before.count >= map.pageSize
            && files.main[100..<map.pageSize] == before[100..<map.pageSize]
    }

    /// True if nothing that the schema's tree needs is damaged.
    var hasSchema: Bool {
        guard let map, let tree = map.trees["sqlite_schema"] else { return false }
        return tree.pages.subtracting(hasHeaderDamageOnly ? [1] : []).isDisjoint(with: touched)
    }

    /// True if a table is there as a whole, or not at all in the undamaged database.
    func isWhole(_ table: String) -> Bool {
        guard hasSchema else { return false }
        return map?.trees[table].map { $0.pages.isDisjoint(with: touched) } ?? true
    }

    /// True if there is a table, and nothing that it needs is damaged.
    func has(_ table: String) -> Bool { map?.trees[table] != nil && isWhole(table) }

    /// Returns the keys of the rows of a table with row ids to which only undamaged pages lead.
    func reachableKeys(of table: String) -> [SalvageRow] {
        guard hasSchema, let tree = map?.trees[table] else { return [] }
        let leaves = tree.leaves.filter {
            !touched.contains($0.number) && touched.isDisjoint(with: $0.path)
        }
        return leaves.flatMap { leaf in
            leaf.rows.filter { touched.isDisjoint(with: $0.chain) }.map { [SalvageValue.integer($0.id)] }
        }
    }

    /// Returns the keys of a table, now or earlier, that lie between the rows before and behind leaves.
    func keys(of table: SalvageTable, around leaves: [PageMap.Leaf]) -> Set<SalvageRow> {
        let all = map?.trees[table.name(at: version) ?? ""]?.leaves ?? []
        let inside = Set(leaves.map(\.number))
        let places = all.indices.filter { inside.contains(all[$0].number) }
        guard let first = places.first, let last = places.last else { return [] }
        let low = all[..<first].last { !$0.rows.isEmpty }?.rows.last?.id ?? .min
        let high = all[(last + 1)...].first { !$0.rows.isEmpty }?.rows.first?.id ?? .max
        let states = [truth.rows] + truth.earlier
        return Set(
            states.flatMap { $0.tables[table.mark]?.keys.map(\.self) ?? [] }.filter { key in
                if case .integer(let id)? = key.first { low < id && id < high } else { false }
            })
    }
}
