import SchemaMigrations
import TextOutput

/// Judges the changes of one migration: what it silently loses, as far as its file does not say so.
///
/// It is a function of the file's words, the schema before and after, and the effects on generated rows.
struct MigrationComparison {
    private let outline: ScriptOutline
    private let before: ReviewedSchema
    private let after: ReviewedSchema
    private let rows: RowFacts?
    private(set) var findings: [ReviewFinding] = []

    /// - Parameters:
    ///   - rows: the effects on generated rows; nil if the migration failed over them.
    ///   - losses: what is lost of them; nil if that is not known.
    init(
        _ outline: ScriptOutline, from before: ReviewedSchema, to after: ReviewedSchema, rows: RowFacts?,
        losses: LossTrial.Judgement?
    ) {
        self.outline = outline
        self.before = before
        self.after = after
        self.rows = rows
        for rebuild in outline.rebuilds {
            guard let old = before.tables[rebuild.table], let new = after.tables[rebuild.table] else {
                continue
            }
            let others = findings.count
            compareColumns(rebuild, old, new)
            compareConstraints(rebuild, old, new)
            compareOptions(rebuild, old, new)
            // A rebuild that changes nothing else is there to take the constraint away.
            let lost = Set(findings[others...].map(\.rule))
            if lost == [.lostNotNull] || lost == [.lostForeignKey], new.addsNothing(to: old) {
                findings.removeSubrange(others...)
            }
            compareIndexes(rebuild, old, new)
            compareTriggers(of: rebuild.table, rebuild.drop, "Rebuilding table \(rebuild.table.text.quoted)")
            if let rows { compareRows(rebuild, rows) }
            // What it loses comes first.
            if findings.count == others, let filled = columnsFilled(ifNeedless: rebuild, old, new) {
                reportNeedless(rebuild, filled)
            }
        }
        for redefinition in outline.redefinitions {
            guard let old = before.tables[redefinition.table], let new = after.tables[redefinition.table]
            else { continue }
            let others = findings.count
            compareColumns(redefinition, old, new)
            compareConstraints(redefinition, old, new)
            // What does nothing else is there to take the constraint away.
            if findings.count == others + 1, new.addsNothing(to: old) { findings.removeLast() }
        }
        compareViews()
        if let rows {
            compareFullText(rows)
            // Where a table's rows get other keys, the columns that refer to them show it.
            let renumbered = Set(rows.changedColumns.compactMap(\.renumberedParent))
            for column in rows.changedColumns
            where !renumbered.contains(column.table)
                || before.tables[column.table]?.primaryKey.contains(column.column) != true
            {
                if column.isEmptied, losses?.keeps(column) == true, outline.copies(column.column) { continue }
                compareValues(column)
            }
        }
    }

    private mutating func report(
        _ rule: ReviewRule, _ statement: ScriptOutline.Statement, _ problem: String, _ remedy: String? = nil
    ) {
        findings.append(
            ReviewFinding(
                file: outline.script.fileName, line: statement.line, rule: rule, problem: problem,
                reason: "\(problem) \(remedy ?? rule.remedy)"))
    }

    // MARK: Tables

    private mutating func compareColumns(
        _ rebuild: ScriptOutline.Rebuild, _ old: TableLayout, _ new: TableLayout
    ) {
        let table = rebuild.table.text.quoted
        for column in old.columns {
            let name = column.name.text.quoted
            guard let kept = new.column(named: column.name) else {
                continue
            }
            if column.isNotNull, !kept.isNotNull, !kept.isRowID, !(kept.isKey && !new.hasRowID) {
                report(
                    .lostNotNull, rebuild.creation,
                    "\(rebuild.act) table \(table) loses the NOT NULL of column \(name).",
                    "Declare \(name) NOT NULL in the new table.")
            }
            if let value = column.defaultValue, value.uppercasedASCII != "NULL", kept.defaultValue == nil {
                report(
                    .lostDefault, rebuild.creation,
                    "\(rebuild.act) table \(table) loses the DEFAULT of column \(name).",
                    "Declare \(name) with DEFAULT \(value.asDefault) in the new table.")
            }
            if column.collation != "BINARY", kept.collation == "BINARY" {
                report(
                    .lostCollation, rebuild.creation,
                    "\(rebuild.act) table \(table) loses the collation of column \(name): it compares other values as equal.",
                    "Declare \(name) with COLLATE \(column.collation) in the new table.")
            }
        }
        for column in old.generatedColumns where !new.generatedColumns.contains(column) {
            report(
                .lostGenerated, rebuild.creation,
                "\(rebuild.act) table \(table) loses the expression of generated column \(column.text.quoted)."
            )
        }
    }

    private mutating func compareConstraints(
        _ rebuild: ScriptOutline.Rebuild, _ old: TableLayout, _ new: TableLayout
    ) {
        let table = rebuild.table.text.quoted
        if !old.primaryKey.isEmpty, new.primaryKey.isEmpty, new.hasAll(old.primaryKey) {
            report(
                .lostPrimaryKey, rebuild.creation,
                "\(rebuild.act) table \(table) loses its primary key, \(old.primaryKey.asNames).",
                "Declare PRIMARY KEY (\(old.primaryKey.asList)) in the new table.")
        }
        for index in old.indexes where index.origin == .unique {
            let columns = index.columns.compactMap(\.self)
            guard new.hasAll(columns), !new.isUnique(columns) else { continue }
            report(
                .lostUnique, rebuild.creation,
                "\(rebuild.act) table \(table) loses the UNIQUE of \(columns.asNames).",
                "Declare UNIQUE (\(columns.asList)) in the new table.")
        }
        for key in old.references where new.hasAll(key.columns) {
            let name = "foreign key \(key.columns.asNames) to table \(key.parent.text.quoted)"
            guard let kept = new.references.first(where: { Set($0.columns) == Set(key.columns) }) else {
                report(
                    .lostForeignKey, rebuild.creation, "\(rebuild.act) table \(table) loses the \(name).",
                    "Declare FOREIGN KEY (\(key.columns.asList)) \(key.clause) in the new table.")
                continue
            }
            let lost = key.actions.filter { action in
                !kept.actions.contains { $0.hasPrefix(action.prefix(9)) }
            }
            if !lost.isEmpty {
                report(
                    .lostForeignKey, rebuild.creation,
                    "\(rebuild.act) table \(table) loses \(lost.asList) of the \(name).",
                    "Declare FOREIGN KEY (\(key.columns.asList)) \(key.clause) in the new table.")
            }
        }
        let columns = Set(old.columns.map(\.name) + old.generatedColumns)
        let added = new.checks.filter { check in !old.checks.contains { $0.tokens == check.tokens } }
        for check in old.checks where !new.checks.contains(where: { $0.tokens == check.tokens }) {
            let concerned = check.names.intersection(columns)
            // A new constraint on one of the columns takes its place.
            guard new.hasAll(concerned), !added.contains(where: { !$0.names.isDisjoint(with: concerned) })
            else { continue }
            report(
                .lostCheck, rebuild.creation, "\(rebuild.act) table \(table) loses \(check.sql.quoted).",
                "Declare \(check.sql) in the new table.")
        }
    }

    private mutating func compareOptions(
        _ rebuild: ScriptOutline.Rebuild, _ old: TableLayout, _ new: TableLayout
    ) {
        let table = rebuild.table.text.quoted
        if old.isStrict, !new.isStrict {
            report(
                .lostStrict, rebuild.creation,
                "Rebuilding table \(table) loses STRICT: its columns take values of any type.")
        }
        if !old.hasRowID, new.hasRowID {
            report(.lostWithoutRowID, rebuild.creation, "Rebuilding table \(table) loses WITHOUT ROWID.")
        }
        // A key of another kind has no number that could be given again.
        let isNumbered = new.primaryKey.isEmpty || new.columns.contains(where: \.isRowID)
        if old.hasSequence, !new.hasSequence, isNumbered {
            report(
                .lostAutoincrement, rebuild.creation,
                "Rebuilding table \(table) loses AUTOINCREMENT: ids of deleted rows may be given again.")
        }
    }

    /// Returns the columns that a rebuild fills to make them `NOT NULL`; nil if no redefinition could take its place.
    private func columnsFilled(
        ifNeedless rebuild: ScriptOutline.Rebuild, _ old: TableLayout, _ new: TableLayout
    ) -> [SQLName]? {
        guard rebuild.copies.allSatisfy(\.copiesEveryRow) else { return nil }
        // An UPDATE before it can fill NULLs, unless a trigger makes more of it.
        let hasTrigger = before.triggers.values.contains { $0.table == rebuild.table }
        var filled: [SQLName] = []
        for column in new.columns {
            switch rebuild.source(of: column.name, from: old, to: new).source {
            case .column(column.name): continue
            case .expression
            where !hasTrigger && column.isNotNull && old.column(named: column.name)?.isNotNull == false:
                filled.append(column.name)
            default: return nil
            }
        }
        return before.canRedefine(rebuild.table, asIn: after) ? filled : nil
    }

    private mutating func reportNeedless(_ rebuild: ScriptOutline.Rebuild, _ filled: [SQLName]) {
        let table = rebuild.table.text.quoted
        guard !filled.isEmpty else {
            return report(
                .needlessRebuild, rebuild.creation,
                "Rebuilding table \(table) changes constraints alone, and copies every row.")
        }
        let columns = "column\(filled.count == 1 ? "" : "s") \(filled.map(\.text.quoted).asList)"
        report(
            .needlessRebuild, rebuild.creation,
            "Rebuilding table \(table) changes constraints and fills \(columns), and copies every row.",
            """
            Fill \(filled.count == 1 ? "it" : "them") by an UPDATE in one file, and put the new CREATE TABLE into the \
            next, which begins with `-- migrations: redefine` and `-- allow: new-not-null`: it copies no row.
            """)
    }

    private mutating func compareIndexes(
        _ rebuild: ScriptOutline.Rebuild, _ old: TableLayout, _ new: TableLayout
    ) {
        let columns = Set(old.columns.map(\.name) + old.generatedColumns)
        let kept = after.indexes.values.filter { $0.table == rebuild.table }
        for object in before.indexes.values.sorted(by: { $0.name.text < $1.name.text })
        where object.table == rebuild.table && after.indexes[object.name] == nil {
            let index = old.indexes.first { $0.name == object.name }
            let isKept =
                kept.contains { $0.definition == object.definition }
                || index.map { $0.isUnique && !$0.isPartial && new.isUnique($0.columns.compactMap(\.self)) }
                    == true
                    && index?.columns.contains(nil) == false
            guard !isKept, !outline.drops("INDEX", object.name),
                new.hasAll(object.names.intersection(columns))
            else { continue }
            report(
                .lostIndex, rebuild.drop,
                """
                Rebuilding table \(rebuild.table.text.quoted) loses index \(object.name.text.quoted), which goes with the old table.
                """, object.creationRemedy("Create it again after the rename"))
        }
    }

    private mutating func compareTriggers(
        of table: SQLName, _ drop: ScriptOutline.Statement, _ act: String
    ) {
        let kept = after.triggers.values.filter { $0.table == table }
        for trigger in before.triggers.values.sorted(by: { $0.name.text < $1.name.text })
        where trigger.table == table && after.triggers[trigger.name] == nil {
            guard !kept.contains(where: { $0.definition == trigger.definition }),
                !outline.drops("TRIGGER", trigger.name)
            else { continue }
            report(
                .lostTrigger, drop,
                "\(act) loses trigger \(trigger.name.text.quoted), which goes with the old one.",
                "Create the trigger again at the end of the file.")
        }
    }

    // MARK: Rows

    private mutating func compareRows(_ rebuild: ScriptOutline.Rebuild, _ rows: RowFacts) {
        let table = rebuild.table.text.quoted
        if rows.lostSequences.contains(rebuild.table) {
            report(
                .lostSequence, rebuild.drop,
                "Rebuilding table \(table) loses its AUTOINCREMENT sequence: ids of deleted rows may be given again.",
                rebuild.creation.createdTable.flatMap { $0 == rebuild.table ? nil : $0 }.map { new in
                    """
                    Before DROP TABLE, add DELETE FROM sqlite_sequence WHERE name = \(new.literal); INSERT INTO \
                    sqlite_sequence(name, seq) SELECT \(new.literal), seq FROM sqlite_sequence WHERE name = \
                    \(rebuild.table.literal);
                    """
                })
        }
    }

    /// Judges a column that loses values: by mistake in a rebuild, or because a statement says so.
    private mutating func compareValues(_ column: ChangedColumn) {
        let rebuild = outline.rebuilds.first { $0.table == column.table }
        let names = Set([column.table, rebuild?.creation.createdTable].compactMap(\.self))
        let (table, name) = (column.table.text.quoted, column.column.text.quoted)
        if let parent = column.renumberedParent {
            reportRenumbered(parent, column)
        } else if let update = outline.update(of: column.column, in: names) {
            reportOverwritten(column, update)
        } else if let rebuild, let old = before.tables[rebuild.table], let new = after.tables[rebuild.table] {
            let (source, statement) = rebuild.source(of: column.column, from: old, to: new)
            switch source {
            case .omitted:
                report(
                    .lostValues, statement,
                    "Rebuilding table \(table) leaves out the values of column \(name): \(column.example.sentence).",
                    "Copy the column.")
            case .column(let other) where other != column.column:
                report(
                    .lostValues, statement,
                    """
                    Rebuilding table \(table) puts the values of column \(other.text.quoted) into column \(name): \
                    \(column.example.sentence).
                    """, "Name the columns after INSERT INTO and after SELECT, in the same order.")
            case .column:
                guard let merge = column.merge else { return }
                report(
                    .changedValues, rebuild.creation,
                    "Column \(name) of table \(table) changes its type: \(merge.sentence).",
                    "Convert the values explicitly, or keep the type.")
            case .expression: reportOverwritten(column, statement)
            }
        } else if let statement = outline.statements.last(where: { $0.writes && $0.mentions(column.table) })
            ?? outline.statements.last(where: \.writes)
        {
            reportOverwritten(column, statement)
        }
    }

    private mutating func reportOverwritten(_ column: ChangedColumn, _ statement: ScriptOutline.Statement) {
        guard column.isLossy || column.source != nil else { return }
        let effect =
            column.example.after == .null
            ? column.example.sentence : column.merge?.sentence ?? column.example.sentence
        let overwrites =
            before.tables[column.table].map { statement.overwrites(column.column, of: $0) } == true
        report(
            overwrites ? .updateWithoutWhere : .changedValues, statement,
            "Column \(column.column.text.quoted) of table \(column.table.text.quoted) loses values: \(effect)."
        )
    }

    private mutating func reportRenumbered(_ parent: SQLName, _ column: ChangedColumn) {
        let reference = """
            column \(column.column.text.quoted) of table \(column.table.text.quoted) refers to other rows: \
            \(column.example.sentence).
            """
        if let rebuild = outline.rebuilds.first(where: { $0.table == parent }) {
            report(
                .lostValues, rebuild.copies[rebuild.copies.count - 1],
                "Rebuilding table \(parent.text.quoted) gives its rows other keys, and \(reference)",
                "Copy the key.")
        } else if let statement = outline.statements.last(where: { $0.writes && $0.mentions(parent) }) {
            report(
                .changedValues, statement, "Table \(parent.text.quoted) gets other keys, and \(reference)",
                "Update the rows that refer to it as well.")
        }
    }

    private mutating func compareFullText(_ rows: RowFacts) {
        for name in rows.staleFullText.sorted(by: { $0.text < $1.text }) {
            guard let source = after.fullTextSources[name] ?? before.fullTextSources[name],
                let statement = outline.rebuilds.first(where: { $0.table == source })?.drop
                    ?? outline.statements.first(where: { $0.createdTable == name })
                    ?? outline.statements.first(where: { $0.mentions(source) }) ?? outline.statements.first
            else { continue }
            report(
                .staleFullText, statement,
                "Full-text table \(name.text.quoted) no longer matches table \(source.text.quoted).",
                "Add INSERT INTO \(name.plain)(\(name.plain)) VALUES ('rebuild').")
        }
    }

    // MARK: Views

    private mutating func compareViews() {
        for statement in outline.statements {
            guard let (table, old, new) = statement.renamedColumn else { continue }
            for (view, columns) in before.views.sorted(by: { $0.key.text < $1.key.text }) {
                guard let renamed = after.views[view], columns.contains(old), !renamed.contains(old),
                    renamed.contains(new), !outline.drops("VIEW", view)
                else { continue }
                report(
                    .renamedViewColumn, statement,
                    """
                    Renaming column \(old.text.quoted) of table \(table.text.quoted) renames column \(old.text.quoted) of view \
                    \(view.text.quoted) as well: queries that name it fail.
                    """)
            }
        }
        for statement in outline.statements {
            guard let view = statement.dropped("VIEW"), before.views[view] != nil, after.views[view] != nil
            else { continue }
            compareTriggers(of: view, statement, "Creating view \(view.text.quoted) again")
        }
    }
}

extension [SQLName] {
    /// The names in a sentence.
    var asNames: String { "(\(asList))" }

    /// The names in SQL.
    fileprivate var asList: String { map(\.plain).joined(separator: ", ") }
}

extension TableLayout {
    /// Returns whether the table has no column, type, key, default or constraint that another one lacks.
    fileprivate func addsNothing(to old: TableLayout) -> Bool {
        columns.map(\.name) == old.columns.map(\.name)
            && zip(columns, old.columns).allSatisfy {
                $0.type == $1.type && $0.collation == $1.collation
                    && ($0.defaultValue == nil || $0.defaultValue == $1.defaultValue)
                    && (!$0.isNotNull || $1.isNotNull) && $0.isUnique == $1.isUnique
            }
            && generatedColumns == old.generatedColumns && primaryKey == old.primaryKey
            && references.count <= old.references.count
            && checks.allSatisfy { check in old.checks.contains { $0.tokens == check.tokens } }
            && isStrict == old.isStrict && hasRowID == old.hasRowID && hasSequence == old.hasSequence
    }
}

extension TableLayout.Reference {
    fileprivate var clause: String {
        (["REFERENCES \(parent.plain)(\(parentColumns.asList))"] + actions).joined(separator: " ")
    }
}

extension String {
    /// The text as the operand of DEFAULT: an expression stands in parentheses (lang_createtable.html, 3.2).
    fileprivate var asDefault: String {
        let bytes = Array(utf8)
        let tokens = SQLLexer(bytes).map { String(decoding: bytes[$0.range], as: UTF8.self) }
        let isSigned = tokens.count == 2 && ["-", "+"].contains(tokens[0])
        return tokens.count == 1 || isSigned ? self : "(\(self))"
    }
}

extension SchemaObject {
    /// The object's definition without its name, for comparing objects of different names.
    fileprivate var definition: [[UInt8]] {
        let tokens = comparable([])
        let name = name.comparable
        let quoted = Array("\"\(self.name.text)\"".utf8)
        guard let position = tokens.firstIndex(where: { $0 == name || $0 == quoted }) else { return tokens }
        return Array(tokens[..<position] + tokens[(position + 1)...])
    }

    /// The names in the object's SQL.
    var names: Set<SQLName> {
        let bytes = Array(sql.utf8)
        return Set(
            SQLLexer(bytes).filter { $0.kind == .word || $0.kind == .quotedName }.map {
                SQLName(token: String(decoding: bytes[$0.range], as: UTF8.self))
            })
    }

    /// The remedy that shows the SQL, if it is short.
    fileprivate func creationRemedy(_ remedy: String) -> String {
        sql.contains(where: \.isNewline) || sql.contains("--") || sql.utf8.count > 150
            ? "\(remedy)." : "\(remedy): \(sql);"
    }
}

extension ChangedColumn.Merge {
    /// The merge in a sentence, such as `'a' and 'A' both become 'a'`.
    fileprivate var sentence: String { "\(first) and \(second) both become \(result)" }
}

extension ScriptOutline.Statement {
    /// True if the statement writes or deletes rows.
    fileprivate var writes: Bool {
        ["INSERT", "REPLACE", "UPDATE", "DELETE", "WITH"].contains(tokens.first?.keyword ?? "")
    }
}

extension LossTrial.Judgement {
    /// Returns whether the values that a column had are somewhere else.
    fileprivate func keeps(_ column: ChangedColumn) -> Bool {
        tables.contains(column.table)
            && !losses.contains {
                $0.table == column.table && ($0.rows > 0 || $0.columns[column.column] != nil)
            }
    }
}

extension ScriptOutline {
    /// Returns whether an `INSERT` copies a column, as it is, into another table than a new one of its own.
    fileprivate func copies(_ column: SQLName) -> Bool {
        let rebuilt = rebuilds.compactMap(\.creation.createdTable)
        return statements.contains { statement in
            guard let insertion = statement.insertion, !rebuilt.contains(insertion.table) else {
                return false
            }
            return insertion.values.contains { value in
                value.last?.name == column
                    && (value.count == 1 || value.count == 3 && value[1].keyword == ".")
            }
        }
    }
}
