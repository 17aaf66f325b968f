import SchemaMigrations

extension [TracedStatement] {
    /// The statements, with the one that edits the schema in the place of all that `redefine(table:as:)` runs.
    ///
    /// It reads the rows before it edits the schema, and may try an edit that it undoes.
    var withWholeRedefinitions: [TracedStatement] {
        var (kept, own): ([TracedStatement], [TracedStatement]) = ([], [])
        var depth = 0
        for statement in self {
            let isFirst = own.isEmpty && statement.sql == Redefinition.firstStatement
            if !isFirst, own.isEmpty {
                kept.append(statement)
                continue
            }
            own.append(statement)
            depth += isFirst ? 1 : statement.nesting
            guard depth <= 0 else { continue }
            kept += own.asRedefinition
            (own, depth) = ([], 0)
        }
        return kept + own.asRedefinition
    }

    private var asRedefinition: [TracedStatement] {
        last(where: \.editsSchema).map { [$0] } ?? filter { $0.kind == .change }
    }
}

extension TracedStatement {
    /// The number of transactions and savepoints that the statement opens, less those that it ends.
    fileprivate var nesting: Int {
        if sql.hasPrefix("SAVEPOINT ") || sql.hasPrefix("BEGIN ") { return 1 }
        return sql.hasPrefix("RELEASE ") || sql.hasPrefix("COMMIT ") || sql == "ROLLBACK TRANSACTION" ? -1 : 0
    }

    fileprivate var editsSchema: Bool { sql.hasPrefix("UPDATE main.sqlite_master SET sql = ?") }
}
