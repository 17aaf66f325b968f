import GRDB
import SchemaMigrations

/// The trials over rows of one kind.
struct RowTrials {
    /// The losses to look for.
    enum Subject {
        case rows, rowsAndValues
        /// The value of each row by itself, as where only a few rows lose theirs.
        case eachValue
    }

    private let trial: LossTrial
    private let subject: Subject
    private let rows: GeneratedRows
    private let base: LossOutcome
    /// The columns that chance or time fills.
    let chance: LossOutcome.Chance
    /// The column that is null in the only rows to judge; nil to judge all.
    private let null: Int?
    private(set) var judgement = LossTrial.Judgement()

    /// - Parameters:
    ///   - found: what is lost with other kinds of values, which alone is tried; nil for everything.
    ///   - known: the columns that chance or time fills; nil to find them out.
    ///   - null: the column that is null in the only rows to judge; nil to judge all.
    init(
        _ trial: LossTrial, _ rows: GeneratedRows, _ subject: Subject = .rowsAndValues,
        only found: [LossTrial.Loss]?, _ known: LossOutcome.Chance?, nullIn null: Int? = nil
    ) throws {
        self.trial = trial
        self.subject = subject
        self.null = null
        let (outcome, rows) = try trial.run(over: rows)
        self.rows = rows
        judgement.tables = Set(rows.tables.filter { !$0.rows.isEmpty }.map(\.name))
        judgement.refusals = rows.refusals
        let tables = rows.tables.filter { table in
            !table.rows.isEmpty && found?.contains { $0.table == table.name } != false
        }
        let dropped = trial.outline.droppedTables
        let kept = Dictionary(
            tables.map { ($0.name, outcome.keeps($0, dropping: dropped)) },
            uniquingKeysWith: { $1 })
        guard tables.contains(where: { kept[$0.name]?.isAll == false }) else {
            (base, chance) = (outcome, LossOutcome.Chance())
            return
        }
        var again = outcome
        // Of few values, chance may choose the same ones again.
        for _ in 0..<(trial.outline.usesChance ? 8 : 1) where known?.isEmpty != true && again == outcome {
            again = try trial.run(over: rows).outcome
        }
        chance = outcome.differences(from: again, of: rows.values, besides: known)
        base = outcome.replacing(chance)
        for table in tables {
            guard let kept = kept[table.name], !kept.isAll else { continue }
            let earlier = found?.first { $0.table == table.name }
            let loss = try loss(of: table, kept, earlier)
            if !loss.isNothing { judgement.losses.append(loss) }
        }
    }

    private func loss(
        of table: GeneratedRows.Table, _ kept: LossOutcome.Kept, _ earlier: LossTrial.Loss?
    ) throws -> LossTrial.Loss {
        var loss = LossTrial.Loss(table: table.name, count: table.rows.count)
        var lost: Set<Int> = []
        if !kept.rows, earlier?.rows != 0 {
            lost = try lostRows(of: table)
            loss.rows = lost.count
        }
        guard !loss.isWhole, subject != .rows else { return loss }
        let present = judged(of: table).filter { !lost.contains($0) }
        // To exchange the keys of two rows is to exchange everything else.
        let isKey = { (group: [Int]) in group.contains(where: table.key.contains) }
        let groups = table.groups.filter { !isKey($0) } + table.groups.filter(isKey)
        for group in groups where !group.allSatisfy(kept.columns.contains) {
            let others = table.columns.indices.filter { !table.key.contains($0) }
            // Two rows that are null in a column are alike where only that one is kept of them.
            if isKey(group), null != nil { continue }
            if isKey(group), !others.isEmpty, others.allSatisfy({ loss.columns[table.columns[$0]] != nil }) {
                continue
            }
            let names = group.map { table.columns[$0] }
            // What is kept with other values is kept, unless these keep whole rows.
            if let earlier, earlier.rows == 0 || null != nil || loss.rows > 0 && !earlier.isWhole,
                names.allSatisfy({ earlier.columns[$0] == nil })
            {
                continue
            }
            let count =
                subject == .eachValue
                ? try valuesLostAlone(of: group, in: table, present)
                : try lostValues(of: group, in: table, present, isFirst: earlier == nil)
            if count > 0 { for name in names { loss.columns[name] = count } }
        }
        return loss
    }

    /// Returns the outcome over other rows; nil if the migration fails over them.
    private func outcome(over rows: GeneratedRows) throws -> LossOutcome? { try run(over: rows)?.outcome }

    /// Returns the outcome over other rows, and those that the schema has accepted; nil if the migration fails over them.
    private func run(over rows: GeneratedRows) throws -> (outcome: LossOutcome, rows: GeneratedRows)? {
        do {
            let (outcome, accepted) = try trial.run(over: rows)
            return (outcome.replacing(chance), accepted)
        } catch let error as StepLimit.Reached {
            throw error
        } catch {
            return nil
        }
    }

    /// Returns the rows to judge.
    private func judged(of table: GeneratedRows.Table) -> [Int] {
        table.rows.indices.filter { row in null.map { table.rows[row][$0].isNull } != false }
    }

    private func lostRows(of table: GeneratedRows.Table) throws -> Set<Int> {
        let judged = judged(of: table)
        // Without a row, those that refer to it would refer to nothing.
        guard let referring = rows.referringToFirst(of: table.name) else {
            return try lostRows(of: table, among: judged, rows, base)
        }
        guard let base = try outcome(over: referring) else {
            // It fails where several refer to one row: those are judged to which none refers.
            let free = rows.unreferredRows(of: table.name)
            return try lostRows(of: table, among: judged.filter(free.contains), rows, self.base)
        }
        return try lostRows(of: table, among: judged, referring, base, areReferring: true)
    }

    /// - Parameter areReferring: whether other rows refer to the first one, which cannot be left out.
    private func lostRows(
        of table: GeneratedRows.Table, among judged: [Int], _ all: GeneratedRows, _ base: LossOutcome,
        areReferring: Bool = false
    ) throws -> Set<Int> {
        let isSample = judged.count > 2 * GeneratedRows.rowsPerTable
        // A limit leaves out the first rows or the last.
        let some = isSample ? judged.prefix(4) + judged.suffix(4) : judged[...]
        let tried = some.filter { !areReferring || $0 > 0 }
        // Of a table that is emptied, all are lost at once.
        let isEmptied =
            try !isSample && tried.count > 2
            && outcome(over: all.leavingOut(Set(tried), of: table.name)) == base
        var lost = tried
        if !isEmptied {
            let without = try tried.map { try outcome(over: all.leavingOut($0, of: table.name)) }
            let found = Array(zip(tried, without))
            lost = found.filter { row, outcome in
                outcome != nil
                    && (outcome == base || found.contains { $1 == outcome && table.differ($0, row) })
            }.map(\.0)
        }
        guard lost.count == tried.count, !tried.isEmpty, judged.count == table.rows.count, !isSample else {
            return Set(lost)
        }
        // The row to which the others refer may be there for that reason.
        if areReferring, var first = all.table(table.name) {
            first.rows = Array(first.rows.prefix(1))
            if base.keeps(first, dropping: trial.outline.droppedTables).isAll { return Set(lost) }
        }
        return Set(table.rows.indices)
    }

    /// Returns the number of rows that lose their values in some columns.
    ///
    /// - Parameter isFirst: whether to count them all, and not only to tell if there are any.
    private func lostValues(
        of columns: [Int], in table: GeneratedRows.Table, _ present: [Int], isFirst: Bool
    ) throws -> Int {
        var lost: Set<Int> = []
        // Neighbours, and then rows of which one stands between them: a condition may spare every other row.
        for distance in [1, 2] where lost.isEmpty {
            let pairs = present.indices
                .filter { $0 + distance < present.count && $0 / distance % 2 == 0 }
                .map { (present[$0], present[$0 + distance]) }
            if isFirst, let all = try lostAtOnce(columns, pairs, of: table) { return all.count }
            for (first, second) in pairs {
                guard let changed = rows.exchanging(columns, first, second, of: table.name),
                    let found = try outcome(over: changed), found == base
                else { continue }
                lost.formUnion([first, second])
                if !isFirst { return lost.count }
            }
        }
        return lost.isEmpty ? try lostValue(of: columns, in: table, present) : lost.count
    }

    /// Gives each row the value of another one.
    ///
    /// - Returns: the number of rows of which nothing shows it.
    private func valuesLostAlone(
        of columns: [Int], in table: GeneratedRows.Table, _ present: [Int]
    ) throws -> Int {
        guard columns.count == 1 else { return 0 }
        return try zip(present, present.dropFirst() + present.prefix(1)).count { row, other in
            let value = table.rows[other][columns[0]]
            guard value != table.rows[row][columns[0]] else { return false }
            let changed = rows.setting(columns[0], to: value, in: row, of: table.name)
            guard let (outcome, accepted) = try run(over: changed),
                accepted.table(table.name)?.rows.count == table.rows.count
            else { return false }
            return outcome == base
        }
    }

    /// Gives one row another value where all have the same one, as where a `CHECK` knows few.
    ///
    /// - Returns: the number of rows, if nothing shows that the value has changed.
    private func lostValue(
        of columns: [Int], in table: GeneratedRows.Table, _ present: [Int]
    ) throws -> Int {
        guard columns.count == 1, let row = present.first, present.count == table.rows.count,
            !table.key.contains(columns[0])
        else { return 0 }
        let value = table.rows[row][columns[0]]
        guard present.allSatisfy({ table.rows[$0][columns[0]] == value }) else { return 0 }
        for other in table.others(than: value, in: columns[0]) {
            let changed = rows.setting(columns[0], to: other, in: row, of: table.name)
            guard let (outcome, accepted) = try run(over: changed),
                accepted.table(table.name)?.rows.count == table.rows.count
            else { continue }
            return outcome == base ? present.count : 0
        }
        return 0
    }

    /// Exchanges the values of every pair of rows in one trial.
    ///
    /// - Returns: the rows of the pairs, if nothing shows that their values were exchanged; none, if each row shows it;
    ///   nil, if it takes a trial for each pair.
    private func lostAtOnce(
        _ columns: [Int], _ pairs: [(Int, Int)], of table: GeneratedRows.Table
    ) throws -> Set<Int>? {
        var (all, changed): (GeneratedRows, Set<Int>) = (rows, [])
        for (first, second) in pairs {
            guard let next = all.exchanging(columns, first, second, of: table.name) else { continue }
            all = next
            changed.formUnion([first, second])
        }
        guard !changed.isEmpty, let found = try outcome(over: all) else { return nil }
        if found == base { return changed }
        return base.differs(from: found, inEachOf: changed, of: table) ? [] : nil
    }
}
