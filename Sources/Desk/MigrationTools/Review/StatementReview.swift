import SchemaMigrations
import TextOutput

/// Finds the statements of one file that are dangerous.
///
/// It reads only the words of the file. Rows tell what the file loses (``LossTrial``); of a table that has got none, it names
/// the statements that may destroy data.
struct StatementReview {
    private let outline: ScriptOutline
    /// The tables to which foreign keys in any file refer.
    private let parents: Set<SQLName>
    /// The schema before the file; nil if it is not known.
    private let schema: ReviewedSchema?
    /// The schema after the file; nil if it is not known.
    private let after: ReviewedSchema?
    /// The tables whose rows have told what the file loses; nil if it did not run over rows.
    private let judged: Set<SQLName>?
    private(set) var findings: [ReviewFinding] = []

    init(
        _ outline: ScriptOutline, parents: Set<SQLName>, schema: ReviewedSchema? = nil,
        after: ReviewedSchema? = nil, judged: Set<SQLName>? = nil
    ) {
        self.outline = outline
        self.parents = parents
        self.schema = schema
        self.after = after
        self.judged = judged
        for index in outline.statements.indices { review(index) }
    }

    /// Returns whether a table with rows may be there before a statement.
    private func mayHaveRows(_ table: SQLName, before index: Int) -> Bool {
        let earlier = outline.statements[..<index]
        if outline.isMade(table, before: index) || earlier.contains(where: { $0.emptiedTable == table }) {
            return false
        }
        return schema?.hasTable(table) != false || earlier.contains { $0.rename?.to == table }
    }

    /// Returns whether a foreign key of another table refers to a table before a statement.
    private func isReferredTo(_ table: SQLName, before index: Int) -> Bool {
        guard let schema else { return parents.contains(table) }
        let isParent = schema.tables.values.contains { child in
            child.name != table && child.references.contains { $0.parent == table }
        }
        return isParent || Self.parents(in: outline.statements[..<index]).contains(table)
    }

    /// Returns the tables that a file's foreign keys refer to.
    static func parents(in outline: ScriptOutline) -> Set<SQLName> { parents(in: outline.statements[...]) }

    private static func parents(in statements: ArraySlice<ScriptOutline.Statement>) -> Set<SQLName> {
        var parents: Set<SQLName> = []
        for statement in statements {
            for (token, next) in zip(statement.tokens, statement.tokens.dropFirst())
            where token.keyword == "REFERENCES" {
                parents.insert(next.name)
            }
        }
        return parents
    }

    private mutating func review(_ index: Int) {
        let statement = outline.statements[index]
        reviewTarget(of: statement, at: index)
        reviewRename(statement, at: index)
        reviewNoEffect(of: statement, at: index)
        if let table = statement.dropped("TABLE") {
            reviewDrop(of: table, at: index)
        } else if let (table, column) = statement.droppedColumn {
            if mayHaveRows(table, before: index), !isJudged(table, before: index),
                !isGenerated(column, of: table)
            {
                report(
                    .dropColumn, statement,
                    "Column \(column.text.quoted) of table \(table.text.quoted) is dropped: its values are lost."
                )
            }
        } else if let table = statement.emptiedTable, mayHaveRows(table, before: index),
            !isJudged(table, before: index), judged == nil || schema?.isVirtual(table) != true
        {
            report(
                .deleteWithoutWhere, statement,
                """
                Every row of table \(table.text.quoted) is deleted: \
                \(statement.tokens.outside.contains { $0.isWord("WHERE") } ? "its WHERE is always true" : "DELETE has no WHERE").
                """)
        }
    }

    private mutating func reviewTarget(of statement: ScriptOutline.Statement, at index: Int) {
        if statement.tokens.opens(with: "PRAGMA"), statement.mentions("writable_schema"),
            statement.tokens.count > 2
        {
            report(
                .writableSchema, statement,
                "PRAGMA writable_schema lets statements change the schema as text.")
        }
        guard let target = statement.writtenTable else { return }
        if OwnTables.contains(target) {
            report(.ledgerWrite, statement, "Table \(target.text.quoted) is the migrator's own record.")
        } else if statement.replacesRows, mayHaveRows(target, before: index) {
            report(
                .replaceInto, statement,
                "REPLACE deletes the rows of table \(target.text.quoted) that have the same key, with all their columns."
            )
        }
    }

    /// Reports a statement that does nothing, although it looks as if it did.
    private mutating func reviewNoEffect(of statement: ScriptOutline.Statement, at index: Int) {
        if statement.comparesWithNull {
            report(
                .nullComparison, statement, "A comparison with NULL is never true, so the WHERE finds no row."
            )
        }
        if let table = statement.createdTable, statement.onlyIfMissing,
            !outline.statements[..<index].contains(where: { $0.mentions(table) }),
            let script = outline.script.statements.indices.contains(index)
                ? outline.script.wholeText(of: outline.script.statements[index]) : nil,
            schema?.hasTable(table, otherThan: script) == true
        {
            report(
                .tableExists, statement,
                "Table \(table.text.quoted) exists already, with another definition, so the statement does nothing."
            )
        }
    }

    private mutating func reviewRename(_ statement: ScriptOutline.Statement, at index: Int) {
        let later = outline.statements[index...]
        if let (old, new) = statement.rename, schema?.hasTable(old) == true,
            !later.contains(where: { $0.createdTable == old || $0.dropped("VIEW") == old })
        {
            report(
                .renamedTable, statement,
                "Table \(old.text.quoted) is \(new.text.quoted) now: an older build that opens the database fails."
            )
        }
        if let (table, old, new) = statement.renamedColumn,
            schema?.tables[table]?.column(named: old) != nil
        {
            report(
                .renamedColumn, statement,
                """
                Column \(old.text.quoted) of table \(table.text.quoted) is \(new.text.quoted) now: an older build that opens \
                the database fails.
                """)
        }
    }

    /// Returns whether rows tell what a table loses: it has got some, or is none from before the file.
    private func isJudged(_ table: SQLName, before index: Int) -> Bool {
        guard let judged else { return false }
        let renames = outline.statements[..<index].compactMap(\.rename)
        let source = renames.reversed().reduce(table) { $1.to == $0 ? $1.from : $0 }
        return judged.contains(source) || schema?.hasTable(source) == false
    }

    private func isGenerated(_ column: SQLName, of table: SQLName) -> Bool {
        schema?.tables[table]?.generatedColumns.contains(column) == true
    }

    private mutating func reviewDrop(of table: SQLName, at index: Int) {
        let statement = outline.statements[index]
        if outline.isMadeInVain(table, before: index) {
            report(
                .undoesItself, statement,
                "Table \(table.text.quoted) is dropped by the file that makes it, and nothing reads it in between."
            )
        }
        switch outline.rebuild(at: index)?.order {
        case .newTakesItsPlace, .rowsStoodAside:
            if outline.script.settings.foreignKeys == .immediate, isReferredTo(table, before: index) {
                report(
                    .rebuildForeignKeys, statement,
                    """
                    Table \(table.text.quoted) is rebuilt with immediate foreign keys: dropping it deletes the rows that refer to \
                    it with ON DELETE CASCADE. Remove foreign-keys=immediate.
                    """)
            }
        case .oldStoodAside(let name):
            let rename = outline.statements.firstIndex { $0.rename?.from == name }
            // None has followed it with PRAGMA legacy_alter_table, or if the tables that refer to it were rebuilt as well.
            if isReferredTo(name, before: rename ?? index), after?.refers(to: table) != false {
                report(
                    .rebuildForeignKeys, statement,
                    """
                    Table \(name.text.quoted) was renamed before it was dropped, and the foreign keys that refer to it followed \
                    the rename. Create the new table under another name, copy the rows, drop the old table, and rename \
                    the new one.
                    """)
            }
        case .inPlace: break
        case nil:
            // The index of another table's texts has none of its own.
            guard mayHaveRows(table, before: index), schema?.fullTextSources[table] == nil,
                !outline.isIndexMadeAgain(table, after: index), !isJudged(table, before: index)
            else { return }
            report(.dropTable, statement, "Table \(table.text.quoted) is dropped: its rows are lost.")
        }
    }

    /// The rules whose findings end with the rule's remedy.
    private static let withRemedy: Set<ReviewRule> = [
        .undoesItself, .nullComparison, .tableExists, .ledgerWrite, .writableSchema, .replaceInto,
        .renamedTable, .renamedColumn,
    ]

    private mutating func report(_ rule: ReviewRule, _ statement: ScriptOutline.Statement, _ reason: String) {
        findings.append(
            ReviewFinding(
                file: outline.script.fileName, line: statement.line, rule: rule, problem: reason,
                reason: Self.withRemedy.contains(rule) ? "\(reason) \(rule.remedy)" : reason))
    }
}
