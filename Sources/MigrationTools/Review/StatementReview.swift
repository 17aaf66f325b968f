import SchemaMigrations
import TextOutput

/// Finds the statements of one file that destroy data.
///
/// It reads only the words of the file, so it can be wrong. An `allow:` comment allows an intended statement.
struct StatementReview {
    private let outline: ScriptOutline
    /// The tables to which foreign keys in any file refer.
    private let parents: Set<SQLName>
    private(set) var findings: [ReviewFinding] = []

    init(_ outline: ScriptOutline, parents: Set<SQLName>) {
        self.outline = outline
        self.parents = parents
        for index in outline.statements.indices { review(index) }
    }

    /// Returns the tables that a file's foreign keys refer to.
    static func parents(in outline: ScriptOutline) -> Set<SQLName> {
        var parents: Set<SQLName> = []
        for statement in outline.statements {
            for (token, next) in zip(statement.tokens, statement.tokens.dropFirst())
            where token.keyword == "REFERENCES" {
                parents.insert(next.name)
            }
        }
        return parents
    }

    private mutating func review(_ index: Int) {
        let statement = outline.statements[index]
        if let table = statement.dropped("TABLE") {
            reviewDrop(of: table, at: index)
        } else if let (table, column) = statement.droppedColumn {
            if !outline.isMade(table, before: index) {
                report(
                    .dropColumn, statement,
                    "Column \(column.text.quoted) of table \(table.text.quoted) is dropped: its values are lost."
                )
            }
        } else if let table = statement.emptiedTable, !outline.isMade(table, before: index) {
            report(
                .deleteWithoutWhere, statement,
                "Every row of table \(table.text.quoted) is deleted: DELETE has no WHERE.")
        }
    }

    private mutating func reviewDrop(of table: SQLName, at index: Int) {
        let statement = outline.statements[index]
        switch outline.rebuild(at: index)?.order {
        case .newTakesItsPlace, .rowsStoodAside:
            if outline.script.settings.foreignKeys == .immediate {
                report(
                    .rebuildForeignKeys, statement,
                    """
                    Table \(table.text.quoted) is rebuilt with immediate foreign keys: dropping it deletes the rows that refer to \
                    it with ON DELETE CASCADE. Remove foreign-keys=immediate.
                    """)
            }
        case .oldStoodAside(let name):
            if parents.contains(name) {
                report(
                    .rebuildForeignKeys, statement,
                    """
                    Table \(name.text.quoted) was renamed before it was dropped, and the foreign keys that refer to it followed \
                    the rename. Create the new table under another name, copy the rows, drop the old table, and rename \
                    the new one.
                    """)
            }
        case nil:
            guard !outline.isMade(table, before: index), !outline.isIndexMadeAgain(table, after: index)
            else { return }
            report(.dropTable, statement, "Table \(table.text.quoted) is dropped: its rows are lost.")
        }
    }

    private mutating func report(_ rule: ReviewRule, _ statement: ScriptOutline.Statement, _ reason: String) {
        findings.append(
            ReviewFinding(
                file: outline.script.fileName, line: statement.line, rule: rule, reason: reason))
    }
}
