import SchemaMigrations

extension ScriptOutline {
    /// The numbers of rows that statements copy at most from tables that the file drops, or of which it deletes rows.
    private var rowBounds: [(statement: Statement, count: Int)] {
        let reduced = statements.compactMap { $0.dropped("TABLE") ?? $0.reducedTable }
        return statements.filter { $0.copies && reduced.contains(where: $0.mentions) }.compactMap {
            statement in
            statement.rowBounds.max().map { (statement, $0) }
        }.filter { $0.count >= GeneratedRows.rowsPerTable }
    }

    /// The most rows that copies keep, as far as so many can be generated; nil if they keep any number, or fewer than are
    /// generated anyway.
    var rowBound: Int? { rowBounds.map(\.count).filter { $0 <= GeneratedRows.mostRows }.max() }

    /// Returns the statements that copy more rows than were generated, but not any number.
    ///
    /// - Parameter isTried: whether the file has run over as many as can be generated.
    func untriedBounds(_ isTried: Bool) -> [(statement: Statement, count: Int)] {
        rowBounds.filter { !isTried || $0.count > GeneratedRows.mostRows }
    }

    /// The columns of which statements copy the first characters, with their number, if no date and no UUID has as many.
    var cuts: [(column: SQLName, length: Int, statement: Statement)] {
        statements.filter(\.changesRows).flatMap { statement in
            statement.cuts.map { (column: $0.column, length: $0.length, statement: statement) }
        }.filter { (37...5_000).contains($0.length) }
    }
}

extension ScriptOutline.Statement {
    /// The numbers after `LIMIT` and `OFFSET`, and those with which a rank is compared.
    fileprivate var rowBounds: [Int] {
        let (ranks, operators) = (ranks, ["<", ">", "="])
        return tokens.indices.flatMap { index -> [Int] in
            let rest = tokens[(index + 1)...].prefix(3).map(\.keyword)
            let isBound = tokens[index].isWord("LIMIT") || tokens[index].isWord("OFFSET")
            let compared =
                operators.contains(tokens[index].keyword)
                ? tokens[..<index].last { !operators.contains($0.keyword) } : nil
            guard isBound || compared.map({ ranks?.contains($0.name) ?? true }) == true else { return [] }
            return (isBound && rest.dropFirst().first == "," ? [rest[0], rest[2]] : Array(rest.prefix(1)))
                .compactMap(Int.init)
        }
    }

    /// The names of the columns that rank rows, as `rank` in `row_number() OVER (ORDER BY id) AS rank`; nil if one is not there, since
    /// its name comes before the `SELECT`, or it is part of an expression.
    private var ranks: Set<SQLName>? {
        let names: [SQLName?] = tokens.indices.filter { tokens[$0].isWord("OVER") }.map { start in
            let window = tokens[(start + 1)...]
            let rest = window.dropFirst(window.parenthesized.count + 1)
            let alias = (rest.first?.isWord("AS") == true ? rest.dropFirst() : rest).first
            return alias.flatMap { $0.isName && !$0.isWord("FROM") ? $0.name : nil }
        }
        return names.contains(nil) ? nil : Set(names.compactMap(\.self))
    }

    /// The columns in `substr(column, 1, length)`.
    fileprivate var cuts: [(column: SQLName, length: Int)] {
        tokens.indices.compactMap { index in
            guard ["SUBSTR", "SUBSTRING"].contains(tokens[index].keyword),
                tokens[(index + 1)...].first?.keyword == "("
            else { return nil }
            let arguments = tokens[(index + 2)...].prefix { $0.keyword != ")" }.split { $0.keyword == "," }
            guard arguments.count == 3,
                arguments[0].count == 1 || arguments[0].dropFirst().first?.keyword == ".",
                let column = arguments[0].last?.name, arguments[1].map(\.keyword) == ["1"],
                let length = arguments[2].first.flatMap({ Int($0.keyword) })
            else { return nil }
            return (column, length)
        }
    }
}
