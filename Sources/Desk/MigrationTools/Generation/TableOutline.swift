import SchemaMigrations

/// A table, read from its SQL.
struct TableOutline {
    let object: SchemaObject
    let columns: [ColumnOutline]
    /// The constraints that belong to no column, in an order that does not depend on the SQL's.
    let constraints: [[[UInt8]]]
    /// `STRICT` and `WITHOUT ROWID`.
    let options: Set<String>
    private let sql: SQLTokens
    private let constraintTokens: Range<Int>
    /// The constraints that belong to no column, as they are written.
    let constraintTexts: [(key: String, text: String, isForeignKey: Bool)]

    var name: SQLName { object.name }
    var isStrict: Bool { options.contains("STRICT") }
    var hasRowID: Bool { !options.contains("WITHOUT") }

    /// Reads a table that is not virtual.
    init(_ object: SchemaObject, names: Set<SQLName>) {
        self.object = object
        let sql = SQLTokens(object, names: names)
        self.sql = sql
        let start = sql.tokens.firstIndex { $0.word == "(" } ?? sql.tokens.count
        let end = start < sql.tokens.count ? sql.end(ofParenthesisAt: start) : start
        let parts = start < end ? sql.parts(of: start + 1..<max(start + 1, end - 1)) : []
        let count = parts.firstIndex { sql.tokens[$0.lowerBound].isTableConstraint } ?? parts.count
        columns = parts[..<count].map { ColumnOutline(sql, $0) }
        constraints = parts[count...].map { part in
            SchemaObject.withoutNeedlessParentheses(sql.tokens[part].map(\.key))
        }.sorted {
            $0.lexicographicallyPrecedes($1)
        }
        constraintTexts = parts[count...].map { part in
            (
                key: sql.tokens[part].map { String(decoding: $0.key, as: UTF8.self) }.joined(separator: " "),
                text: sql.text(part), isForeignKey: sql.tokens[part].contains { $0.word == "FOREIGN" }
            )
        }
        constraintTokens = parts[count...].first.map { $0.lowerBound..<end } ?? end..<end
        options = Set(sql.tokens[end...].map(\.word)).intersection(["STRICT", "WITHOUT"])
    }

    func column(_ name: SQLName) -> ColumnOutline? { columns.first { $0.name == name } }

    /// Returns whether a table's constraint, or the definition of another column, names a column.
    func uses(_ column: SQLName) -> Bool {
        (constraints.isEmpty ? [] : sql.tokens[constraintTokens]).contains { $0.isName && $0.name == column }
            || columns.contains { $0.name != column && $0.uses(column) }
    }

    /// The columns of the primary key.
    var primaryKey: [SQLName] {
        if let column = columns.first(where: \.isPrimaryKey) { return [column.name] }
        let tokens = sql.tokens
        guard !constraints.isEmpty,
            let start = constraintTokens.first(where: {
                tokens[$0].word == "PRIMARY" && $0 + 2 < tokens.count
            })
        else { return [] }
        return sql.parts(of: start + 3..<max(start + 3, sql.end(ofParenthesisAt: start + 2) - 1))
            .map { tokens[$0.lowerBound].name }
    }

    func affinity(of column: ColumnOutline) -> Affinity { Affinity(type: column.type, isStrict: isStrict) }

    /// Returns whether a column takes no null.
    func isRequired(_ column: ColumnOutline) -> Bool {
        // Only tables with a row id that are not STRICT take nulls in their primary key (lang_createtable.html, 3.5).
        column.isNotNull || rowIDAlias == column.name
            || primaryKey.contains(column.name) && (!hasRowID || isStrict)
    }

    /// Returns whether a constraint allows each value of a column, or of it and others, only once.
    func isUnique(_ column: ColumnOutline) -> Bool {
        column.isUnique || primaryKey.contains(column.name)
            || constraints.contains { constraint in
                constraint.contains(Array("unique".utf8))
                    && constraint.contains(column.name.comparable)
            }
    }

    /// The column that is another name of the row's id (lang_createtable.html, 5).
    var rowIDAlias: SQLName? {
        guard hasRowID, primaryKey.count == 1, let column = column(primaryKey[0]),
            !(column.isPrimaryKey && column.words.contains("DESC"))
        else { return nil }
        return SQLName(column.type) == "integer" ? column.name : nil
    }

    /// The names of the row's id that no column hides (rowidtable.html).
    var rowIDNames: [SQLName] {
        hasRowID ? (["rowid", "_rowid_", "oid"] as [SQLName]).filter { column($0) == nil } : []
    }

    /// True if the ids of deleted rows are never given again.
    var hasSequence: Bool {
        columns.contains { $0.words.contains("AUTOINCREMENT") }
            || constraints.contains { $0.contains(Array("autoincrement".utf8)) }
    }

    /// True if a new row can take the place of others, whatever statement inserts it (lang_conflict.html).
    var replacesRows: Bool {
        let own = columns.flatMap { column in
            ["PRIMARY", "UNIQUE"].flatMap { column.constraints[$0] ?? [] }
        }
        let keys = ["primary", "unique"].map { Array($0.utf8) }
        let others = constraints.filter { constraint in keys.contains(where: constraint.contains) }
        return (own + others).contains { $0.contains(Array("replace".utf8)) }
    }

    /// Returns whether two tables differ in nothing but the order of their columns.
    func isSame(as other: TableOutline) -> Bool {
        hasSameConstraints(as: other) && columns.count == other.columns.count
            && columns.allSatisfy { other.column($0.name)?.clauses == $0.clauses }
    }

    /// Returns whether the constraints that belong to no column, and the options, are the same.
    func hasSameConstraints(as other: TableOutline) -> Bool {
        constraints == other.constraints && options == other.options
    }

    /// Returns the SQL of the table under another name.
    func sql(named new: SQLName) -> String {
        let tokens = sql.tokens
        var texts: [Int: String] = [:]
        if let index = tokens.firstIndex(where: { $0.word == "(" }), index > 0 {
            texts[index - 1] = new.plain
        }
        // A constraint may name its column with the table.
        for index in tokens.indices.dropLast()
        where tokens[index + 1].word == "." && tokens[index].name == name {
            texts[index] = new.plain
        }
        return sql.text(replacing: texts)
    }

    /// Returns the SQL of the table with other columns, each as SQL.
    func sql(columns texts: [String]) -> String {
        guard let first = columns.first, let last = columns.last else { return object.sql }
        let bytes = Array(object.sql.utf8)
        let range = first.range.lowerBound..<last.range.upperBound
        let separator = bytes[range].contains(UInt8(ascii: "\n")) ? ",\n    " : ", "
        return String(decoding: bytes[..<range.lowerBound], as: UTF8.self)
            + texts.joined(separator: separator)
            + String(decoding: bytes[range.upperBound...], as: UTF8.self)
    }
}

extension SQLTokens.Token {
    /// True if the token begins a constraint that belongs to no column, as no bare name can.
    fileprivate var isTableConstraint: Bool {
        ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"].contains(word)
    }
}

extension [[UInt8]] {
    fileprivate func lexicographicallyPrecedes(_ other: [[UInt8]]) -> Bool {
        lexicographicallyPrecedes(other) { $0.lexicographicallyPrecedes($1) }
    }
}
