import GRDB
import SchemaMigrations

extension ScriptOutline {
    /// The origin of a column's values in a rebuild.
    enum ValueSource {
        /// The rebuild writes nothing into the column.
        case omitted
        /// The rebuild copies a column, as it is.
        case column(SQLName)
        /// The rebuild computes the values.
        case expression
    }

    /// The conditions of the statements that copy, update or delete rows.
    private var conditions: [[SQLScript.Token]] {
        statements.filter(\.changesRows).flatMap { statement in
            let rest = statement.tokens.drop { !["WHERE", "HAVING", "ON"].contains($0.keyword) }
            let cases = statement.tokens.indices.filter { statement.tokens[$0].isWord("WHEN") }
                .map { Array(statement.tokens[$0...].prefix { !$0.isWord("THEN") }) }
            return [Array(rest)] + cases
        }.filter { !$0.isEmpty }
    }

    /// Returns whether one of these conditions names a column.
    func namesInCondition(_ column: SQLName) -> Bool {
        conditions.contains { $0.contains { $0.name == column } }
    }

    /// The texts and numbers that these conditions name.
    var conditionLiterals: SQLLiterals {
        SQLLiterals(conditions.map { $0.map(\.keyword).joined(separator: " ") })
    }

    /// The values that may decide these conditions.
    var conditionValues: ConditionValues { ConditionValues(conditions, among: changingTokens) }

    /// The values that may break the constraints of new tables, which get the rows of old ones.
    ///
    /// Apart from the others: a row that a constraint refuses fails the run, which then tells nothing of other rows.
    var checkValues: ConditionValues {
        ConditionValues(newChecks, among: changingTokens, includingKeys: false)
    }

    /// The values of both, since a condition may lead rows to a constraint; empty if there is only one of them.
    var jointValues: ConditionValues {
        conditions.isEmpty || newChecks.isEmpty
            ? ConditionValues()
            : ConditionValues(conditions + newChecks, among: changingTokens, includingKeys: false)
    }

    private var newChecks: [[SQLScript.Token]] {
        statements.filter { $0.createdTable != nil }.flatMap(\.checks)
    }

    /// True if a statement that changes rows makes values by chance.
    var usesChance: Bool { changingTokens.contains { $0.isWord("RANDOM") || $0.isWord("RANDOMBLOB") } }

    private var changingTokens: [SQLScript.Token] { statements.filter(\.changesRows).flatMap(\.tokens) }

    /// True if a statement leaves out or deletes rows where a key is taken.
    var resolvesConflicts: Bool {
        statements.contains { statement in
            guard statement.changesRows else { return false }
            return statement.replacesRows
                || zip(statement.tokens, statement.tokens.dropFirst()).contains { token, next in
                    token.isWord("OR") && ["REPLACE", "IGNORE"].contains(next.keyword)
                        || token.isWord("ON") && next.isWord("CONFLICT")
                }
        }
    }

    /// Returns the last statement that updates a column, or a whole table if it names no column of it.
    func update(of column: SQLName, in tables: Set<SQLName>) -> Statement? {
        statements.last { statement in
            statement.updatedTable.map(tables.contains) == true && statement.mentions(column)
        }
    }
}

extension ScriptOutline.Rebuild {
    /// Returns whether its words alone show that it keeps every row and every column.
    func keepsAll(of old: TableLayout, in new: TableLayout) -> Bool {
        if order == .inPlace { return new.hasAll(old.columns.map(\.name)) }
        guard copies.count == 1, copies[0].tokens.opens(with: "INSERT", "INTO"),
            copies[0].tokens.drop(while: { !$0.isWord("FROM") }).filter({ $0.keyword != ";" }).count == 2,
            !copies[0].tokens.contains(where: { $0.isWord("DISTINCT") })
        else { return false }
        return old.columns.allSatisfy { column in
            guard case .column(let other) = source(of: column.name, from: old, to: new).source else {
                return false
            }
            return other == column.name
        }
    }

    /// Returns where the values of a column come from, and the statement that copies them.
    func source(
        of column: SQLName, from old: TableLayout, to new: TableLayout
    ) -> (source: ScriptOutline.ValueSource, statement: ScriptOutline.Statement) {
        let target = creation.createdTable
        let statement = copies.last { $0.insertion?.table == target } ?? copies[copies.count - 1]
        guard let insertion = statement.insertion, insertion.table == target else {
            return (.expression, statement)
        }
        let columns = insertion.columns ?? new.columns.map(\.name)
        guard let position = columns.firstIndex(of: column) else { return (.omitted, statement) }
        // A star stands for the columns of the old table.
        let values = insertion.values.flatMap { value -> [[SQLScript.Token]] in
            guard value.last?.keyword == "*", value.count == 1 || value.count == 3 else { return [value] }
            return old.columns.map { [SQLScript.Token(name: $0.name)] }
        }
        guard position < values.count else { return (.expression, statement) }
        let value = values[position]
        if value.count == 3, value[1].keyword == "." { return (.column(value[2].name), statement) }
        guard value.count == 1, old.column(named: value[0].name) != nil else {
            return (.expression, statement)
        }
        return (.column(value[0].name), statement)
    }
}

extension ScriptOutline.Statement {
    /// True if the statement copies, updates or deletes rows.
    var changesRows: Bool { copies || updatedTable != nil || reducedTable != nil }

    /// The conditions of the `CHECK` constraints.
    fileprivate var checks: [[SQLScript.Token]] {
        tokens.indices.filter { tokens[$0].isWord("CHECK") }.map {
            Array(tokens[($0 + 1)...].parenthesized.dropFirst())
        }
    }

    /// The table that the statement updates.
    var updatedTable: SQLName? {
        guard tokens.opens(with: "UPDATE") || tokens.opens(with: "WITH"),
            let update = tokens.outside.firstIndex(where: { $0.isWord("UPDATE") })
        else { return nil }
        var rest = tokens.outside[(update + 1)...]
        if rest.first?.keyword == "OR" { rest = rest.dropFirst(2) }
        return rest.qualifiedName
    }

    /// Returns whether the statement gives a column the same value in every row of its table.
    func overwrites(_ column: SQLName, of table: TableLayout) -> Bool {
        guard updatedTable != nil, hasNoCondition,
            let start = tokens.firstIndex(where: { $0.isWord("SET") })
        else { return false }
        let assignments = Array(tokens[(start + 1)...].prefix { !$0.isWord("WHERE") })
            .separated(endingAt: ["FROM", "RETURNING"])
        return assignments.contains { assignment in
            assignment.first?.name == column
                && !assignment.dropFirst(2).contains {
                    $0.isWord("SELECT") || table.column(named: $0.name) != nil
                }
        }
    }

    /// The table that the statement writes to or deletes from.
    var writtenTable: SQLName? {
        if let table = updatedTable ?? reducedTable { return table }
        guard tokens.opens(with: "INSERT") || tokens.opens(with: "REPLACE"),
            let into = tokens.firstIndex(where: { $0.isWord("INTO") })
        else { return nil }
        return tokens[(into + 1)...].qualifiedName
    }

    /// True if the statement deletes rows that have the key of a new one.
    var replacesRows: Bool { tokens.opens(with: "REPLACE") || tokens.opens(with: "INSERT", "OR", "REPLACE") }

    /// The parts of an `INSERT … SELECT`: the table, its columns if the statement names them, and what they get.
    var insertion: (table: SQLName, columns: [SQLName]?, values: [[SQLScript.Token]])? {
        guard tokens.opens(with: "INSERT") || tokens.opens(with: "REPLACE"),
            let into = tokens.firstIndex(where: { $0.isWord("INTO") }),
            let table = tokens[(into + 1)...].qualifiedName,
            let select = tokens.firstIndex(where: { $0.isWord("SELECT") })
        else { return nil }
        let end = into + 1 + (tokens[(into + 1)...].dropFirst().first?.keyword == "." ? 3 : 1)
        var columns: [SQLName]?
        if end < select, let open = tokens[end..<select].firstIndex(where: { $0.keyword == "(" }),
            let close = tokens[open..<select].firstIndex(where: { $0.keyword == ")" })
        {
            columns = tokens[(open + 1)..<close].filter { $0.keyword != "," }.map(\.name)
        }
        var values = Array(tokens[(select + 1)...])
            .separated(endingAt: ["FROM", "WHERE", ";", "UNION", "ORDER", ")"])
        if values[0].first?.isWord("DISTINCT") == true || values[0].first?.isWord("ALL") == true {
            values[0].removeFirst()
        }
        // A name after an expression is another name for it.
        values = values.map { value in
            let alias = value.lastIndex { $0.isWord("AS") }
            return alias.map { $0 == value.count - 2 ? Array(value[..<$0]) : value } ?? value
        }
        return (table, columns, values)
    }
}

extension [SQLScript.Token] {
    /// Returns the tokens between commas outside parentheses, up to one of these words outside parentheses.
    func separated(endingAt ends: Set<String>) -> [[SQLScript.Token]] {
        var parts: [[SQLScript.Token]] = [[]]
        var depth = 0
        for token in self {
            if depth == 0, ends.contains(token.keyword) { break }
            if token.keyword == "(" { depth += 1 }
            if token.keyword == ")" { depth -= 1 }
            if depth == 0, token.keyword == "," {
                parts.append([])
            } else {
                parts[parts.count - 1].append(token)
            }
        }
        return parts
    }
}

extension SQLScript.Token {
    fileprivate init(name: SQLName) {
        self.init(.quotedName, name.sql)
    }
}
