// Judges the rows of a new database, and those that it lacks.
extension SalvageJudge {
    func judgeRows(_ rows: SalvageSnapshot, _ verdict: inout SalvageVerdict) {
        var hidden = 0
        var example = ""
        for (table, key, row) in rows.entries {
            switch input.truth.judge(row, key, in: table) {
            case .right, .earlier:
                verdict.right += 1
                continue
            case .deletedEarlier: continue
            case _ where isPending(row, in: table): continue
            case _ where mayBePutBack(row, key, in: table) && !isTwice(row, key, rows.tables[table] ?? [:]):
                verdict.seeds += 1
                continue
            case .gone(.deleted) where mayComeBack: hidden += 1
            case .gone(let fate): verdict.add(Self.kind(of: fate), "\(table) \(row)")
            case .unknown: judgeUnknown(row, key, in: table, &hidden, &verdict)
            }
            verdict.changed += 1
            if hidden > 0, example.isEmpty || "\(table) \(row)" < example { example = "\(table) \(row)" }
        }
        // What nothing in the file shows, `.recover` does not see either.
        if let recovered = verdict.recovered, hidden > recovered.wrong, !verdict.kind.page.changesValues {
            verdict.add(.moreChanged, "\(hidden), as \(example), and .recover \(recovered.wrong)")
        }
    }

    private static func kind(of fate: SalvagePast.Fate) -> SalvageFault.Kind {
        switch fate {
        case .deleted: .deletedRow
        case .changed: .replacedRow
        case .uncommitted: .uncommittedRow
        case .lost: .lostTransaction
        case .foreign: .foreignDatabase
        }
    }

    private func judgeUnknown(
        _ row: SalvageRow, _ key: SalvageRow, in table: String, _ hidden: inout Int,
        _ verdict: inout SalvageVerdict
    ) {
        let was = input.truth.rows[table, key].map { "\($0)" } ?? "no such row"
        let detail = "\(table) has \(row), and had \(was)"
        if let other = owner(of: row), other != table {
            verdict.add(other == "foreign" ? .foreignDatabase : .foreignRow, detail)
        } else if endsInZeros(row, key, in: table) {
            return
        } else if mayGoOnElsewhere(row, key, in: table) || hasOtherRoot(table) {
            hidden += 1
        } else if !verdict.kind.page.changesValues {
            verdict.add(.unknownRow, detail)
        }
    }

    /// The table that a row names in one of its texts, or that of a manager, whose texts are documents in JSON.
    private func owner(of row: SalvageRow) -> String? {
        for case .text(let bytes) in row {
            if bytes.starts(with: "{\"".utf8) { return "app_migrations" }
            guard let end = bytes.firstIndex(of: UInt8(ascii: "#")) else { continue }
            let mark = String(decoding: bytes[..<end], as: UTF8.self)
            if mark == "foreign" || template.tables.contains(where: { $0.mark == mark }) { return mark }
        }
        return nil
    }

    // MARK: What nothing in the file shows

    /// True if a page of deleted rows has changed places with another one or was put back in the place of a leaf, or if
    /// neither the header nor the list of free pages says that it is one.
    private var mayComeBack: Bool {
        guard let map = input.map else { return false }
        if input.hasOlderFreePage { return true }
        let isMoved = !map.free.union(map.trunks).isDisjoint(with: input.touched)
        let isUnlisted = input.touched.contains(1) && !map.trunks.isDisjoint(with: input.touched)
        return isUnlisted || isMoved && input.isSwapped
    }

    /// True if the damage has hit the pages on which a row goes on, or has brought a page back from which it goes on to pages
    /// that are another row's since.
    ///
    /// Nothing on such a page says whose it is (fileformat2.html, 1.6), or what was on it. Where an old journal mixes pages of
    /// several states, these can be the pages of every row that is too long for one.
    private func mayGoOnElsewhere(_ row: SalvageRow, _ key: SalvageRow, in table: String) -> Bool {
        if input.map == nil {
            return template.shape.isTooLong(
                row, hasRowid: template.tables.first { $0.mark == table }?.hasRowid ?? true)
        }
        let name = template.tables.first { $0.mark == table }?.name(at: input.version) ?? table
        guard let tree = input.map?.trees[name] ?? input.map?.trees["\(name)_content"] else { return false }
        let chains = tree.leaves.flatMap(\.rows).filter { [.integer($0.id)] == key }.map(\.chain)
        let pages = chains.isEmpty ? tree.overflow : Set(chains.joined())
        let isEarlier = input.truth.earlierKeys?[table]?.contains(key) == true
        return !pages.isDisjoint(with: input.touched) || isEarlier && !pages.isEmpty
    }

    /// True if a row is as it was up to the zeros at its end, and a page is zeroed on which rows of the table go on.
    ///
    /// A row's last page begins with a zero, as no other follows, and what it holds may be zeros (fileformat2.html, 1.6):
    /// `integrity_check` finds no fault in such a page, and `.recover` reads the zeros, too, if it can read the schema.
    private func endsInZeros(_ row: SalvageRow, _ key: SalvageRow, in table: String) -> Bool {
        guard let kind = template.tables.first(where: { $0.mark == table }), let map = input.map,
            let was = input.truth.rows[table, key]
        else { return false }
        let overflow = map.trees[kind.name(at: input.version) ?? table]?.overflow ?? []
        let main = input.files.main
        let isZeroed = overflow.intersection(input.touched).contains { page in
            main[map.range(of: page).clamped(to: main.indices)].allSatisfy { $0 == 0 }
        }
        let later = kind.defaults(after: input.version).count
        let (old, new) = (was.dropLast(later).flatMap(\.bytes), row.dropLast(later).flatMap(\.bytes))
        let same = zip(old, new).prefix { $0 == $1 }.count
        return isZeroed && old.count == new.count && new[same...].allSatisfy { $0 == 0 }
    }

    /// True if the page that a table begins with has changed places: no parent says what is on it, and short rows of numbers
    /// that name no table may be the table's.
    private func hasOtherRoot(_ table: String) -> Bool {
        let name = template.tables.first { $0.mark == table }?.name(at: input.version) ?? table
        return input.isSwapped && input.map?.trees[name].map { input.touched.contains($0.root) } ?? false
    }

    // MARK: Losses

    func judgeLosses(_ rows: SalvageSnapshot, _ verdict: inout SalvageVerdict) {
        for table in template.tables where table.hasRowid && !table.isVirtual {
            for key in input.reachableKeys(of: table.name(at: input.version) ?? "")
            where rows[table.mark, key] == nil && hasParent(key, of: table, rows) {
                verdict.add(table.hasOddTexts ? .lostText : .lostRow, "\(table.mark) \(key)")
            }
        }
        if let recovered = verdict.recovered, recovered.right > verdict.right {
            verdict.add(.fewerRows, "\(verdict.right), and .recover has \(recovered.right)")
        }
    }

    /// Returns true if a row refers to no row, or to one that was saved.
    func hasParent(_ key: SalvageRow, of table: SalvageTable, _ rows: SalvageSnapshot) -> Bool {
        guard table.mark == "child", let row = input.truth.rows[table.mark, key] else { return true }
        return rows["twin_a", [row[row.count - 1]]] != nil
    }
}
