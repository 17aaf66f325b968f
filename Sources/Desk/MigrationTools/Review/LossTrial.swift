import AppMigrations
import GRDB
import SchemaMigrations

/// Finds out what a migration loses, without reading its words.
///
/// It exchanges the values of a column between two rows before the migration. If the database is the same afterwards,
/// nothing remembers which row had which value, so they are lost. It leaves out one row, and then another one: if both
/// databases end alike, the row is lost.
struct LossTrial {
    /// A database that has every migration before this one.
    private(set) var database: DatabaseQueue
    /// The migrations, of which this one checks no foreign keys if none are enforced while it runs.
    let migrator: any MigrationRunner
    let version: SchemaVersion
    private(set) var outline: ScriptOutline
    /// The tables that get rows, and the full-text tables that get texts of their own.
    private(set) var tables: Set<SQLName>
    /// The layouts of the tables, each after those that it refers to.
    private(set) var layouts: [TableLayout]
    /// The tables that the migration leaves alone.
    private(set) var unconcerned: Set<SQLName>
    /// The kinds of values to try.
    private(set) var kinds: [GeneratedRows.Kind]
    /// The files to run, whatever the foreign keys say in the end; empty if the migrator runs what is pending.
    private(set) var scripts: [SQLScript]
    /// The copy in which the last run was, for the next one.
    private let copies = CopyInMemory()

    /// The rows and values of one table that are lost.
    struct Loss {
        private(set) var table: SQLName
        /// The number of rows that were tried.
        let count: Int
        /// The number of rows that are lost.
        var rows = 0
        /// The columns whose values are lost, with the number of rows that lose them.
        var columns: [SQLName: Int] = [:]
        /// The kind of values with which it is lost.
        var kind = GeneratedRows.Kind.natural
        /// True if no row is lost but those that a `DELETE` with a condition names.
        var isAsDeleted = false

        var isWhole: Bool { rows == count }
        var isNothing: Bool { rows == 0 && columns.isEmpty }
        /// True if it is lost whatever the values are; false for a loss of rows with some values alone.
        var isCertain: Bool { GeneratedRows.Kind.suggested.contains(kind) }

        /// Returns the part that no other loss of the table has, as one with a kind of values.
        func without(_ others: [Loss], as kind: GeneratedRows.Kind) -> Loss {
            let others = others.filter { $0.table == table }
            var loss = self
            loss.kind = kind
            if others.contains(where: { $0.rows > 0 }) { loss.rows = 0 }
            loss.columns = columns.filter { column, _ in
                !others.contains { $0.isWhole || $0.columns[column] != nil }
            }
            return loss
        }

        /// Returns the part that is lost in two trials.
        func intersection(_ other: Loss) -> Loss {
            // Of rows that are kept, values may be lost.
            var loss = isWhole || rows > 0 && other.rows == 0 ? other : self
            loss.kind = kind
            if isWhole || other.isWhole || rows > 0 && other.rows == 0 { return loss }
            loss.columns = columns.filter { other.columns[$0.key] != nil }
            return loss
        }

        /// Returns the loss with other names.
        ///
        /// - Parameter names: the other names of columns.
        func renamed(_ table: SQLName, _ names: [SQLName: SQLName]) -> Loss {
            var loss = self
            loss.table = table
            loss.columns = Dictionary(
                columns.map { (names[$0] ?? $0, $1) }, uniquingKeysWith: { $1 })
            loss.kind =
                switch kind {
                case .null(let column, _, let others):
                    .null(names[column] ?? column, of: table, among: others)
                case .long(let column, let length): .long(names[column] ?? column, length)
                default: kind
                }
            return loss
        }

        /// Returns the part that is lost of rows that were there before an earlier file, too; nil if there is none.
        func remainder(_ earlier: Loss) -> Loss? {
            var loss = intersection(earlier)
            loss.kind = earlier.isCertain ? kind : earlier.kind
            if earlier.rows > 0 { loss.rows = min(loss.rows, earlier.rows) }
            // With some values alone, fewer rows lose theirs.
            if !earlier.isCertain {
                for column in loss.columns.keys { loss.columns[column] = earlier.columns[column] }
            }
            loss.isAsDeleted = earlier.isAsDeleted
            return loss.isNothing ? nil : loss
        }
    }

    /// The result for all tables.
    struct Judgement {
        /// The tables of which rows were accepted.
        var tables: Set<SQLName> = []
        /// The tables that accepted none.
        var refusals: [TableFilling.Refusal] = []
        var losses: [Loss] = []
        /// False if the migration fails over more rows than its statements copy, or takes too many steps.
        var hasTriedLimit = true
        /// The failure over two spellings of one text in a unique column.
        var clash: MigrationError?
    }

    /// Returns a trial of rows that are there before earlier migrations.
    ///
    /// - Parameters:
    ///   - earlier: a database that has the migrations before those.
    ///   - files: the earlier migrations, and this one; empty if not all are files.
    ///   - loss: what is lost of other rows.
    func since(
        _ earlier: DatabaseQueue, _ files: [SQLScript], tables: [TableLayout], for loss: Loss
    ) -> LossTrial {
        var trial = inside(earlier)
        (trial.tables, trial.layouts, trial.scripts) = (Set(tables.map(\.name)), tables, files)
        if loss.isCertain, let outline = ScriptOutline(joining: files) {
            trial.outline = outline
        } else {
            trial.kinds = [loss.kind]
        }
        return trial
    }

    /// Returns the trial in a database with fewer tables.
    func inside(_ database: DatabaseQueue) -> LossTrial {
        var trial = self
        (trial.database, trial.unconcerned) = (database, [])
        return trial
    }

    /// Returns a loss with the answer whether a `DELETE` with a condition accounts for all of its rows.
    ///
    /// - Parameter judge: judges the rows of the table in another trial of the same ones.
    func explained(_ loss: Loss, judgedBy judge: (LossTrial) throws -> Judgement) -> Loss {
        guard loss.rows > 0, !loss.isWhole, outline.deletesByCondition else { return loss }
        func losesRows(_ trial: LossTrial?) -> Bool? {
            guard let trial, let judgement = try? judge(trial), judgement.tables.contains(loss.table) else {
                return nil
            }
            return judgement.losses.contains { $0.table == loss.table && $0.rows > 0 }
        }
        var (loss, same) = (loss, self)
        same.kinds = [loss.kind]
        let isNear = outline.deletesByCondition(from: tables(deciding: loss.table))
        loss.isAsDeleted =
            switch losesRows(try? withoutDeletions(for: loss)) {
            case true?: false
            // Without them, nothing is lost. That says something if it is lost with them, in the same trial.
            case false?: isNear || losesRows(same) == true
            // Of a migration in Swift, or one that does not run without them, the words alone tell.
            case nil: isNear || scripts.isEmpty
            }
        return loss
    }

    /// Returns the names of the tables of which a `DELETE` may delete rows of a table, or their copies.
    private func tables(deciding table: SQLName) -> Set<SQLName> {
        var names = outline.names(of: table)
        while true {
            let copies = names.flatMap { name in outline.statements.compactMap { $0.target(of: name) } }
            let parents = layouts.filter { names.contains($0.name) }.flatMap(\.references).map(\.parent)
            let all = (copies + parents).reduce(into: names) { $0.formUnion(outline.names(of: $1)) }
            if all == names { return names }
            names = all
        }
    }

    /// Returns the trial of the files without the statements that delete the rows of a condition; nil if there are none.
    private func withoutDeletions(for loss: Loss) throws -> LossTrial? {
        let others = try scripts.map { try ScriptOutline($0).withoutDeletions() }
        guard others.contains(where: { $0 != nil }) else { return nil }
        var trial = self
        (trial.scripts, trial.kinds) = (zip(others, scripts).map { $0 ?? $1 }, [loss.kind])
        return trial
    }

    /// Runs the migration over rows of several kinds, as often as it takes.
    ///
    /// What is kept with one kind of values is kept: a text that is parsed as a date means nothing if it is none. But a row is
    /// lost if a condition leaves it out for a value that it names.
    ///
    /// - Parameters:
    ///   - known: what is lost of other rows, which alone is tried; nil for everything.
    ///   - subject: the losses to look for.
    /// - Throws: The error over rows as the schema suggests them, if the migration fails with every kind of values;
    ///   `StepLimit.Reached`.
    func judge(
        only known: Loss? = nil, _ subject: RowTrials.Subject = .rowsAndValues
    ) throws -> Judgement {
        let rows = try GeneratedRows(for: tables, layouts, in: database, count: kinds.rowsPerTable)
        // A migration may refuse nulls and repeated values, and run over rows without any.
        let surprising =
            kinds.count > 1 ? try? judge(rows, isSurprising: true, only: known, subject) : nil
        return try surprising ?? judge(rows, isSurprising: false, only: known, subject)
    }

    private func judge(
        _ rows: GeneratedRows, isSurprising: Bool, only known: Loss?, _ subject: RowTrials.Subject
    ) throws -> Judgement {
        var judgement: Judgement?
        var failure: (any Error)?
        var chance: LossOutcome.Chance?
        var first: [Loss]?
        // The kind with which fewest tables lose rows, and fewest columns values: what else is lost then, a condition leaves out.
        var best: (kind: GeneratedRows.Kind, losing: Set<SQLName>, losses: [Loss])?
        let literals = kinds == [.literals] ? outline.conditionLiterals : SQLLiterals(outline.script)
        for kind in kinds {
            let found: RowTrials
            do {
                let changed = rows.of(kind, naming: literals, deciding: outline.conditionValues)
                if let judgement,
                    !judgement.losses.contains(where: { rows.differs(from: changed, in: $0.table) })
                {
                    continue
                }
                found = try RowTrials(
                    self, isSurprising ? changed.surprising : changed,
                    kind.isMany ? .rows : subject,
                    only: judgement?.losses ?? known.map { [$0] }, chance)
                chance = found.chance
            } catch let error as StepLimit.Reached {
                throw error
            } catch {
                failure = failure ?? error
                continue
            }
            let losing = Set(found.judgement.losses.filter { $0.rows > 0 }.map(\.table))
            let losses = found.judgement.losses
            first = first ?? losses
            func columns(_ losses: [Loss]) -> Int { losses.reduce(0) { $0 + $1.columns.count } }
            let isBetter = best.map {
                (losing.count, columns(losses)) < ($0.losing.count, columns($0.losses))
            }
            if isBetter != false { best = (kind, losing, losses) }
            judgement = (judgement ?? found.judgement).intersection(found.judgement)
            if judgement?.losses.isEmpty == true { break }
        }
        if var judgement {
            let certain = Set(judgement.losses.filter { $0.rows > 0 }.map(\.table))
            let best = best ?? (.natural, [], [])
            judgement.losses += try rowsLostByCondition(
                rows, among: (best.kind, best.losing),
                besides: Set((first ?? []).filter { $0.rows > 0 }.map(\.table)),
                isSurprising: isSurprising, chance
            ).filter { !certain.contains($0.table) }
            judgement.losses += try valuesLostByCondition(
                rows, among: best.kind, besides: judgement.losses + (first ?? []), chance)
            judgement.losses += try lostBesideNulls(
                rows, among: best.kind, besides: judgement.losses + best.losses, chance)
            judgement.losses += try lostBeyondLengths(
                rows, besides: judgement.losses + best.losses, chance)
            let beyondLimit = try lostBeyondLimit(
                among: best.kind, besides: judgement.losses, chance)
            judgement.losses += beyondLimit ?? []
            judgement.hasTriedLimit = beyondLimit != nil
            judgement.clash = try clash(over: rows)
            return judgement
        }
        if let failure { throw failure }
        return Judgement()
    }

    /// Returns the rows that are lost if they have values which decide conditions or which a `CHECK` names, if they have the
    /// key of another one, in a table that is merged with theirs or but for its case, if they refer to none, or to the same
    /// one as another, or if none refers to them.
    private func rowsLostByCondition(
        _ rows: GeneratedRows, among best: (kind: GeneratedRows.Kind, losing: Set<SQLName>),
        besides losing: Set<SQLName>, isSurprising: Bool, _ chance: LossOutcome.Chance?
    ) throws -> [Loss] {
        guard kinds.count > 1 else { return [] }
        let (literals, conditions) = (outline.conditionLiterals, outline.conditionValues)
        // With each kind, the tables that lose rows even without such values.
        var all = [conditions, outline.checkValues, outline.jointValues]
            .flatMap { rows.kinds(deciding: $0, among: best.kind) }.map { ($0, best.losing) }
        if !literals.texts.isEmpty || !literals.numbers.isEmpty { all.append((.literals, losing)) }
        if outline.resolvesConflicts { all.append((.twins, losing)) }
        if outline.statements.contains(where: \.changesRows) {
            // Swift may read a key as a UUID.
            all += rows.limitedKinds(deciding: conditions).filter { $0 != .keys || !scripts.isEmpty }
                .map { ($0, losing) }
            all += rows.relatedKinds(among: best.kind).map { ($0, best.losing) }
        }
        let merged = outline.mergedColumns(of: layouts)
        if !merged.isEmpty { all.append((.shared(merged), losing)) }
        var losses: [Loss] = []
        for (kind, losing) in all {
            let known = losing.union(losses.map(\.table))
            let wanted = rows.tables.filter { !known.contains($0.name) }.map {
                Loss(table: $0.name, count: $0.rows.count, rows: $0.rows.count)
            }
            guard !wanted.isEmpty else { continue }
            let changed = rows.of(
                kind, naming: kind == .literals ? literals : SQLLiterals(outline.script), deciding: conditions
            )
            guard rows.tables.contains(where: { rows.differs(from: changed, in: $0.name) }) else { continue }
            do {
                let found = try RowTrials(
                    self, isSurprising ? changed.surprising : changed, .rows, only: wanted,
                    chance?.isEmpty == true ? nil : chance)
                for var loss in found.judgement.losses where loss.rows > 0 {
                    // To delete what no row refers to may be what the file is for.
                    if case .childless = kind, loss.isWhole { continue }
                    loss.kind = kind
                    losses.append(loss)
                }
            } catch let error as StepLimit.Reached {
                throw error
            } catch {
                continue
            }
        }
        return losses
    }

    /// Returns the values of dropped columns that are lost in rows with values which decide conditions.
    private func valuesLostByCondition(
        _ rows: GeneratedRows, among kind: GeneratedRows.Kind, besides known: [Loss],
        _ chance: LossOutcome.Chance?
    ) throws -> [Loss] {
        let columns = droppedColumns(of: rows.tables, besides: known)
        guard kinds.count > 1, !columns.isEmpty else { return [] }
        let (literals, conditions) = (outline.conditionLiterals, outline.conditionValues)
        // An app that moves a value to the row that others refer to has kept it the same in all of them.
        let related = rows.relatedKinds(among: kind).filter { $0 != .siblings(among: kind) }
        let kinds = rows.kinds(deciding: conditions, among: kind) + [.literals] + related
        return try kinds.reduce(into: []) { all, kind in
            let changed = rows.of(kind, naming: literals, deciding: conditions)
            let found = try losses(over: changed, .eachValue, only: columns, chance) ?? []
            all += found.map { $0.without(all, as: kind) }.filter { !$0.columns.isEmpty }
        }
    }

    /// Returns the columns that the file drops, as losses to look for: those that a condition names are copied as it says.
    private func droppedColumns(of tables: [GeneratedRows.Table], besides known: [Loss]) -> [Loss] {
        tables.compactMap { table in
            guard !known.contains(where: { $0.table == table.name && $0.rows > 0 }) else { return nil }
            let dropped = outline.droppedColumns(of: table.name)
            let columns = table.columns.filter { column in
                dropped.contains(column) && !outline.namesInCondition(column)
                    && !known.contains { $0.table == table.name && $0.columns[column] != nil }
            }
            let loss = Loss(table: table.name, count: table.rows.count, columns: columns)
            return loss.isNothing ? nil : loss
        }
    }

    /// Returns what the conditions of the file are of the rows that tell what it loses; nil if it runs over none of them.
    func answers() throws -> [Int: ConditionTrial.Answers]? {
        let rows = try GeneratedRows(for: tables, layouts, in: database)
        let (literals, conditions) = (outline.conditionLiterals, outline.conditionValues)
        let kinds =
            [.natural, .literals] + rows.kinds(deciding: conditions, among: .natural)
            + rows.limitedKinds(deciding: conditions) + rows.relatedKinds(among: .natural)
            + nulls(in: rows, among: .natural).map(\.kind)
        var all: [Int: ConditionTrial.Answers]?
        for kind in kinds {
            let changed = rows.of(kind, naming: literals, deciding: conditions)
            let found = [changed.surprising, changed].firstResult { try? answers(over: $0) }
            if let found { all = (all ?? [:]).merging(found, uniquingKeysWith: ||) }
        }
        return all
    }

    private func answers(over rows: GeneratedRows) throws -> [Int: ConditionTrial.Answers]? {
        let copy = try copies.copy(of: database)
        // A function stays on its connection.
        defer { copies.close() }
        _ = try rows.insert(into: copy)
        return try ConditionTrial(outline).map { conditions in
            try StepLimit.watch(copy) { try copy.writeWithoutTransaction(conditions.run) }
        }
    }

    /// Returns what is lost of rows in which a column is null, though others keep it: `first || ' ' || last` is null then.
    ///
    /// - Parameter known: what is lost of other rows.
    private func lostBesideNulls(
        _ rows: GeneratedRows, among kind: GeneratedRows.Kind, besides known: [Loss],
        _ chance: LossOutcome.Chance?
    ) throws -> [Loss] {
        guard kinds.count > 1 else { return [] }
        var losses: [Loss] = []
        for (table, column, kind) in nulls(in: rows, among: kind) {
            let changed = rows.of(kind, naming: SQLLiterals(outline.script), deciding: ConditionValues())
            let known = known + losses
            let wanted = table.columns.filter { column in
                !known.contains { $0.table == table.name && $0.columns[column] != nil }
            }
            var every = Loss(table: table.name, count: table.rows.count, columns: wanted)
            every.rows = every.count
            do {
                let found = try RowTrials(
                    self, changed, only: [every], chance?.isEmpty == true ? nil : chance, nullIn: column)
                for loss in found.judgement.losses {
                    var added = loss.without(known, as: kind)
                    // Who asks for its values has thought of the rows in which it is null. The other columns have theirs.
                    if outline.asksForValues(of: table.columns[column]) {
                        added.columns[table.columns[column]] = nil
                    }
                    if !added.isNothing { losses.append(added) }
                }
            } catch let error as StepLimit.Reached {
                throw error
            } catch {
                continue
            }
        }
        return losses
    }

    /// Returns the values that are lost if they are longer than the text which a statement copies of them.
    private func lostBeyondLengths(
        _ rows: GeneratedRows, besides known: [Loss], _ chance: LossOutcome.Chance?
    ) throws -> [Loss] {
        guard kinds.count > 1 else { return [] }
        return try outline.cuts.reduce(into: []) { all, cut in
            let kind = GeneratedRows.Kind.long(cut.column, cut.length)
            let changed = rows.of(kind, naming: SQLLiterals([]), deciding: ConditionValues())
            let wanted = rows.tables.filter { rows.differs(from: changed, in: $0.name) }.map {
                Loss(table: $0.name, count: $0.rows.count, columns: [cut.column: $0.rows.count])
            }
            guard !wanted.isEmpty, let found = try losses(over: changed, .rowsAndValues, only: wanted, chance)
            else { return }
            all += found.map { $0.without(known + all, as: kind) }.filter { !$0.columns.isEmpty }
        }
    }

    /// Returns the rows that are lost if a table has more of them than a statement copies; nil if that cannot be found out.
    private func lostBeyondLimit(
        among others: GeneratedRows.Kind, besides known: [Loss], _ chance: LossOutcome.Chance?
    ) throws -> [Loss]? {
        guard kinds.count > 1, let bound = outline.rowBound else { return [] }
        let kind = GeneratedRows.Kind.many(bound + GeneratedRows.rowsPerTable, among: others)
        let rows = try GeneratedRows(for: tables, layouts, in: database, count: [kind].rowsPerTable)
            .of(kind, naming: SQLLiterals(outline.script), deciding: ConditionValues())
        // With so many rows, a join may take too many steps that a few rows allow.
        let found = try? losses(over: rows, .rows, only: nil, chance)
        return found?.map { $0.without(known, as: kind) }.filter { $0.rows > 0 }
    }

    /// Returns what is lost of some rows; nil if the migration fails over them.
    private func losses(
        over rows: GeneratedRows, _ subject: RowTrials.Subject, only wanted: [Loss]?,
        _ chance: LossOutcome.Chance?
    ) throws -> [Loss]? {
        do {
            return try RowTrials(self, rows, subject, only: wanted, chance?.isEmpty == true ? nil : chance)
                .judgement.losses
        } catch let error as StepLimit.Reached {
            throw error
        } catch {
            return nil
        }
    }

    /// Returns the kinds of rows in which one column is null, if the file copies or changes rows and may drop what it has copied.
    private func nulls(
        in rows: GeneratedRows, among kind: GeneratedRows.Kind
    ) -> [(table: GeneratedRows.Table, column: Int, kind: GeneratedRows.Kind)] {
        guard outline.statements.contains(where: \.changesRows),
            outline.statements.contains(where: { $0.dropped("TABLE") != nil || $0.droppedColumn != nil })
        else { return [] }
        let names = outline.names
        let all = rows.tables.filter { names.contains($0.name) }.flatMap { table in
            table.nullable.sorted().map { column in
                (table, column, GeneratedRows.Kind.null(table.columns[column], of: table.name, among: kind))
            }
        }
        return Array(all.prefix(Self.mostNulls))
    }

    /// The number of columns that are null alone.
    private static let mostNulls = 24

    /// Returns why the migration fails if two texts differ only in their case, or in a space at the end, where no other does.
    private func clash(over rows: GeneratedRows) throws -> MigrationError? {
        let mayClash = outline.statements.contains {
            $0.changesRows || $0.tokens.opens(with: "CREATE", "UNIQUE")
        }
        let twins = rows.withTwins(in: [.text])
        guard kinds.count > 1, mayClash, tables.contains(where: { rows.differs(from: twins, in: $0) }) else {
            return nil
        }
        do {
            _ = try run(over: twins)
            return nil
        } catch let error as MigrationError {
            return (try? run(over: rows)) == nil ? nil : error
        } catch let error as StepLimit.Reached {
            throw error
        } catch {
            return nil
        }
    }

    /// Runs a migration in Swift without the check of foreign keys in the end, unless it is to act on them.
    private func runUnchecked(_ copy: DatabaseQueue) throws {
        if outline.script.settings.foreignKeys == .deferred {
            // Then GRDB checks none.
            try copy.inDatabase { try $0.execute(sql: "PRAGMA foreign_keys = OFF") }
        }
        _ = try migrator.run(copy, upTo: version)
    }

    /// Runs the migration over rows in a copy, and reads the tables that it may have changed.
    ///
    /// - Returns: the outcome, and the rows that the schema has accepted.
    func run(over rows: GeneratedRows) throws -> (outcome: LossOutcome, rows: GeneratedRows) {
        var isReusable = false
        defer { if !isReusable { copies.close() } }
        let copy = try copies.copy(of: database)
        let accepted = try rows.insert(into: copy)
        try StepLimit.watch(copy) {
            if scripts.isEmpty { return try runUnchecked(copy) }
            try copy.writeWithoutTransaction { db in
                for script in scripts { try script.runUnchecked(db) }
            }
        }
        return try copy.writeWithoutTransaction { db in
            db.clearSchemaCache()
            let outcome = try LossOutcome(db, without: unconcerned)
            isReusable = !scripts.isEmpty && scripts.allSatisfy(\.changesOnlyDatabase)
            return (outcome, accepted)
        }
    }
}

extension MigrationRunner {
    /// Returns the migrations, of which one in Swift checks no foreign keys in the end.
    func unchecked(_ version: SchemaVersion) throws -> any MigrationRunner {
        guard let all = self as? SchemaMigrator else { return self }
        return try SchemaMigrator(
            migrations: all.migrations.map { $0.version == version ? $0.unchecked : $0 }, options: all.options
        )
    }
}

extension SchemaMigration {
    /// The migration, of whose rows none is checked in the end; itself if it is a file.
    fileprivate var unchecked: any SchemaMigration {
        self is any SQLSource
            ? self : CodeMigration(version, name, foreignKeys: .unchecked) { try migrate($0) }
    }
}

extension LossTrial.Loss {
    /// Creates the loss of the values of some columns, in every row.
    init(table: SQLName, count: Int, columns: [SQLName]) {
        self.init(
            table: table, count: count,
            columns: Dictionary(columns.map { ($0, count) }, uniquingKeysWith: { $1 }))
    }
}

extension [LossTrial.Loss] {
    /// Returns the parts that are lost of rows that were there before an earlier file, too.
    func remainders(_ earlier: [LossTrial.Loss]) -> [LossTrial.Loss] {
        reduce(into: []) { all, loss in
            for earlier in earlier {
                guard let both = loss.remainder(earlier) else { continue }
                let added = both.without(all, as: both.kind)
                if !added.isNothing { all.append(added) }
            }
        }
    }
}

extension LossTrial.Judgement {
    /// Returns the judgement without what another kind of values keeps.
    ///
    /// A table of which no such row was accepted keeps nothing.
    fileprivate func intersection(_ other: Self) -> Self {
        let losses = losses.compactMap { loss in
            guard other.tables.contains(loss.table) else { return loss }
            return other.losses.first { $0.table == loss.table }.map(loss.intersection)
        }
        return Self(
            tables: tables.union(other.tables),
            refusals: refusals.filter { !other.tables.contains($0.table) },
            losses: losses.filter { !$0.isNothing })
    }
}

extension [GeneratedRows.Kind] {
    /// The number of rows of a table.
    fileprivate var rowsPerTable: Int {
        if case .many(let count, _) = first { count } else { GeneratedRows.rowsPerTable }
    }
}

extension GeneratedRows.Kind {
    /// True for so many rows that to exchange the values of each two takes minutes.
    var isMany: Bool { if case .many = self { true } else { false } }
}

extension SQLScript {
    /// True if the file leaves nothing on its connection: no setting, temporary table or attached database.
    fileprivate var changesOnlyDatabase: Bool {
        !hasPragmas && !attaches
            && !statements.contains { statement in
                tokens(of: statement).contains { ["temp", "temporary"].contains($0.name) }
            }
    }

    /// Runs the statements as the migrator does, but for the check of foreign keys in the end.
    func runUnchecked(_ db: Database) throws {
        try db.execute(sql: "PRAGMA foreign_keys = \(settings.foreignKeys == .immediate ? "ON" : "OFF")")
        guard settings.transaction == .wrapped else { return try run(db, fixing: "") }
        try db.inTransaction {
            try run(db, fixing: "")
            return .commit
        }
    }
}
