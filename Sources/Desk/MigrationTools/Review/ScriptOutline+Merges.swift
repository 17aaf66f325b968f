import GRDB
import SchemaMigrations

extension ScriptOutline {
    /// Returns the columns whose values go into one unique column, if a row is left out where another has its value.
    ///
    /// Rows of tables that are merged have the same keys on some devices, and no generated rows have them by chance.
    ///
    /// - Parameter layouts: the tables that get rows.
    func mergedColumns(of layouts: [TableLayout]) -> [[GeneratedRows.Column]] {
        let tables = Dictionary(layouts.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        let targets = Set(statements.filter(\.ignoresConflicts).compactMap { $0.insertion?.table })
        return targets.sorted().flatMap { target -> [[GeneratedRows.Column]] in
            guard let layout = tables[target] ?? created(target) else { return [] }
            let sources = statements.flatMap { $0.sources(for: layout, tables) }
            return layout.columns.filter { $0.isUnique && !$0.isRowID }.map { column in
                let own =
                    tables[target] == nil ? [] : [GeneratedRows.Column(table: target, name: column.name)]
                return own + sources.compactMap { $0[column.name] }
            }.filter { Set($0.map(\.table)).count > 1 }
        }
    }

    /// Returns a table as the file creates it; nil if that takes more than SQLite alone.
    private func created(_ table: SQLName) -> TableLayout? {
        guard let index = statements.firstIndex(where: { $0.createdTable == table }),
            script.statements.indices.contains(index), let database = try? DatabaseQueue()
        else { return nil }
        return try? database.write { db in
            try db.execute(sql: script.wholeText(of: script.statements[index]))
            return try TableLayout.fetchAll(db, of: [table]).first
        }
    }
}

extension ScriptOutline.Statement {
    /// True if the statement leaves out a row whose key is taken.
    fileprivate var ignoresConflicts: Bool {
        tokens.opens(with: "INSERT", "OR", "IGNORE")
            || zip(tokens, tokens.dropFirst()).contains { $0.isWord("DO") && $1.isWord("NOTHING") }
    }

    /// Returns the columns that the statement copies into those of a table, for each `SELECT` that copies more than keys.
    fileprivate func sources(
        for target: TableLayout, _ tables: [SQLName: TableLayout]
    ) -> [[SQLName: GeneratedRows.Column]] {
        guard let insertion, insertion.table == target.name else { return [] }
        let columns = insertion.columns ?? target.columns.map(\.name)
        return selects.compactMap { select in
            let from = select.from
            var names = from.tablesByName
            // A subquery of a single table gives its columns.
            if names.isEmpty { names = select.tablesByName }
            let only = Set(names.values).count == 1 ? names.values.first : nil
            let isJoin = from.contains { $0.isWord("JOIN") || $0.keyword == "," }
            let values = select.separated(endingAt: ["FROM"]).flatMap { value -> [GeneratedRows.Column?] in
                let value = value.drop { $0.isWord("DISTINCT") || $0.isWord("ALL") }
                guard value.last?.keyword == "*", value.count == 1 || value.count == 3 else {
                    return [value.column(of: names, tables)]
                }
                let alone = isJoin ? nil : from.dropFirst().qualifiedName ?? only
                let name = value.count == 3 ? value.first.flatMap { names[$0.name] } : alone
                guard let name, let source = tables[name] else { return [nil] }
                return source.columns.map { GeneratedRows.Column(table: name, name: $0.name) }
            }
            let copied = zip(columns, values).reduce(into: [:]) { $0[$1.0] = $1.1 }
            let copiesMore = copied.keys.contains { target.column(named: $0)?.isUnique == false }
            return copiesMore ? copied.filter { $0.value.table != target.name } : nil
        }
    }

    /// The tokens after each `SELECT` outside parentheses, up to the next.
    private var selects: [[SQLScript.Token]] {
        var depth = 0
        return tokens.split(omittingEmptySubsequences: false) { token in
            if token.keyword == "(" { depth += 1 }
            if token.keyword == ")" { depth -= 1 }
            return depth == 0 && token.isWord("SELECT")
        }.dropFirst().map(Array.init)
    }
}

extension [SQLScript.Token] {
    /// The tables of a `SELECT`, but for those of others inside parentheses.
    fileprivate var from: [SQLScript.Token] {
        let ends = ["WHERE", "GROUP", "WINDOW", "UNION", "EXCEPT", "INTERSECT", "ORDER", "LIMIT", ";"]
        let rest = outside.filter { $0.keyword != ")" }.drop { !$0.isWord("FROM") }
        return Array(rest.prefix { !ends.contains($0.keyword) })
    }
}

extension ArraySlice<SQLScript.Token> {
    /// Returns the column that a value is, as it is or with another name, of a table with rows; nil for every other value.
    fileprivate func column(
        of names: [SQLName: SQLName], _ tables: [SQLName: TableLayout]
    ) -> GeneratedRows.Column? {
        let value = Array(prefix { !$0.isWord("AS") })
        guard let column = value.last?.name else { return nil }
        let candidates: [SQLName]
        switch value.count {
        case 1: candidates = Set(names.values).sorted()
        case 3 where value[1].keyword == ".": candidates = names[value[0].name].map { [$0] } ?? []
        default: return nil
        }
        return candidates.first { tables[$0]?.column(named: column) != nil }.map {
            GeneratedRows.Column(table: $0, name: column)
        }
    }
}
