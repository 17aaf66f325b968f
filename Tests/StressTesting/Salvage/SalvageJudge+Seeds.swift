// Judges rows that migrations insert: as the app has left them where their page is there, and as they were made at most elsewhere.
extension SalvageJudge {
    private func mark(of row: SalvageRow, in table: String) -> SalvageSeeding.Mark? {
        template.seeds.isEmpty ? nil : template.schema.seeding.mark(of: row, in: table)
    }

    /// Returns true if a migration inserts a row that the damaged database has not had.
    func isPending(_ row: SalvageRow, in table: String) -> Bool {
        mark(of: row, in: table).map { $0.version > input.version } ?? false
    }

    /// Returns true if a row is as a migration has inserted it, and the page is lost that would tell what became of it.
    func mayBePutBack(_ row: SalvageRow, _ key: SalvageRow, in table: String) -> Bool {
        guard let mark = mark(of: row, in: table),
            template.seeds.values.contains(where: { $0[table, key] == row }),
            let kind = template.tables.first(where: { $0.mark == table }), mayBeLost(key, of: kind)
        else { return false }
        // The migrations give other ids in a new database than in one with rows.
        return input.truth.past.committed.contains { state in
            state[table, key].map { self.mark(of: $0, in: table) == mark } ?? false
        }
    }

    /// Returns true if a row that a migration inserts is there under another key, too, which `VACUUM` has given it.
    func isTwice(_ row: SalvageRow, _ key: SalvageRow, _ rows: [SalvageRow: SalvageRow]) -> Bool {
        rows.contains { $0.key != key && $0.value.dropFirst() == row.dropFirst() }
    }

    /// Returns true if the page is damaged on which the row with a key is, or would be.
    private func mayBeLost(_ key: SalvageRow, of table: SalvageTable) -> Bool {
        guard input.hasSchema, let map = input.map else { return true }
        let name = table.name(at: input.version) ?? table.mark
        guard let tree = map.trees[table.isVirtual ? "\(name)_content" : name] else { return true }
        guard table.hasRowid, case .integer(let id)? = key.first else {
            return !tree.pages.isDisjoint(with: input.touched)
        }
        let leaves = tree.leaves
        let index = leaves.firstIndex { $0.rows.last.map { id <= $0.id } ?? false } ?? leaves.count - 1
        // Between the rows of two pages, either may be the place.
        let isFirst = leaves[index].rows.first.map { id < $0.id } ?? false
        return leaves[(isFirst ? max(0, index - 1) : index)...index].contains { leaf in
            let chain = leaf.rows.first { $0.id == id }?.chain ?? []
            return !input.touched.isDisjoint(with: [leaf.number] + leaf.path + chain)
        }
    }

    /// Judges the rows that later migrations insert, of a database whose version is known.
    func judgePending(_ rows: SalvageSnapshot, _ verdict: inout SalvageVerdict) {
        let ledger = template.shape.migrations == .files ? "schema_migrations" : "grdb_migrations"
        guard !template.seeds.isEmpty, !input.isNewer, input.hasSchema, input.has(ledger) else { return }
        func pending(_ rows: SalvageSnapshot) -> [String] {
            rows.entries.compactMap { table, _, row in
                isPending(row, in: table) ? mark(of: row, in: table)?.name : nil
            }
            .sorted()
        }
        let (found, expected) = (
            pending(rows), pending(template.seeds[SalvageSchema.latest] ?? SalvageSnapshot())
        )
        if found != expected { verdict.add(.seed, "\(found.count) of \(expected.count) are there") }
    }
}
