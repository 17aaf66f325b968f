import SchemaMigrations

/// A column, read from the SQL of its table.
struct ColumnOutline {
    /// The way in which a generated column gets its values.
    enum Generation { case virtual, stored }

    let name: SQLName
    /// The column's SQL, with its name.
    let text: String
    /// The place of the column in the bytes of the table's SQL.
    let range: Range<Int>
    /// The declared type.
    let type: String
    /// The type and the constraints, in an order that does not depend on the SQL's.
    let clauses: [[[UInt8]]]
    /// The constraints by keyword, without their names.
    let constraints: [String: Set<[[UInt8]]>]
    /// The keywords outside parentheses.
    let words: Set<String>
    /// The default as SQL, which can stand in an expression; nil if there is none, or it is null.
    let defaultValue: String?
    /// True if SQLite can give the default to rows that exist (lang_altertable.html, 4).
    let hasConstantDefault: Bool
    /// Nil for a column that is not generated.
    let generation: Generation?
    /// True if the column, as `NOT NULL` says, takes no null.
    let isNotNull: Bool
    private let names: Set<SQLName>

    var isPrimaryKey: Bool { words.contains("PRIMARY") }
    var isUnique: Bool { words.contains("UNIQUE") }

    init(_ sql: SQLTokens, _ part: Range<Int>) {
        let tokens = sql.tokens
        name = tokens[part.lowerBound].name
        text = sql.text(part)
        range = tokens[part.lowerBound].range.lowerBound..<tokens[part.upperBound - 1].range.upperBound
        let clauses = Self.clauses(sql, part.dropFirst())
        func keyword(_ clause: Range<Int>) -> String {
            let isNamed = tokens[clause.lowerBound].word == "CONSTRAINT" && clause.count > 2
            return tokens[clause.lowerBound + (isNamed ? 2 : 0)].word
        }
        func first(_ words: String...) -> Range<Int>? { clauses.first { words.contains(keyword($0)) } }
        let typeClause = clauses.first.flatMap {
            Self.openings.contains(tokens[$0.lowerBound].word) ? nil : $0
        }
        type = typeClause.map(sql.text) ?? ""
        func keys(_ part: Range<Int>) -> [[UInt8]] {
            SchemaObject.withoutNeedlessParentheses(tokens[part].map(\.key))
        }
        self.clauses = clauses.map(keys).sorted { first, second in
            first.lexicographicallyPrecedes(second) { $0.lexicographicallyPrecedes($1) }
        }
        constraints = Dictionary(
            clauses.dropFirst(typeClause == nil ? 0 : 1).map { clause in
                let isNamed = tokens[clause.lowerBound].word == "CONSTRAINT" && clause.count > 2
                return (keyword(clause), [keys(clause.dropFirst(isNamed ? 2 : 0))])
            }, uniquingKeysWith: { $0.union($1) })
        words = Set(
            clauses.dropFirst(typeClause == nil ? 0 : 1).flatMap {
                tokens[$0].prefix { $0.word != "(" }.map(\.word)
            })
        isNotNull = first("NOT") != nil
        generation =
            first("GENERATED", "AS").map { tokens[$0].last?.word == "STORED" ? .stored : .virtual }
        let value = first("DEFAULT").map { clause in
            clause.dropFirst(tokens[clause.lowerBound].word == "CONSTRAINT" ? 3 : 1)
        }
        (defaultValue, hasConstantDefault) = Self.read(value.map { tokens[$0] } ?? [], value.map(sql.text))
        let expressions = clauses.filter { ["CHECK", "GENERATED", "AS"].contains(keyword($0)) }
        names = Set(expressions.flatMap { tokens[$0].drop { $0.word != "(" } }.filter(\.isName).map(\.name))
    }

    /// Returns whether an expression in the definition names a column.
    func uses(_ column: SQLName) -> Bool { names.contains(column) }

    private static let openings: Set<String> = [
        "CONSTRAINT", "PRIMARY", "NOT", "NULL", "UNIQUE", "CHECK", "DEFAULT", "COLLATE", "REFERENCES",
        "GENERATED",
        "AS",
    ]

    /// Splits a definition without its name into the type and the constraints.
    private static func clauses(_ sql: SQLTokens, _ part: Range<Int>) -> [Range<Int>] {
        let tokens = sql.tokens
        var starts: [Int] = []
        var index = part.lowerBound
        var isNamed = false
        var isReference = false
        while index < part.upperBound {
            let word = tokens[index].word
            // In `CONSTRAINT a NOT NULL`, the name belongs to what follows; in `REFERENCES b ON DELETE SET NULL` and
            // `NOT DEFERRABLE`, the words belong to the foreign key.
            let next = index + 1 < part.upperBound ? tokens[index + 1].word : ""
            let isOfReference =
                isReference
                && (word == "NOT" && next != "NULL" || ["SET"].contains(tokens[index - 1].word))
            if Self.openings.contains(word), !isOfReference, !isNamed {
                starts.append(index)
                isReference = word == "REFERENCES"
            } else if starts.isEmpty {
                starts.append(index)
            }
            if isNamed, Self.openings.contains(word) { isReference = word == "REFERENCES" }
            isNamed = false
            switch word {
            case "(": index = sql.end(ofParenthesisAt: index)
            case "CONSTRAINT":
                index += 2
                isNamed = true
            case "NOT", "PRIMARY": index += 2
            case "GENERATED": index += 3
            case "DEFAULT", "COLLATE":
                index += next == "(" ? 1 : 2
                if ["+", "-"].contains(next) { index += 1 }
            default: index += 1
            }
        }
        return zip(starts, starts.dropFirst() + [part.upperBound]).map { $0..<$1 }
    }

    private static func read(
        _ tokens: ArraySlice<SQLTokens.Token>, _ text: String?
    ) -> (value: String?, isConstant: Bool) {
        guard let first = tokens.first, let text, first.word != "NULL" else { return (nil, true) }
        if first.word == "(" { return (text, false) }
        if first.word.hasPrefix("CURRENT_") { return (text, false) }
        let isText = first.isName && !["TRUE", "FALSE"].contains(first.word) && !first.isNumber
        // A name after DEFAULT is a text.
        return (isText ? StoredValue(first.name.databaseValue).sql : text, true)
    }
}

extension SQLTokens.Token {
    fileprivate var isNumber: Bool { word.utf8.first.map { (0x30...0x39).contains($0) } == true }
}
