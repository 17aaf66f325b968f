import MigrationTesting
import MigrationTools

/// The bytes of a file that is being damaged.
struct DamagedPages {
    var input: SalvageInput
    let template: SalvageTemplate
    var random: RandomNumbers

    private var size: Int { template.shape.pageSize }
    private var count: Int { input.files.main.count / size }

    // MARK: Which page

    /// A page behind the first one, by chance.
    mutating func anyPage() -> Int { count > 1 ? Int.random(in: 2...count, using: &random) : 1 }

    /// A leaf of one of the app's tables, or else another page of a tree, if possible one that no journal has.
    mutating func leaf() -> Int {
        let names = template.tables.compactMap { $0.name(at: input.version) }
        let leaves = names.flatMap { input.map?.trees[$0]?.leaves.map(\.number) ?? [] }
        let pages = (input.map?.trees.values.flatMap(\.pages) ?? []).sorted()
        let choices = [leaves, pages].map { $0.filter { $0 > 1 && !input.overlaid.contains($0) } }
        return (choices.first { !$0.isEmpty } ?? leaves).randomElement(using: &random) ?? anyPage()
    }

    // MARK: Pages

    mutating func zero(_ range: Range<Int>) {
        for index in range.clamped(to: 0..<input.files.main.count) { input.files.main[index] = 0 }
    }

    mutating func zero(_ page: Int) { zero((page - 1) * size..<page * size) }

    /// Zeroes every page of tables.
    mutating func zero(_ tables: [String]) {
        for table in tables { for page in input.map?.trees[table]?.pages ?? [] { zero(page) } }
    }

    mutating func zeroAfterFirst() { zero(size..<input.files.main.count) }

    mutating func noise(at start: Int, count: Int) {
        for index in (start..<start + count).clamped(to: 0..<input.files.main.count) {
            input.files.main[index] = UInt8.random(in: 0...255, using: &random)
        }
    }

    mutating func swap() {
        input.isSwapped = true
        let (first, second) = (anyPage(), anyPage())
        let (one, two) = ((first - 1) * size..<first * size, (second - 1) * size..<second * size)
        let bytes = Array(input.files.main[one])
        input.files.main.replaceSubrange(one, with: Array(input.files.main[two]))
        input.files.main.replaceSubrange(two, with: bytes)
    }

    mutating func tear(_ damage: PageDamage) {
        let total = input.files.main.count
        switch damage {
        case .bits:
            for _ in 0..<Int.random(in: 1...20, using: &random) where total > 101 {
                input.files.main[Int.random(in: 100..<total, using: &random)] ^=
                    1 << UInt8.random(in: 0..<8, using: &random)
            }
        case .truncated:
            input.files.main.removeLast(Int.random(in: 1..<max(2, total * 2 / 3), using: &random))
        default:
            let sector = damage == .tornSectors ? 512 : 4_096
            for _ in 0..<3 {
                let start = Int.random(in: 1..<max(2, total / sector), using: &random) * sector
                if start + sector <= total { noise(at: start, count: sector) }
            }
        }
    }

    /// Replaces two neighboring leaves by what they were earlier, with the rows that were there.
    mutating func replaceLeaves() {
        guard let older = input.older else { return }
        let tables = template.tables.filter { $0.hasRowid && !$0.isVirtual }
        let candidates = tables.flatMap { table in
            let leaves = input.map?.trees[table.name(at: input.version) ?? ""]?.leaves ?? []
            return zip(leaves, leaves.dropFirst()).filter { pair in
                [pair.0.number, pair.1.number].contains { page in
                    page * size <= older.count && older[pageRange(page)] != input.files.main[pageRange(page)]
                }
            }.map { (table, [$0, $1]) }
        }
        // Only an index shows that a row has another value.
        let indexed = candidates.filter { $0.0.mark == "note" }
        let preferred = indexed.isEmpty || random.chance(30) ? candidates : indexed
        guard let (table, leaves) = preferred.randomElement(using: &random) else { return }
        for leaf in leaves where leaf.number * size <= older.count {
            input.files.main.replaceSubrange(pageRange(leaf.number), with: older[pageRange(leaf.number)])
        }
        let free = input.map?.free(in: older, template.shape) ?? []
        input.hasOlderFreePage = leaves.contains { free.contains($0.number) }
        // The keys between the rows before and behind the two leaves.
        input.truth.earlierKeys = [table.mark: input.keys(of: table, around: leaves)]
    }

    private func pageRange(_ page: Int) -> Range<Int> { (page - 1) * size..<page * size }

    // MARK: Fields

    /// Lets the list of free pages lead back to its first page, or to a page that is in use.
    mutating func breakFreelist() {
        let trunk = input.files.main[32..<36].reduce(0) { $0 << 8 | Int($1) }
        guard trunk > 0, trunk <= count else { return noise(at: 36, count: 4) }
        write(Bool.random(using: &random) ? trunk : anyPage(), at: (trunk - 1) * size, bytes: 4)
    }

    private mutating func write(_ value: Int, at place: Int, bytes: Int) {
        for index in 0..<bytes {
            input.files.main[place + index] = UInt8(value >> (8 * (bytes - 1 - index)) & 0xff)
        }
    }

    /// Sets one field of the header (fileformat2.html, 1.3) to a value that it may have, but does not.
    mutating func setField(_ field: PageDamage) {
        guard input.files.main.count >= 100 else { return }
        switch field {
        case .magic: Bool.random(using: &random) ? zero(0..<16) : noise(at: 0, count: 16)
        case .pageSize:
            let sizes = (9...16).map { 1 << $0 }.filter { $0 != size }
            let other = random.pick(sizes)
            write(other == 65_536 ? 1 : other, at: 16, bytes: 2)
        case .reserved:
            write(
                random.pick([0, 4, 8, 12, 32, 40].filter { $0 != template.shape.reserved }), at: 20, bytes: 1)
        case .encoding:
            let number = Int(input.files.main[59])
            write(random.pick([1, 2, 3, 0].filter { $0 != number }), at: 56, bytes: 4)
        case .pageCount:
            write(random.pick([0, 1, max(1, count / 2), count + 3, 0x7fff_ffff]), at: 28, bytes: 4)
        case .versions:
            write(random.pick([0, 1, 2, 3, 9]), at: 18, bytes: 1)
            write(random.pick([0, 1, 2, 3, 9]), at: 19, bytes: 1)
        default:
            write(random.pick([0, 2, 5, count]), at: 52, bytes: 4)
            write(random.pick([0, 1]), at: 64, bytes: 4)
        }
    }
}
