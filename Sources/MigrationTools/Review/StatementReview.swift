import SchemaMigrations
import TextOutput

/// Finds the statements of one file that destroy data.
///
/// It reads only the words of the file, so it can be wrong. An `allow:` comment allows an intended statement.
struct StatementReview {
    private let script: SQLScript
    private let statements: [(tokens: [SQLScript.Token], line: Int)]
    /// The tables to which foreign keys in any file refer.
    private let parents: Set<SQLName>
    private(set) var findings: [ReviewFinding] = []

    init(_ script: SQLScript, parents: Set<SQLName>) {
        self.script = script
        self.parents = parents
        statements = script.statements.map { (script.tokens(of: $0), $0.line) }
        for index in statements.indices { review(index) }
    }

    /// Returns the tables that a file's foreign keys refer to.
    static func parents(in script: SQLScript) -> Set<SQLName> {
        var parents: Set<SQLName> = []
        for statement in script.statements {
            let tokens = script.tokens(of: statement)
            for (token, next) in zip(tokens, tokens.dropFirst()) where token.keyword == "REFERENCES" {
                parents.insert(next.name)
            }
        }
        return parents
    }

    private mutating func review(_ index: Int) {
        let (tokens, line) = statements[index]
        if let form = recentForm(tokens) {
            report(
                .recentSQLite, line,
                """
                ALTER TABLE … \(form) needs SQLite 3.53, of 2026. Where users have an older one, rebuild the table instead.
                """)
        }
        if let table = droppedTable(tokens) {
            reviewDrop(of: table, at: index)
        } else if let (table, column) = droppedColumn(tokens) {
            if !isMade(table, before: index) {
                report(
                    .dropColumn, line,
                    "Column \(column.text.quoted) of table \(table.text.quoted) is dropped: its values are lost."
                )
            }
        } else if let table = emptiedTable(tokens), !isMade(table, before: index) {
            report(
                .deleteWithoutWhere, line,
                "Every row of table \(table.text.quoted) is deleted: DELETE has no WHERE.")
        }
    }

    private mutating func reviewDrop(of table: SQLName, at index: Int) {
        let line = statements[index].line
        switch rebuild(dropping: table, at: index) {
        case .newTakesItsPlace:
            if script.settings.foreignKeys == .immediate {
                report(
                    .rebuildForeignKeys, line,
                    """
                    Table \(table.text.quoted) is rebuilt with immediate foreign keys: dropping it deletes the rows that refer to \
                    it with ON DELETE CASCADE. Remove foreign-keys=immediate.
                    """)
            }
        case .oldStoodAside(let name):
            if parents.contains(name) {
                report(
                    .rebuildForeignKeys, line,
                    """
                    Table \(name.text.quoted) was renamed before it was dropped, and the foreign keys that refer to it followed \
                    the rename. Create the new table under another name, copy the rows, drop the old table, and rename \
                    the new one.
                    """)
            }
        case .isScratch: break
        case nil: report(.dropTable, line, "Table \(table.text.quoted) is dropped: its rows are lost.")
        }
    }

    private mutating func report(_ rule: ReviewRule, _ line: Int, _ reason: String) {
        findings.append(ReviewFinding(file: script.fileName, line: line, rule: rule, reason: reason))
    }

    // MARK: Single statements

    private func droppedTable(_ tokens: [SQLScript.Token]) -> SQLName? {
        guard tokens.opens(with: "DROP", "TABLE") else { return nil }
        return tokens.dropFirst(tokens.opens(with: "DROP", "TABLE", "IF", "EXISTS") ? 4 : 2).qualifiedName
    }

    private func droppedColumn(_ tokens: [SQLScript.Token]) -> (table: SQLName, column: SQLName)? {
        guard let (table, change) = alteration(tokens), change.first?.isWord("DROP") == true else {
            return nil
        }
        let rest = change.dropFirst().drop { $0.isWord("COLUMN") }
        return rest.first.flatMap { $0.isWord("CONSTRAINT") ? nil : (table, $0.name) }
    }

    /// Returns a form of `ALTER TABLE` that SQLite has since 3.53.0 (lang_altertable.html).
    private func recentForm(_ tokens: [SQLScript.Token]) -> String? {
        guard let change = alteration(tokens)?.change, let verb = change.first else { return nil }
        let object = change.dropFirst().first
        if verb.isWord("ALTER") { return "ALTER COLUMN" }
        if verb.isWord("DROP"), object?.isWord("CONSTRAINT") == true { return "DROP CONSTRAINT" }
        if verb.isWord("ADD"), object?.isWord("CONSTRAINT") == true || object?.isWord("CHECK") == true {
            return "ADD CONSTRAINT"
        }
        return nil
    }

    /// Returns the table of an `ALTER TABLE`, and what comes after its name.
    private func alteration(
        _ tokens: [SQLScript.Token]
    ) -> (table: SQLName, change: ArraySlice<SQLScript.Token>)? {
        let rest = tokens.dropFirst(2)
        guard tokens.opens(with: "ALTER", "TABLE"), let table = rest.qualifiedName else { return nil }
        return (table, rest.dropFirst(rest.dropFirst().first?.keyword == "." ? 3 : 1))
    }

    private func emptiedTable(_ tokens: [SQLScript.Token]) -> SQLName? {
        guard tokens.opens(with: "DELETE") || tokens.opens(with: "WITH"),
            let delete = tokens.outside.firstIndex(where: { $0.keyword == "DELETE" && $0.isWord })
        else { return nil }
        let statement = tokens.outside[delete...]
        guard statement.dropFirst().first?.keyword == "FROM",
            !statement.contains(where: { $0.keyword == "WHERE" && $0.isWord })
        else { return nil }
        return statement.dropFirst(2).qualifiedName
    }

    private func createdTable(_ tokens: [SQLScript.Token]) -> SQLName? {
        var rest = tokens.dropFirst()
        guard tokens.opens(with: "CREATE") else { return nil }
        if rest.first?.keyword == "TEMP" || rest.first?.keyword == "TEMPORARY"
            || rest.first?.keyword == "VIRTUAL"
        {
            rest.removeFirst()
        }
        guard rest.first?.keyword == "TABLE" else { return nil }
        rest.removeFirst()
        if rest.map(\.keyword).starts(with: ["IF", "NOT", "EXISTS"]) { rest = rest.dropFirst(3) }
        return rest.qualifiedName
    }

    private func renamed(_ tokens: [SQLScript.Token]) -> (from: SQLName, to: SQLName)? {
        guard tokens.opens(with: "ALTER", "TABLE"), let from = tokens.dropFirst(2).qualifiedName,
            let rename = tokens.firstIndex(where: { $0.keyword == "RENAME" && $0.isWord }),
            rename + 2 < tokens.count, tokens[rename + 1].keyword == "TO"
        else { return nil }
        return (from, tokens[rename + 2].name)
    }

    // MARK: Statements in combination

    private enum Rebuild {
        /// A table that holds its rows takes its name.
        case newTakesItsPlace
        /// The file first renamed it, and a new table under the old name holds its rows.
        case oldStoodAside(name: SQLName)
        /// The file itself created it.
        case isScratch
    }

    private func rebuild(dropping table: SQLName, at index: Int) -> Rebuild? {
        for statement in statements[(index + 1)...] {
            guard let (from, to) = renamed(statement.tokens), to == table else { continue }
            if isCopied(from: table, to: from, before: index) { return .newTakesItsPlace }
        }
        for statement in statements[..<index] {
            guard let (from, to) = renamed(statement.tokens), to == table else { continue }
            if isMade(from, before: index), isCopied(from: table, to: from, before: index) {
                return .oldStoodAside(name: from)
            }
        }
        return isMade(table, before: index) ? .isScratch : nil
    }

    private func isMade(_ table: SQLName, before index: Int) -> Bool {
        statements[..<index].contains { createdTable($0.tokens) == table }
    }

    private func isCopied(from old: SQLName, to new: SQLName, before index: Int) -> Bool {
        statements[..<index].contains { statement in
            let tokens = statement.tokens
            guard
                tokens.opens(with: "INSERT") || tokens.opens(with: "REPLACE") || tokens.opens(with: "CREATE")
                    || tokens.opens(with: "WITH")
            else { return false }
            guard tokens.contains(where: { $0.keyword == "SELECT" && $0.isWord }) else { return false }
            return tokens.contains { $0.name == new } && tokens.contains { $0.name == old }
        }
    }
}

extension SQLScript.Token {
    fileprivate func isWord(_ word: String) -> Bool { isWord && keyword == word }
}

extension [SQLScript.Token] {
    fileprivate func opens(with words: String...) -> Bool { map(\.keyword).starts(with: words) }

    /// The tokens outside parentheses.
    fileprivate var outside: [SQLScript.Token] {
        var depth = 0
        return filter { token in
            if token.keyword == "(" { depth += 1 }
            if token.keyword == ")" { depth -= 1 }
            return depth == 0
        }
    }
}
