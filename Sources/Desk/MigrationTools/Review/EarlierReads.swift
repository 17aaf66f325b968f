import SchemaMigrations

/// The tables and columns whose values statements have written elsewhere, so that dropping them loses nothing.
///
/// A rebuild may be spread over files, and a column may move to another table long before it is dropped.
struct EarlierReads {
    private var statements: [ScriptOutline.Statement] = []

    /// Adds a statement that has run.
    mutating func add(_ statement: ScriptOutline.Statement) {
        if statement.copies || statement.updatedTable != nil { statements.append(statement) }
    }

    /// Returns whether a statement has copied rows of a table into another one.
    func hasRows(of table: SQLName) -> Bool {
        statements.contains { $0.copies && $0.writtenTable != table && $0.isRead(table) }
    }

    /// Returns whether a statement has written the values of a column elsewhere.
    func hasValues(of column: SQLName, in table: SQLName) -> Bool {
        statements.contains { statement in
            statement.mentions(table)
                && (statement.selectsAll
                    || statement.tokens.outside.prefix { !$0.isWord("WHERE") }.contains { $0.name == column }
                    || statement.tokens.contains { $0.name == column } && statement.copies)
        }
    }
}

extension ScriptOutline.Statement {
    /// Returns whether the statement selects from a table.
    fileprivate func isRead(_ table: SQLName) -> Bool {
        guard let select = tokens.firstIndex(where: { $0.isWord("SELECT") }) else { return false }
        return tokens[select...].contains { $0.name == table }
    }
}
