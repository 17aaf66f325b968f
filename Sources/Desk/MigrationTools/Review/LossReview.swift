import SchemaMigrations
import TextOutput

/// Explains what a migration loses by the statement that loses it.
struct LossReview {
    private(set) var findings: [ReviewFinding] = []
    private let outline: ScriptOutline
    private let after: ReviewedSchema
    private let losses: [LossTrial.Loss]
    private let changes: [ReviewFinding]?

    /// - Parameter changes: what a comparison of values has found, where it may have missed values that are overwritten; nil where it
    ///   has missed none.
    init(
        _ outline: ScriptOutline, to after: ReviewedSchema, _ losses: [LossTrial.Loss],
        from before: ReviewedSchema, besides changes: [ReviewFinding]?
    ) {
        self.changes = changes
        self.outline = outline
        self.after = after
        self.losses = losses
        for loss in losses.sorted(by: { $0.table < $1.table }) {
            if loss.rows > 0 { explainRows(loss, before) }
            if !loss.columns.isEmpty, !loss.isWhole { explainValues(loss) }
        }
    }

    private mutating func report(_ rule: ReviewRule, _ statement: ScriptOutline.Statement?, _ problem: String)
    {
        let remedy = [.lostRows, .changedValues].contains(rule) ? " \(rule.remedy)" : ""
        findings.append(
            ReviewFinding(
                file: outline.script.fileName, line: statement?.line ?? 1, rule: rule, problem: problem,
                reason: problem + remedy))
    }

    // MARK: Rows

    private mutating func explainRows(_ loss: LossTrial.Loss, _ before: ReviewedSchema) {
        let names = outline.names(of: loss.table)
        let table = loss.table.text.quoted
        let rebuild = outline.rebuilds.first { $0.table == loss.table }
        let deletions = outline.statements.filter { $0.reducedTable.map(names.contains) == true }
        let drop = outline.statements.first { $0.dropped("TABLE").map(names.contains) == true }
        let emptying = deletions.first { $0.hasNoCondition }
        if loss.isWhole, let emptying, drop.map({ emptying.line <= $0.line }) != false {
            let reason = emptying.tokens.outside.contains { $0.isWord("WHERE") }
            report(
                .deleteWithoutWhere, emptying,
                "Every row of table \(table) is deleted: \(reason ? "its WHERE is always true" : "DELETE has no WHERE")."
            )
        } else if let rebuild, deletions.isEmpty || !loss.isAsDeleted && !loss.isWhole {
            report(
                .lostRows, rebuild.copies[0],
                "Rebuilding table \(table) loses rows: \(loss.keptRows)."
            )
        } else if let drop, loss.isWhole, let name = drop.dropped("TABLE") {
            report(.dropTable, drop, "Table \(name.text.quoted) is dropped: its rows are lost.")
        } else if loss.isWhole, let deletion = deletions.last {
            report(
                .deleteWithoutWhere, deletion,
                "Every row of table \(table) is deleted: its WHERE holds for every generated row.")
        } else if loss.isAsDeleted || isCascade(from: loss.table, before) {
            // A DELETE says which.
        } else if let drop, let name = drop.dropped("TABLE") {
            explainDrop(of: name, drop, loss)
        } else {
            report(
                .lostRows, outline.statement(writing: names),
                "Table \(table) loses rows: \(loss.keptRows)."
            )
        }
    }

    private mutating func explainDrop(
        of name: SQLName, _ drop: ScriptOutline.Statement, _ loss: LossTrial.Loss
    ) {
        if after.hasTable(loss.table) {
            report(
                .lostRows, drop,
                "Rebuilding table \(loss.table.text.quoted) loses rows: \(loss.keptRows).")
        } else {
            report(
                .dropTable, drop,
                "Table \(name.text.quoted) is dropped: of \(loss.count.counting("generated row")), \(loss.lostRows) lost."
            )
        }
    }

    /// Returns whether rows go with those that they refer to.
    private func isCascade(from table: SQLName, _ before: ReviewedSchema) -> Bool {
        before.tables[table]?.references.contains { reference in
            losses.contains { $0.rows > 0 && $0.table == reference.parent && $0.table != table }
        } == true
    }

    // MARK: Values

    private mutating func explainValues(_ loss: LossTrial.Loss) {
        let names = outline.names(of: loss.table)
        let drop = outline.statements.first { $0.dropped("TABLE").map(names.contains) == true }
        let name = outline.finalName(of: loss.table)
        guard let name, let table = after.tables[name] else {
            if let drop, let name = drop.dropped("TABLE") { explainValues(loss, dropping: name, drop) }
            return
        }
        explainCut(loss, table)
        for (column, count) in loss.columns.sorted(by: { $0.key < $1.key }) {
            if let kept = table.column(named: ScriptRenames(outline).column(column, of: loss.table)) {
                explainOverwritten(column, as: kept.name, of: loss, names)
            } else {
                explain(column, count, of: loss, names)
            }
        }
    }

    /// Explains that the values of a column which stays are others.
    private mutating func explainOverwritten(
        _ column: SQLName, as kept: SQLName, of loss: LossTrial.Loss, _ names: Set<SQLName>
    ) {
        guard let changes, loss.condition == nil else { return }
        let titles = [column, kept].map { "olumn \($0.text.quoted) of table " }
        guard !changes.contains(where: { change in titles.contains(where: change.reason.contains) }) else {
            return
        }
        let rebuild = outline.rebuilds.first { $0.table == loss.table }
        report(
            rebuild == nil ? .changedValues : .lostValues,
            outline.update(of: column, in: names) ?? rebuild?.copies.first
                ?? outline.statement(writing: names),
            """
            Column \(column.text.quoted) of table \(loss.table.text.quoted) loses values: two rows that exchange theirs end as before.
            """)
    }

    /// Explains what is cut off of texts that stay in their column.
    private mutating func explainCut(_ loss: LossTrial.Loss, _ table: TableLayout) {
        guard case .long(let column, let length) = loss.kind,
            table.column(named: ScriptRenames(outline).column(column, of: loss.table)) != nil
        else { return }
        report(
            .changedValues, outline.cuts.first { $0.column == column && $0.length == length }?.statement,
            """
            Column \(column.text.quoted) of table \(loss.table.text.quoted) loses values: texts of more than \(length) characters \
            are cut.
            """)
    }

    private mutating func explain(
        _ column: SQLName, _ count: Int, of loss: LossTrial.Loss, _ names: Set<SQLName>
    ) {
        let present = loss.count - loss.rows
        let part =
            loss.condition.map { " where \($0)" }
            ?? (count < present ? " in \(count) of \(present.counting("generated row"))" : "")
        let columns = [column, ScriptRenames(outline).column(column, of: loss.table)]
        let statement = outline.statements.last { statement in
            statement.droppedColumn.map { names.contains($0.table) && columns.contains($0.column) } == true
        }
        if let statement, let (table, column) = statement.droppedColumn {
            report(
                .dropColumn, statement,
                "Column \(column.text.quoted) of table \(table.text.quoted) is dropped: its values are lost\(part)."
            )
            return
        }
        let rebuild = (outline.rebuilds + outline.redefinitions).first { $0.table == loss.table }
        report(
            .dropColumn, rebuild?.creation ?? outline.statement(shaping: loss.table),
            """
            \(rebuild?.act ?? "Rebuilding") table \(loss.table.text.quoted) drops column \(column.text.quoted): its values \
            are lost\(part).
            """)
    }

    private mutating func explainValues(
        _ loss: LossTrial.Loss, dropping name: SQLName, _ drop: ScriptOutline.Statement
    ) {
        let columns = loss.columns.keys.sorted().map(\.text.quoted)
        report(
            .dropTable, drop,
            """
            Table \(name.text.quoted) is dropped: the values of \(columns.count == 1 ? "column" : "columns") \
            \(columns.asList) are lost\(loss.condition.map { " where \($0)" } ?? "").
            """)
    }
}

extension LossTrial.Loss {
    /// The condition of the rows that lose it, as in "`last` is NULL"; nil if that is none.
    fileprivate var condition: String? {
        switch kind {
        case .null(let column, _, _): "\(column.text.quoted) is NULL"
        case .long(let column, let length): "\(column.text.quoted) has more than \(length) characters"
        case .childless: "no row refers to theirs"
        case .siblings: "two rows refer to the same one"
        default: nil
        }
    }

    /// As in `5 are`.
    fileprivate var lostRows: String { someRows.map { "\($0) are" } ?? (rows == 1 ? "1 is" : "\(rows) are") }

    /// As in `of 8 generated rows, it keeps 5`.
    fileprivate var keptRows: String {
        "of \(count.counting("generated row")), \(someRows.map { "\($0) are lost" } ?? "it keeps \(count - rows)")"
    }

    /// The lost rows without their number; nil where it is known.
    private var someRows: String? {
        switch kind {
        // Of a great many rows, only a few are tried.
        case .many: "some"
        case .childless: "those to which no row refers"
        case .siblings: "some of those that refer to the same row"
        default: nil
        }
    }
}

extension ScriptOutline {
    /// The names that a table has while the file runs.
    func names(of table: SQLName) -> Set<SQLName> {
        statements.compactMap(\.rename).reduce(into: [table]) { names, rename in
            if names.contains(rename.from) { names.insert(rename.to) }
        }
    }

    /// The name that a table has in the end; nil if it is dropped, and no other takes its place.
    fileprivate func finalName(of table: SQLName) -> SQLName? {
        ScriptRenames(self).table(table) ?? table
    }

    /// Returns the last statement that writes one of the tables, or else the last that writes.
    fileprivate func statement(writing tables: Set<SQLName>) -> Statement? {
        statements.last { $0.writtenTable.map(tables.contains) == true }
            ?? statements.last { $0.writtenTable != nil } ?? statements.last
    }
}
