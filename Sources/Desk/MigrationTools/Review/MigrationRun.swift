import AppMigrations
import GRDB
import MigrationDiagnostics
import SchemaMigrations
import TextOutput

/// Runs migrations one after the other on an empty database in memory, and judges each.
struct MigrationRun {
    /// The migrations without those that failed.
    private(set) var migrator: any MigrationRunner
    private let database: DatabaseQueue
    /// The migrations that ran, with the schema after each.
    private var looks: [Look] = []
    /// The schema before each file that ran.
    private(set) var schemas: [String: ReviewedSchema] = [:]
    /// The tables of which rows have told what each file loses.
    private(set) var judged: [String: Set<SQLName>] = [:]
    /// The files of the migrations that failed.
    private(set) var failed: [String] = []

    private var synchronized: SynchronizedTables
    /// The stand-ins for what the app adds to SQLite; nil if the app itself runs the migrations.
    private let standIns: StandIns?
    /// The first file that could not be tried; nil if one has failed by its own fault before.
    private var firstUntried: String?

    /// A migration that ran, and the schema after it.
    struct Look {
        let version: SchemaVersion
        let outline: ScriptOutline
        let schema: ReviewedSchema
        /// The names in the statements.
        let names: Set<SQLName>

        init(_ version: SchemaVersion, _ outline: ScriptOutline, _ schema: ReviewedSchema) {
            (self.version, self.outline, self.schema) = (version, outline, schema)
            names = outline.names
        }
    }

    init(
        _ migrator: any MigrationRunner, _ database: DatabaseQueue,
        synchronized: SynchronizedTables = SynchronizedTables(), standIns: StandIns? = nil
    ) {
        self.standIns = standIns
        self.migrator = migrator
        self.database = database
        self.synchronized = synchronized
    }

    /// Runs a migration, and returns what it breaks.
    ///
    /// A migration that fails is left out, and those after it run without it. If one of them fails, too, that may be why,
    /// and says nothing about it.
    ///
    /// - Parameter style: the rows over which it runs.
    mutating func apply(
        _ version: SchemaVersion, _ outline: ScriptOutline, over style: TableFilling.Style = .awkward
    ) -> [ReviewFinding] {
        do {
            let before = try looks.last?.schema ?? database.read { try ReviewedSchema($0) }
            schemas[outline.script.fileName] = before
            let (rows, losses, problems, isPlain) = tryRows(version, outline, before, style)
            // It would run over rows without an end.
            let isStopped = problems.contains { $0.rule == .stepLimit }
            let incompatibility = isStopped ? [] : try incompatibility(version, outline)
            try StepLimit.watch(database, millions: StepLimit.millionsWithoutRows) {
                try outline.locatingFailures { _ = try migrator.run(database, upTo: version) }
            }
            let after = try database.read { try ReviewedSchema($0, since: before) }
            looks.append(Look(version, outline, after))
            judged[outline.script.fileName] = losses?.tables
            let merged = merged(rows, outline, besides: losses?.losses ?? [])
            let old = synchronized.names
            synchronized.add(outline)
            let changed = MigrationComparison(
                outline, from: before, to: after, rows: rows, losses: losses
            ).findings
            let lost =
                losses.map {
                    LossReview(
                        outline, to: after, $0.losses, from: before, besides: isPlain ? changed : nil
                    ).findings
                } ?? []
            let gaps = losses?.refusals.compactMap { gap($0, outline, from: before, to: after) } ?? []
            return problems + gaps + (lost + merged + changed).map { $0.naming(standIns, in: outline) }
                + incompatibility
                + SchemaReview(outline, from: before, to: after).findings
                + SynchronizedReview(outline, synchronized.names, old: old, from: before, to: after).findings
        } catch {
            return leaveOut(version, outline, error)
        }
    }

    /// Returns a finding for each rebuilt table that loses rows by a conflict clause or a `GROUP BY`, because they agree in a part of
    /// their key.
    ///
    /// Rows that differ in every value, of which others are judged, lose none by it.
    private func merged(
        _ rows: RowFacts?, _ outline: ScriptOutline, besides losses: [LossTrial.Loss]
    ) -> [ReviewFinding] {
        guard let rows, !outline.deletesByCondition else { return [] }
        return outline.rebuilds.compactMap { rebuild in
            guard let clause = outline.mergingClause(of: rebuild),
                let (count, kept) = rows.shrunkTables[rebuild.table],
                !losses.contains(where: { $0.table == rebuild.table && $0.rows > 0 })
            else { return nil }
            return finding(
                .lostRows, outline, rebuild.copies.first?.line,
                """
                Rebuilding table \(rebuild.table.text.quoted) loses rows, which \(clause) leaves out: of \
                \(count.counting("generated row")), it keeps \(kept). \(ReviewRule.lostRows.remedy)
                """)
        }
    }

    private mutating func leaveOut(
        _ version: SchemaVersion, _ outline: ScriptOutline, _ error: any Error
    ) -> [ReviewFinding] {
        if let others = migrator.without(version) { migrator = others }
        failed.append(outline.script.fileName)
        if let found = untried(error, outline) {
            if failed.count == 1 { firstUntried = outline.script.fileName }
            return [found]
        }
        if failed.count == 1 { return [failure(error, outline)] }
        return firstUntried.map { [untried(error, outline, without: $0)] } ?? []
    }

    /// Returns a finding if a migration fails in a trial alone: for want of what the app adds to SQLite, or because it reaches for
    /// another database.
    private func untried(_ error: any Error, _ outline: ScriptOutline) -> ReviewFinding? {
        if MigrationError(ofAttaching: error) != nil {
            return finding(
                .untried, outline, (error as? MigrationError)?.line,
                "It was not tried, because it attaches a database, which a trial must not change. \(ReviewRule.stepLimit.remedy)"
            )
        }
        guard let standIns, let part = MissingPart(error, in: outline, standIns) else { return nil }
        return ReviewFinding(
            file: outline.script.fileName, line: (error as? MigrationError)?.line ?? 1, rule: .untried,
            problem: part.problem, reason: "\(part.problem) \(part.remedy)")
    }

    private func untried(
        _ error: any Error, _ outline: ScriptOutline, without other: String
    ) -> ReviewFinding {
        let failure = failure(error, outline)
        return finding(
            .untried, outline, failure.line,
            "It was not tried, because it does not run without \(other), which was not tried: \(failure.reason)"
        )
    }

    private func finding(
        _ rule: ReviewRule, _ outline: ScriptOutline, _ line: Int?, _ reason: String
    ) -> ReviewFinding {
        ReviewFinding(file: outline.script.fileName, line: line ?? 1, rule: rule, reason: reason)
    }

    private func failure(_ error: any Error, _ outline: ScriptOutline) -> ReviewFinding {
        guard let error = error as? MigrationError else {
            return finding(.doesNotApply, outline, (error as? StepLimit.Reached)?.line, "\(error)")
        }
        // SQLite compiles every view and trigger when it renames a table (lang_altertable.html, 2).
        let statement = outline.statements.last { $0.line <= error.line ?? 0 }
        if statement?.rename != nil,
            ["rror in view ", "rror in trigger "].contains(where: error.message.contains)
        {
            return finding(
                .renameFails, outline, error.line,
                "\(error.diagnostic.sentence) \(ReviewRule.renameFails.remedy)")
        }
        let sentence = error.diagnostic.sentence
        guard standIns == nil, let part = MissingPart.title(in: error.message) else {
            return finding(.doesNotApply, outline, error.line, sentence)
        }
        return finding(
            .doesNotApply, outline, error.line,
            "\(sentence) If the app adds \(part), pass the configuration in which it does.")
    }

    /// Finds out whether a file that says so is compatible.
    private func incompatibility(
        _ version: SchemaVersion, _ outline: ScriptOutline
    ) throws -> [ReviewFinding] {
        guard outline.script.settings.isCompatible else { return [] }
        let line = outline.script.comments.first { $0.text.contains("compatible") }?.line
        return try Compatibility.problems(of: database) { _ = try migrator.run($0, upTo: version) }
            .map {
                finding(
                    .notCompatible, outline, line,
                    "An app that does not know this migration cannot use the database: \($0). \(ReviewRule.notCompatible.remedy)"
                )
            }
    }

    // MARK: Rows

    /// Runs a migration over generated rows, in copies.
    ///
    /// - Returns: the effects on awkward rows, what is lost of distinct ones, and what is wrong. The effects and the losses
    ///   are nil if they could not be found out. The last part is true if the effects are those on other rows, because awkward ones make
    ///   the file fail: these may hide that values are overwritten.
    private func tryRows(
        _ version: SchemaVersion, _ outline: ScriptOutline, _ before: ReviewedSchema,
        _ style: TableFilling.Style
    ) -> (facts: RowFacts?, losses: LossTrial.Judgement?, problems: [ReviewFinding], isPlain: Bool) {
        let names = outline.changedNames
        let tables = before.tables(concernedBy: names)
        let indexes = names.filter(before.hasTable)
        guard !tables.isEmpty || !indexes.isEmpty else { return (nil, LossTrial.Judgement(), [], false) }
        let unconcerned = before.tables(unconcernedBy: tables)
        let small = SmallDatabase(of: database, before, without: unconcerned, for: version, of: migrator)
        defer { try? small?.queue.close() }
        let trial = RowTrial(
            database: database, migrator: migrator, version: version,
            renames: ScriptRenames(outline), tables: before.layouts(of: tables, comparedIn: outline),
            values: outline.conditionValues)
        let rows = trial
        var (facts, problems, failure) = facts(trial, small, outline, style)
        let refused = refusedRows(trial, small, outline, style, besides: problems)
        let filled = tables.union(indexes)
        do {
            let isDeferred = outline.script.settings.foreignKeys == .deferred
            let trial = LossTrial(
                database: database, migrator: isDeferred ? try migrator.unchecked(version) : migrator,
                version: version, outline: outline,
                tables: filled, layouts: before.layouts(of: filled, comparedIn: outline),
                unconcerned: unconcerned,
                // Swift that reads a value as another type ends the process.
                kinds: style == .distinct ? [.natural] : GeneratedRows.Kind.suggested,
                scripts: migrator.isFile(version) ? [outline.script] : [])
            var losses = try judge(trial, small)
            let earlier = EarlierFiles(looks: looks, migrator: migrator, trial: trial)
            losses.losses =
                losses.losses.flatMap { loss in
                    earlier.remaining(loss) ?? [
                        trial.explained(loss) { try judge($0, small, only: loss, .rows) }
                    ]
                }
                + outline.lossesHiddenByTriggers(before, besides: losses.losses)
                .filter { losses.tables.contains($0.table) }
                .flatMap { earlier.remaining($0, isHidden: true) ?? [] }
            if case .steps(let line) = failure { problems.append(stopped(outline, at: line)) }
            if problems.isEmpty, migrator.isFile(version) {
                let styles = failure == .other ? Self.plainStyles : [style]
                let judged = [small.map { trial.inside($0.queue) }, trial].compactMap(\.self)
                problems += undecided(rows, small, outline, before, losses.tables, styles) {
                    judged.firstResult { try? $0.answers() }
                }
            }
            if losses.losses.isEmpty {
                problems += outline.untriedBounds(losses.hasTriedLimit).map { untried($0, outline) }
            }
            if let clash = losses.clash.flatMap({ self.clash($0, outline) }),
                !problems.contains(where: { $0.rule == clash.rule })
            {
                problems.append(clash)
            }
            return (facts, losses, problems + refused, failure == .other)
        } catch let stop as StepLimit.Reached {
            return (facts, nil, problems + refused + [stopped(outline, at: stop.line)], false)
        } catch {
            if failure != .orphans, !outline.rebuildsParent(error) {
                if problems.isEmpty, refused.isEmpty {
                    problems.append(untried(error, outline) ?? didNotRun(error, outline))
                } else if let change = outline.statements.first(where: \.changesRows) {
                    // A constraint that no generated rows meet hides what the file loses of an app's.
                    problems.append(unjudged(outline, at: change.line))
                }
            }
            return (facts, nil, problems + refused, false)
        }
    }

    /// Judges a file in a small database if possible: each trial makes a copy of it.
    private func judge(
        _ trial: LossTrial, _ small: SmallDatabase?, only known: LossTrial.Loss? = nil,
        _ subject: RowTrials.Subject = .rowsAndValues
    ) throws -> LossTrial.Judgement {
        guard let small else { return try trial.judge(only: known, subject) }
        do {
            return try trial.inside(small.queue).judge(only: known, subject)
        } catch let error where !(error is StepLimit.Reached) {
            return try trial.judge(only: known, subject)
        }
    }

    private func stopped(_ outline: ScriptOutline, at line: Int?) -> ReviewFinding {
        finding(
            .stepLimit, outline, line,
            """
            Over generated rows, it takes more than \(StepLimit.millions) million steps of SQLite, and was stopped: nobody knows \
            what it does to rows. \(ReviewRule.stepLimit.remedy)
            """)
    }

    private func didNotRun(_ error: any Error, _ outline: ScriptOutline) -> ReviewFinding {
        let failure = error as? MigrationError
        return finding(
            .didNotRun, outline, failure?.line,
            """
            It did not run over generated rows: \(failure?.diagnostic.problem ?? "\(error)"). \(ReviewRule.didNotRun.remedy)
            """)
    }

    /// Returns the schema after a file; nil if it did not run.
    func schema(after file: String) -> ReviewedSchema? {
        looks.last { $0.outline.script.fileName == file }?.schema
    }

    private func unjudged(_ outline: ScriptOutline, at line: Int) -> ReviewFinding {
        finding(
            .untried, outline, line,
            "It fails over every kind of generated rows, so what it loses is unknown. \(ReviewRule.stepLimit.remedy)"
        )
    }

    /// Returns a finding if a file changes the rows of a table of which none could be generated, and no word says what is lost.
    private func gap(
        _ refusal: TableFilling.Refusal, _ outline: ScriptOutline, from before: ReviewedSchema,
        to after: ReviewedSchema
    ) -> ReviewFinding? {
        let change = (outline.rebuilds + outline.redefinitions).first { rebuild in
            guard rebuild.table == refusal.table, let old = before.tables[rebuild.table],
                let new = after.tables[rebuild.table]
            else { return false }
            return !rebuild.keepsAll(of: old, in: new)
        }
        let statement =
            outline.statement(changingRowsOf: refusal.table) ?? change?.copies.first ?? change?.creation
        guard let statement else { return nil }
        // A default may call a function of the app's.
        let part = standIns.flatMap { MissingPart(refusal.reason, in: outline, $0) }
        return finding(
            .untried, outline, statement.line,
            """
            It was not tried on rows of table \(refusal.table.text.quoted), of which none could be generated: \(refusal.reason). \
            \(part?.remedy ?? ReviewRule.stepLimit.remedy)
            """)
    }

    /// Returns a finding for each statement whose condition no generated row meets, or every one, so that no row tells what the
    /// statement loses.
    private func undecided(
        _ trial: RowTrial, _ small: SmallDatabase?, _ outline: ScriptOutline, _ before: ReviewedSchema,
        _ judged: Set<SQLName>, _ styles: [TableFilling.Style],
        ofJudgedRows judgedRows: () -> [Int: ConditionTrial.Answers]?
    ) -> [ReviewFinding] {
        let wanted = outline.statements.indices.compactMap { index in
            outline.decisiveAnswer(at: index, before, judged: judged).map { (index, $0) }
        }
        guard !wanted.isEmpty, let conditions = ConditionTrial(outline) else { return [] }
        let trials = [small.map { trial.inside($0.queue, $0.migrator) }, trial].compactMap(\.self)
        func answers(_ conditions: ConditionTrial) -> [Int: ConditionTrial.Answers]? {
            styles.firstResult { style in
                trials.firstResult { try? $0.answers(conditions, over: style) }
            }
        }
        let all = answers(conditions)
        // A copy tells what it leaves out of the rows that are judged.
        let left = wanted.contains { !$0.1 } ? judgedRows() : nil
        return wanted.compactMap { index, wanted in
            guard conditions.statements.contains(index) else { return nil }
            // A condition that cannot be noted is no reason to be silent about the others.
            let found = all ?? ConditionTrial(outline, at: index).flatMap(answers)
            guard let found else {
                return undecided(index, outline, "It is not known which generated rows meet the WHERE.")
            }
            var answer = found[index] ?? ConditionTrial.Answers()
            if !wanted, let left {
                let isPlain = outline.statements[index].hasPlainCondition
                answer.isFalse = left[index]?.isFalse == true && (isPlain || answer.isFalse)
            }
            guard !(wanted ? answer.isTrue : answer.isFalse) else { return nil }
            let problem =
                wanted
                ? "No generated row meets the WHERE, so nothing shows what the statement changes."
                : "Every generated row meets the WHERE, so nothing shows what the statement leaves out."
            return undecided(index, outline, problem)
        }
    }

    private func untried(
        _ bound: (statement: ScriptOutline.Statement, count: Int), _ outline: ScriptOutline
    ) -> ReviewFinding {
        finding(
            .untried, outline, bound.statement.line,
            """
            It copies at most \(bound.count.counting("row")), and no table was given as many, so nothing shows what the statement \
            leaves out. \(ReviewRule.stepLimit.remedy)
            """)
    }

    private func undecided(_ index: Int, _ outline: ScriptOutline, _ problem: String) -> ReviewFinding {
        finding(
            .untried, outline, outline.statements[index].line, "\(problem) \(ReviewRule.stepLimit.remedy)")
    }

    /// What goes wrong over awkward rows.
    private enum Failure: Equatable {
        case orphans
        case steps(line: Int?)
        case other
    }

    /// Returns the effects on awkward rows, and the constraints that they break.
    private func facts(
        _ trial: RowTrial, _ small: SmallDatabase?, _ outline: ScriptOutline, _ style: TableFilling.Style
    ) -> (facts: RowFacts?, problems: [ReviewFinding], failure: Failure?) {
        // What fails there may miss a table.
        if let small, let facts = try? trial.inside(small.queue, small.migrator).run(over: style) {
            return (facts, [], nil)
        }
        do {
            return (try outline.locatingFailures { try trial.run(over: style) }, [], nil)
        } catch let error as MigrationError {
            let problem = brokenConstraint(error, outline)
            guard problem?.rule == .orphans else {
                return (plainFacts(trial), problem.map { [$0] } ?? [], .other)
            }
            let facts = try? trial.run(over: style, unchecked: outline.script)
            // Rows refer to missing rows as well if the rows that they refer to have got other keys.
            let isRenumbered = facts?.changedColumns.contains { $0.renumberedParent != nil } == true
            return (facts, isRenumbered ? [] : problem.map { [$0] } ?? [], .orphans)
        } catch {
            let stop = error as? StepLimit.Reached
            return (plainFacts(trial), [], stop.map { .steps(line: $0.line) } ?? .other)
        }
    }

    /// Returns the problem of rows with values that a new `CHECK` refuses, and which awkward rows do not have.
    private func refusedRows(
        _ trial: RowTrial, _ small: SmallDatabase?, _ outline: ScriptOutline, _ style: TableFilling.Style,
        besides problems: [ReviewFinding]
    ) -> [ReviewFinding] {
        guard style == .awkward, !problems.contains(where: { $0.rule == .newCheck }) else { return [] }
        let values = [outline.checkValues, outline.jointValues].filter { !$0.isEmpty }
        return values.firstResult { values in
            let found = facts(trial.including(values), small, outline, .deciding).problems
                .filter { $0.rule == .newCheck }
            return found.isEmpty ? nil : found
        } ?? []
    }

    /// The rows to run over where awkward ones make a migration fail.
    private static let plainStyles = [TableFilling.Style.documents, .deciding, .distinct]

    private func plainFacts(_ trial: RowTrial) -> RowFacts? {
        Self.plainStyles.firstResult { try? trial.run(over: $0) }
    }

    /// Judges why a migration fails over rows.
    ///
    /// - Returns: nil, if a constraint that existed before refuses a row that is inserted, or if a value is at fault: the generator
    ///   does not know what an app writes.
    private func brokenConstraint(_ error: MigrationError, _ outline: ScriptOutline)
        -> ReviewFinding?
    {
        guard error.code == .stepFailed else { return nil }
        if let edit = outline.statements.first(where: { $0.editedTable != nil }),
            let rule = ReviewRule.newConstraint(error.message)
        {
            let reason = "Over generated rows: \(error.diagnostic.sentence)"
            return finding(
                rule, outline, edit.line, "\(reason) Correct such rows first, in the same migration.")
        }
        guard error.file == outline.script.fileName else { return nil }
        if outline.script.settings.redefines {
            return ReviewRule.newConstraint(error.message).map { rule in
                let sentence = error.diagnostic.sentence
                // A file of definitions holds nothing that could correct a row.
                let remedy =
                    "Correct such rows in a file before it; where one does, `-- allow: \(rule.name)` says so."
                return finding(rule, outline, error.line, "Over generated rows: \(sentence) \(remedy)")
            }
        }
        guard let code = error.sqliteCode else {
            let isCut = error.detail == .missingParent
            // An error of Swift says nothing about rows.
            guard isCut || error.detail == .broken else { return nil }
            // Of these foreign keys, another rule says that they refer to the wrong table.
            let stoodAside = outline.rebuilds.contains {
                if case .oldStoodAside = $0.order { true } else { false }
            }
            guard !(stoodAside && isCut) else { return nil }
            // Nothing was rolled back here.
            let remedy =
                isCut
                ? error.remedy.replacing(" \(MigrationError.fixMigration)", with: "")
                : ReviewRule.orphans.remedy
            return finding(
                .orphans, outline, outline.firstLoss?.line,
                "Over generated rows, it \(error.diagnostic.problem). \(remedy)")
        }
        if error.message.contains("annot add a ") {
            return finding(
                .addColumn, outline, error.line,
                "\(error.diagnostic.sentence) \(ReviewRule.addColumn.remedy)"
            )
        }
        let statement = outline.statements.last { $0.line <= error.line ?? 0 }
        // Of a default that breaks the column's own constraint, SQLite says no more than "error".
        if statement?.alteration != nil, code == ResultCode.SQLITE_ERROR.rawValue,
            error.message.contains("constraint failed")
        {
            return finding(
                .addColumn, outline, error.line,
                "\(error.diagnostic.sentence) Give the column a DEFAULT that satisfies its constraints.")
        }
        guard let rule = ReviewRule.newConstraint(code), let statement,
            statement.addsConstraint || statement.tokens.contains(where: { outline.creates($0.name) })
                // The table has accepted the rows as they were.
                || rule == .newUnique && statement.updatedTable != nil
        else { return nil }
        return finding(
            rule, outline, error.line, "Over generated rows: \(error.diagnostic.sentence) \(rule.remedy)")
    }

    /// Returns a finding if a key takes only one of two texts.
    private func clash(_ error: MigrationError, _ outline: ScriptOutline) -> ReviewFinding? {
        guard let rule = error.sqliteCode.flatMap(ReviewRule.newConstraint), rule == .newUnique else {
            return nil
        }
        return finding(
            rule, outline, error.line,
            """
            Over generated rows, of which two texts differ only in case, or in a space at the end: \(error.diagnostic.sentence) \
            \(rule.remedy)
            """)
    }

    // MARK: Foreign keys

    /// A finding for each foreign key that no index serves in the end, at the statement that declares it.
    var unindexedForeignKeys: [ReviewFinding] {
        guard let last = looks.last else { return [] }
        return last.schema.unindexedForeignKeys.compactMap { key in
            let first = looks.reversed().prefix { $0.schema.unindexedForeignKeys.contains(key) }.last
            guard let outline = first?.outline, let statement = outline.statement(shaping: key.table)
            else {
                return nil
            }
            let name = SQLName(([key.table.text] + key.columns.map(\.text)).joined(separator: "_"))
            return finding(
                .unindexedForeignKey, outline, statement.line,
                """
                No index serves foreign key \(key.columns.asNames) of table \(key.table.text.quoted): deleting a row of \
                \(key.parent.text.quoted) reads the whole table. Add CREATE INDEX \
                \(name.plain) ON \(key.table.plain)(\(key.columns.map(\.plain).joined(separator: ", "))).
                """)
        }
    }
}

extension ReviewRule {
    /// The rule about a new constraint of the kind that SQLite's extended result code names (rescode.html).
    fileprivate static func newConstraint(_ code: Int32) -> ReviewRule? {
        switch ResultCode(rawValue: code) {
        case .SQLITE_CONSTRAINT_UNIQUE, .SQLITE_CONSTRAINT_PRIMARYKEY, .SQLITE_CONSTRAINT_ROWID:
            .newUnique
        case .SQLITE_CONSTRAINT_NOTNULL: .newNotNull
        // A STRICT table takes only values of its columns' types (stricttables.html).
        case .SQLITE_CONSTRAINT_CHECK, .SQLITE_CONSTRAINT_DATATYPE: .newCheck
        default: nil
        }
    }
}

extension ReviewRule {
    /// The rule about a new constraint that rows break, as the error of a redefinition names it.
    fileprivate static func newConstraint(_ message: String) -> ReviewRule? {
        guard message.contains("break its new definition") else { return nil }
        return message.contains(" is NULL in ")
            ? .newNotNull : message.contains("refers to no row") ? .orphans : .newCheck
    }
}

extension ScriptOutline {
    /// Returns what keeps one of several rows that agree in some columns; nil if the copies of a table have no such clause.
    fileprivate func mergingClause(of rebuild: Rebuild) -> String? {
        let hasConflictClause =
            resolvesConflicts
            || statements.contains { $0.createdTable != nil && $0.tokens.contains { $0.isWord("CONFLICT") } }
        if hasConflictClause { return "a conflict clause" }
        return rebuild.copies.contains { $0.tokens.contains { $0.isWord("GROUP") } } ? "`GROUP BY`" : nil
    }

    /// Returns whether the file creates a table.
    fileprivate func creates(_ table: SQLName) -> Bool {
        statements.contains { $0.createdTable == table }
    }

    /// Returns whether a migration fails for a reason that a rule about the order of a rebuild names.
    fileprivate func rebuildsParent(_ error: any Error) -> Bool {
        let code = (error as? MigrationError)?.sqliteCode
        return (code == nil || code == ResultCode.SQLITE_CONSTRAINT_FOREIGNKEY.rawValue)
            && rebuilds.contains { rebuild in
                if case .oldStoodAside = rebuild.order { return true }
                return script.settings.foreignKeys == .immediate
            }
    }

    /// The first statement that deletes rows or drops a table, or else the first.
    fileprivate var firstLoss: Statement? {
        statements.first { $0.reducedTable != nil || $0.dropped("TABLE") != nil } ?? statements.first
    }
}

extension ScriptOutline {
    /// Returns the first statement that updates rows of a table, or deletes some of them.
    fileprivate func statement(changingRowsOf table: SQLName) -> Statement? {
        let names = names(of: table)
        return statements.first { statement in
            statement.updatedTable.map(names.contains) == true
                || statement.deletesByCondition && statement.reducedTable.map(names.contains) == true
        }
    }

    /// The names in the statements.
    var names: Set<SQLName> { names { _ in true } }

    /// The names in the statements that do more than to declare something, or in a trigger that another statement may fire.
    var changedNames: Set<SQLName> {
        let firesTriggers = statements.contains { !$0.onlyDeclares }
        return names {
            script.settings.redefines || !$0.onlyDeclares
                || firesTriggers && $0.tokens.opens(with: "CREATE", "TRIGGER")
        }
    }

    /// Returns the names in some of the statements.
    func names(in isWanted: (Statement) -> Bool) -> Set<SQLName> {
        Set(statements.filter(isWanted).flatMap { $0.tokens.map(\.name) })
    }
}

extension ScriptOutline.Statement {
    /// True if the statement only declares something, whatever rows there are.
    var onlyDeclares: Bool {
        if createdTable != nil, !tokens.opens(with: "CREATE", "VIRTUAL") {
            return !tokens.contains { $0.isWord("SELECT") }
        }
        return [["CREATE", "VIEW"], ["CREATE", "TRIGGER"], ["CREATE", "INDEX"], ["PRAGMA"]].contains {
            words in
            tokens.prefix(words.count).map(\.keyword) == words
        }
    }

    /// True if the statement adds a constraint to a table that has rows.
    fileprivate var addsConstraint: Bool {
        tokens.opens(with: "CREATE", "UNIQUE") || alteration != nil
    }
}
