import SchemaMigrations

extension ScriptOutline.Statement {
    /// Columns of two tables that a statement compares: `a.x = b.y`, or `x IN (SELECT y FROM b)`.
    var comparisons: [[(SQLName, SQLName)]] {
        guard changesRows else { return [] }
        let names = tokens.tablesByName
        // The table of a bare name, in each of the open parentheses.
        var tables: [SQLName?] = [nil]
        return tokens.indices.compactMap { index in
            switch tokens[index].keyword {
            case "(": tables.append(tables[tables.count - 1])
            case ")" where tables.count > 1: tables.removeLast()
            default: break
            }
            if let table = tokens.table(namedAt: index) { tables[tables.count - 1] = table }
            func resolved(_ column: (table: SQLName?, name: SQLName)?, in table: SQLName?) -> (
                SQLName, SQLName
            )? {
                guard let column, let table = column.table.map({ names[$0] }) ?? table else { return nil }
                return (table, column.name)
            }
            let own = tables[tables.count - 1]
            if tokens[index].keyword == "=" {
                return [
                    resolved(tokens.column(endingAt: index - 1), in: own),
                    resolved(tokens.column(startingAt: index + 1), in: own),
                ].allPresent
            }
            guard tokens[index].isWord("IN"), tokens[(index + 1)...].opens(with: "(", "SELECT") else {
                return nil
            }
            let start = index + (tokens[(index + 3)...].opens(with: "DISTINCT") ? 4 : 3)
            let isNegated = index > 0 && tokens[index - 1].isWord("NOT")
            let from = tokens[start...].prefix(4).firstIndex { $0.isWord("FROM") }
            let other = from.flatMap { tokens.table(namedAt: $0 + 1) }
            return [
                resolved(tokens.column(endingAt: index - (isNegated ? 2 : 1)), in: own),
                resolved(tokens.column(startingAt: start), in: other),
            ].allPresent
        }
    }
}

extension [(SQLName, SQLName)?] {
    /// The elements; nil if one is missing.
    fileprivate var allPresent: [(SQLName, SQLName)]? {
        let present = compactMap(\.self)
        return present.count == count ? present : nil
    }
}

extension [SQLScript.Token] {
    /// The tables by their names and by their other names in the statement.
    var tablesByName: [SQLName: SQLName] {
        indices.reduce(into: [:]) { names, index in
            guard let table = table(namedAt: index) else { return }
            names[table] = names[table] ?? table
            let next = index + (dropFirst(index + 1).first?.keyword == "." ? 3 : 1)
            let rest = dropFirst(next)
            let alias = rest.first?.isWord("AS") == true ? rest.dropFirst().first : rest.first
            if let alias, !alias.keyword.isEmpty { names[alias.name] = names[alias.name] ?? table }
        }
    }

    /// The table that a statement names at a place; nil if something else stands there.
    fileprivate func table(namedAt index: Int) -> SQLName? {
        guard index > 0, index < count, self[index].keyword != "(", !self[index].isWord("OR") else {
            return nil
        }
        let isNamed =
            ["FROM", "JOIN", "INTO", "UPDATE"].contains(self[index - 1].keyword)
            || index > 2 && self[index - 2].isWord("OR") && self[index - 3].isWord("UPDATE")
        return isNamed ? self[index...].qualifiedName : nil
    }

    /// The column that ends at a place, with the name of a table that may stand before it.
    fileprivate func column(endingAt index: Int) -> (table: SQLName?, name: SQLName)? {
        guard indices.contains(index), self[index].isColumn else { return nil }
        guard index > 1, self[index - 1].keyword == "." else { return (nil, self[index].name) }
        return (self[index - 2].name, self[index].name)
    }

    /// The column that begins at a place.
    fileprivate func column(startingAt index: Int) -> (table: SQLName?, name: SQLName)? {
        guard indices.contains(index), self[index].isColumn else { return nil }
        guard index + 2 < count, self[index + 1].keyword == "." else { return (nil, self[index].name) }
        return (self[index].name, self[index + 2].name)
    }
}

extension SQLScript.Token {
    /// True for what may be the name of a column.
    fileprivate var isColumn: Bool {
        isWord
            ? keyword.utf8.first.map { (48...57).contains($0) } == false : "\"`[".contains(keyword.prefix(1))
    }
}
