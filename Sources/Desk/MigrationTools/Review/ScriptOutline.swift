import Foundation
import SchemaMigrations

/// The statements of a file that make, change and drop tables, as its words say.
struct ScriptOutline {
    /// A statement and its line.
    struct Statement {
        let tokens: [SQLScript.Token]
        let line: Int
    }

    /// A table that a file drops after it has copied its rows into a table that takes its place.
    struct Rebuild {
        /// How the new table comes to the old one's name.
        enum Order: Equatable {
            /// The new table is made under another name, and renamed.
            case newTakesItsPlace
            /// The old table is renamed first, and dropped under the other name.
            case oldStoodAside(name: SQLName)
            /// The rows wait in a third table.
            case rowsStoodAside
            /// The table stays, and gets another definition.
            case inPlace
        }

        /// The name that both tables have.
        let table: SQLName
        let order: Order
        /// What the file does with the table, as a sentence begins.
        var act: String { order == .inPlace ? "Redefining" : "Rebuilding" }
        /// The statement that creates the new table.
        let creation: Statement
        /// The statements that copy the rows.
        let copies: [Statement]
        /// The statement that drops the old table.
        let drop: Statement
    }

    let script: SQLScript
    let statements: [Statement]

    init(_ script: SQLScript) {
        self.script = script
        var data: [SQLScript.Token] = []
        statements = script.statements.map { statement in
            var tokens = script.tokens(of: statement)
            // There may be a million statements like it, which share what they have in common.
            if let opening = tokens.openingOfData {
                if !data.elementsEqual(opening, by: { $0.keyword == $1.keyword }) { data = Array(opening) }
                tokens = data
            }
            return Statement(tokens: tokens, line: statement.line)
        }
    }

    /// Reads files that run one after the other as one; nil if they cannot be one file, or there are none.
    init?(joining files: [SQLScript]) {
        let statements = files.flatMap { file in file.statements.map(file.wholeText) }
        guard let last = files.last,
            let script = try? SQLScript(
                Data(statements.joined(separator: ";\n").utf8), fileName: last.fileName)
        else { return nil }
        self.init(script)
    }

    /// Returns true if a condition of the file says that a column is not null.
    func asksForValues(of column: SQLName) -> Bool {
        statements.contains { statement in
            let tokens = statement.tokens
            return tokens.indices.contains { index in
                guard tokens[index].name == column else { return false }
                let next = tokens[(index + 1)...].prefix(3).map(\.keyword)
                return next.first == "NOTNULL" || next == ["IS", "NOT", "NULL"]
            }
        }
    }

    /// The tables that the file drops, by the names that they had before.
    var droppedTables: Set<SQLName> {
        let dropped = Set(statements.compactMap { $0.dropped("TABLE") })
        let renamed = statements.compactMap { statement in
            statement.rename.flatMap { names(of: $0.from).isDisjoint(with: dropped) ? nil : $0.from }
        }
        return dropped.union(renamed)
    }

    /// Returns the columns of a table that the file drops.
    func droppedColumns(of table: SQLName) -> [SQLName] {
        let names = names(of: table)
        return statements.compactMap(\.droppedColumn).filter { names.contains($0.table) }.map(\.column)
    }

    /// The tables that the file rebuilds.
    var rebuilds: [Rebuild] { statements.indices.compactMap(rebuild(at:)) }

    /// The tables that the file gives other definitions, without copying their rows.
    var redefinitions: [Rebuild] {
        statements.compactMap { statement in
            (script.settings.redefines ? statement.createdTable : statement.editedTable).map {
                Rebuild(table: $0, order: .inPlace, creation: statement, copies: [], drop: statement)
            }
        }
    }

    /// True if a statement deletes the rows that a condition names.
    var deletesByCondition: Bool { statements.contains(where: \.deletesByCondition) }

    /// Returns whether a statement deletes the rows of some tables that a condition names.
    func deletesByCondition(from tables: Set<SQLName>) -> Bool {
        statements.contains { $0.deletesByCondition(from: tables) }
    }

    /// Returns the script without the statements that delete the rows of a condition; nil if there are none.
    func withoutDeletions() throws -> SQLScript? {
        guard deletesByCondition else { return nil }
        var bytes = Array(script.sql.utf8)
        for (statement, outline) in zip(script.statements, statements) where outline.deletesByCondition {
            // The lines of the others stay.
            for index in statement.range where bytes[index] != UInt8(ascii: "\n") {
                bytes[index] = UInt8(ascii: " ")
            }
        }
        return try SQLScript(Data(bytes), fileName: script.fileName)
    }

    /// Returns whether the file drops an index, a trigger or a view by its name.
    func drops(_ type: String, _ name: SQLName) -> Bool {
        statements.contains { $0.dropped(type.uppercasedASCII) == name }
    }

    /// Returns the first statement that creates a table or changes its columns.
    func statement(shaping table: SQLName) -> Statement? {
        if let rebuild = rebuilds.first(where: { $0.table == table }) { return rebuild.creation }
        return statements.first { $0.createdTable == table || $0.alteration?.table == table }
            ?? statements.first { $0.rename?.to == table }
    }

    /// Returns whether an earlier statement creates a table.
    func isMade(_ table: SQLName, before index: Int) -> Bool { creation(of: table, before: index) != nil }

    /// Returns whether earlier statements create a table, and none of them uses it: not one for the connection alone, or that
    /// may have been there.
    func isMadeInVain(_ table: SQLName, before index: Int) -> Bool {
        guard let start = statements[..<index].lastIndex(where: { $0.createdTable == table }),
            statements[start].tokens.opens(with: "CREATE", "TABLE"),
            !statements[start].tokens.opens(with: "CREATE", "TABLE", "IF", "NOT", "EXISTS")
        else { return false }
        return statements[(start + 1)..<index].allSatisfy { statement in
            !statement.mentions(table) || statement.onlyDeclares
                || statement.writtenTable == table && !statement.copies
        }
    }

    /// Returns whether a statement drops a full-text index that the file then makes again, from the rows of its table.
    func isIndexMadeAgain(_ table: SQLName, after index: Int) -> Bool {
        let later = statements[(index + 1)...].drop { $0.createdTable != table }
        return later.dropFirst().contains {
            $0.tokens.opens(with: "INSERT") && $0.mentions(table) && $0.mentions("rebuild")
        }
    }

    private func creation(of table: SQLName, before index: Int) -> Statement? {
        statements[..<index].last { $0.createdTable == table }
    }

    /// Reads a statement that drops a table as a part of a rebuild.
    func rebuild(at index: Int) -> Rebuild? {
        guard let dropped = statements[index].dropped("TABLE") else { return nil }
        let later = statements[(index + 1)...]
        for (from, to) in later.compactMap(\.rename) where to == dropped {
            let copies = copies(from: dropped, to: from, before: index)
            guard !copies.isEmpty, let creation = creation(of: from, before: index) else { continue }
            return Rebuild(
                table: dropped, order: .newTakesItsPlace, creation: creation, copies: copies,
                drop: statements[index])
        }
        for (from, to) in statements[..<index].compactMap(\.rename) where to == dropped {
            let copies = copies(from: dropped, to: from, before: index)
            guard !copies.isEmpty, let creation = creation(of: from, before: index) else { continue }
            return Rebuild(
                table: from, order: .oldStoodAside(name: from), creation: creation, copies: copies,
                drop: statements[index])
        }
        guard let creation = later.first(where: { $0.createdTable == dropped }) else { return nil }
        // The rows wait in a table that the file makes before, and come back after.
        for scratch in statements[..<index].compactMap(\.createdTable) {
            let away = copies(from: dropped, to: scratch, before: index)
            let back = copies(from: scratch, to: dropped, before: statements.count)
            guard !away.isEmpty, !back.isEmpty else { continue }
            return Rebuild(
                table: dropped, order: .rowsStoodAside, creation: creation, copies: away + back,
                drop: statements[index])
        }
        return nil
    }

    private func copies(from old: SQLName, to new: SQLName, before index: Int) -> [Statement] {
        statements[..<index].filter { $0.copies && $0.mentions(new) && $0.mentions(old) }
    }
}

extension ScriptOutline.Statement {
    /// Returns the name of a table, index, view or trigger that the statement drops.
    func dropped(_ type: String) -> SQLName? {
        guard tokens.opens(with: "DROP", type) else { return nil }
        return tokens.dropFirst(tokens.opens(with: "DROP", type, "IF", "EXISTS") ? 4 : 2).qualifiedName
    }

    /// The table and the column that the statement drops.
    var droppedColumn: (table: SQLName, column: SQLName)? {
        guard let (table, change) = alteration, change.first?.isWord("DROP") == true else { return nil }
        let rest = change.dropFirst().drop { $0.isWord("COLUMN") }
        return rest.first.flatMap { $0.isWord("CONSTRAINT") ? nil : (table, $0.name) }
    }

    /// The column that the statement renames.
    var renamedColumn: (table: SQLName, from: SQLName, to: SQLName)? {
        guard let (table, change) = alteration, change.first?.isWord("RENAME") == true else { return nil }
        let words = Array(change.dropFirst().drop { $0.isWord("COLUMN") })
        guard words.count == 3, words[1].isWord("TO") else { return nil }
        return (table, words[0].name, words[2].name)
    }

    /// The table of an `ALTER TABLE`, and what comes after its name.
    var alteration: (table: SQLName, change: ArraySlice<SQLScript.Token>)? {
        let rest = tokens.dropFirst(2)
        guard tokens.opens(with: "ALTER", "TABLE"), let table = rest.qualifiedName else { return nil }
        return (table, rest.dropFirst(rest.dropFirst().first?.keyword == "." ? 3 : 1))
    }

    /// The names before and after a rename of a table.
    var rename: (from: SQLName, to: SQLName)? {
        guard let (table, change) = alteration, change.count == 3 else { return nil }
        let words = Array(change)
        return words[0].isWord("RENAME") && words[1].isWord("TO") ? (table, words[2].name) : nil
    }

    /// The table of which the statement deletes every row.
    var emptiedTable: SQLName? {
        guard tokens.opens(with: "DELETE") || tokens.opens(with: "WITH"),
            let delete = tokens.outside.firstIndex(where: { $0.isWord("DELETE") })
        else { return nil }
        let statement = tokens.outside[delete...]
        guard statement.dropFirst().first?.keyword == "FROM", hasNoCondition else { return nil }
        return statement.dropFirst(2).qualifiedName
    }

    /// True if the statement concerns every row, because it has no `WHERE`, or one that is always true.
    var hasNoCondition: Bool {
        let condition = tokens.outside.drop { !$0.isWord("WHERE") }.dropFirst()
        let truths = ["1", "TRUE", "1 = 1", "NOT 0", "NOT FALSE"]
        return condition.isEmpty || truths.contains(condition.map(\.keyword).joined(separator: " "))
    }

    /// The table from which the statement deletes rows.
    var reducedTable: SQLName? {
        guard let delete = tokens.outside.firstIndex(where: { $0.isWord("DELETE") }),
            !tokens.opens(with: "CREATE")
        else { return nil }
        return tokens.outside[(delete + 1)...].drop { $0.isWord("FROM") }.qualifiedName
    }

    /// True if the statement deletes the rows that a condition names.
    var deletesByCondition: Bool { reducedTable != nil && !hasNoCondition }

    func deletesByCondition(from tables: Set<SQLName>) -> Bool {
        deletesByCondition && reducedTable.map(tables.contains) == true
    }

    /// The table that the statement creates.
    var createdTable: SQLName? {
        var rest = tokens.dropFirst()
        guard tokens.opens(with: "CREATE") else { return nil }
        if ["TEMP", "TEMPORARY", "VIRTUAL"].contains(rest.first?.keyword) { rest.removeFirst() }
        guard rest.first?.keyword == "TABLE" else { return nil }
        rest.removeFirst()
        if rest.map(\.keyword).starts(with: ["IF", "NOT", "EXISTS"]) { rest = rest.dropFirst(3) }
        return rest.qualifiedName
    }

    /// The table that gets another definition, as `redefine(table:as:)` edits the schema.
    var editedTable: SQLName? {
        updatedTable == "sqlite_master" ? tokens.last { $0.keyword != ";" }?.name : nil
    }

    /// True for a `CREATE` that does nothing if the object is there.
    var onlyIfMissing: Bool {
        tokens.opens(with: "CREATE")
            && tokens.prefix(6).map(\.keyword).joined(separator: " ").contains("IF NOT EXISTS")
    }

    /// True if a `WHERE` compares with NULL by another operator than `IS` (lang_expr.html).
    var comparesWithNull: Bool {
        guard !tokens.opens(with: "CREATE") else { return false }
        let condition = tokens.drop { !$0.isWord("WHERE") }.prefix { !$0.isWord("SET") }
        return zip(condition, condition.dropFirst()).contains { token, next in
            ["=", "<", ">"].contains(token.keyword) && next.isWord("NULL")
        }
    }

    /// True if the statement writes what it selects.
    var copies: Bool {
        let first = tokens.first?.keyword ?? ""
        return ["INSERT", "REPLACE", "CREATE", "WITH"].contains(first)
            && !tokens.opens(with: "CREATE", "TRIGGER") && !tokens.opens(with: "CREATE", "VIEW")
            && tokens.contains { $0.isWord("SELECT") }
    }

    /// True if no word of a statement that copies rows leaves some out.
    var copiesEveryRow: Bool {
        let words = ["WHERE", "JOIN", "DISTINCT", "GROUP", "LIMIT", "EXCEPT", "INTERSECT", "UNION", "IGNORE"]
        return !tokens.contains { words.contains($0.keyword) }
            && !tokens.drop { !$0.isWord("FROM") }.prefix { !$0.isWord("ORDER") }.contains {
                $0.keyword == ","
            }
    }

    /// Returns whether a name stands in the statement.
    func mentions(_ name: SQLName) -> Bool { tokens.contains { $0.name == name } }

    /// True if the statement selects all columns.
    var selectsAll: Bool {
        zip(tokens, tokens.dropFirst()).contains { token, next in
            next.keyword == "*"
                && (token.isWord("SELECT") || token.isWord("DISTINCT") || token.keyword == ".")
        }
    }
}

extension SQLScript.Token {
    func isWord(_ word: String) -> Bool { isWord && keyword == word }
}

extension Collection<SQLScript.Token> {
    func opens(with words: String...) -> Bool {
        count >= words.count && zip(self, words).allSatisfy { $0.keyword == $1 }
    }
}

extension [SQLScript.Token] {
    /// The tokens outside parentheses.
    var outside: [SQLScript.Token] {
        var depth = 0
        return filter { token in
            if token.keyword == "(" { depth += 1 }
            if token.keyword == ")" { depth -= 1 }
            return depth == 0
        }
    }
}

extension ArraySlice<SQLScript.Token> {
    /// The tokens before the end of the parentheses with which they begin; none if they begin with something else.
    var parenthesized: ArraySlice<SQLScript.Token> {
        var depth = 0
        return prefix { token in
            if token.keyword == "(" { depth += 1 }
            if token.keyword == ")" { depth -= 1 }
            return depth > 0
        }
    }
}

extension [SQLScript.Token] {
    /// An `INSERT` up to the word `VALUES`, if nothing but plain literals follows; nil for every other statement.
    fileprivate var openingOfData: ArraySlice<SQLScript.Token>? {
        guard let first = first?.keyword, first == "INSERT" || first == "REPLACE",
            let values = firstIndex(where: { $0.isWord("VALUES") })
        else { return nil }
        // A full-text table takes commands in a column that has the table's name (fts5.html).
        if let list = self[..<values].firstIndex(where: { $0.keyword == "(" }), list > 0, list + 1 < values,
            self[list - 1].name == self[list + 1].name
        {
            return nil
        }
        let isData = self[(values + 1)...].allSatisfy { token in
            let keyword = token.keyword
            guard token.isWord else {
                return ["(", ")", ",", "-", "+", "."].contains(keyword) || token.isLiteral
            }
            return keyword == "NULL"
                || keyword.utf8.first.map { $0 >= 48 && $0 <= 57 } == true && !keyword.contains("_")
        }
        return isData ? self[...values] : nil
    }
}

extension SQLScript.Token {
    /// True for a text or a blob.
    fileprivate var isLiteral: Bool {
        !isWord && (keyword.hasPrefix("'") || keyword.hasPrefix("x'") || keyword.hasPrefix("X'"))
    }
}
