import SchemaMigrations
import TextOutput

/// Finds what is probably a mistake in the tables and indexes that a file makes.
struct SchemaReview {
    private(set) var findings: [ReviewFinding] = []
    private let outline: ScriptOutline

    init(_ outline: ScriptOutline, from before: ReviewedSchema, to after: ReviewedSchema) {
        self.outline = outline
        let changed = after.tables(otherThanIn: before)
        for table in changed {
            let earlier = before.tables[table.name]
            for column in table.columns where earlier?.column(named: column.name) == nil {
                reviewType(of: column, in: table)
            }
            if earlier.map({ Set($0.indexes.map(\.name)) }) != Set(table.indexes.map(\.name)) {
                reviewIndexes(of: table, before: earlier, after.indexes)
            }
        }
        reviewNames(from: before, changed)
    }

    private mutating func report(_ rule: ReviewRule, _ statement: ScriptOutline.Statement?, _ problem: String)
    {
        findings.append(
            ReviewFinding(
                file: outline.script.fileName, line: statement?.line ?? 1, rule: rule, problem: problem,
                reason: "\(problem) \(rule.remedy)"))
    }

    // MARK: Types

    private mutating func reviewType(of column: TableLayout.Column, in table: TableLayout) {
        let title = "Column \(column.name.text.quoted) of table \(table.name.text.quoted)"
        let statement = outline.statement(shaping: table.name)
        if column.isKey, table.primaryKey.count == 1, table.hasRowID, column.type == "INT" {
            report(
                .intPrimaryKey, statement,
                "\(title) is INT PRIMARY KEY: it takes nulls and texts, and has an index of its own.")
        }
        let word = column.type.prefix { $0.isLetter }
        if let known = Self.types.first(where: { $0.isTypo(String(word)) }),
            !Self.types.contains(String(word))
        {
            report(
                .misspeltType, statement, "\(title) has the type \(column.type), which looks like \(known).")
        }
    }

    private static let types = [
        "INTEGER", "INT", "BIGINT", "TEXT", "VARCHAR", "REAL", "DOUBLE", "FLOAT", "BLOB", "NUMERIC",
        "BOOLEAN", "BOOL", "DATETIME", "DATE", "TIMESTAMP", "DECIMAL", "ANY", "CHAR", "CLOB", "TIME", "UUID",
        "JSON", "JSONB", "NCHAR", "NVARCHAR", "NCLOB", "NTEXT",
    ]

    // MARK: Indexes

    private mutating func reviewIndexes(
        of table: TableLayout, before: TableLayout?, _ definitions: [SQLName: SchemaObject]
    ) {
        func isOld(_ index: TableLayout.Index) -> Bool {
            before?.indexes.contains { $0.name == index.name } == true
        }
        // An index of an expression, of some rows, or with an order or a collation of its own is another one.
        let plain = table.indexes.filter { index in
            !index.isPartial && !index.columns.contains(nil)
                && definitions[index.name]?.names.isDisjoint(with: ["desc", "collate"]) != false
        }
        for index in plain where index.origin == .createIndex && !isOld(index) {
            let other = plain.first { other in
                other.name != index.name && other.columns == index.columns
                    && (!index.isUnique || other.isUnique)
                    && (other.origin != .createIndex || other.name < index.name || isOld(other))
            }
            guard let other else { continue }
            let statement = outline.statements.first {
                $0.tokens.opens(with: "CREATE") && $0.mentions(index.name)
            }
            report(
                .duplicateIndex, statement,
                """
                Index \(index.name.text.quoted) has the columns of \
                \(other.origin == .createIndex ? "index \(other.name.text.quoted)" : "a key of table \(table.name.text.quoted)").
                """)
        }
    }

    // MARK: Names

    private enum Style {
        case snake, camel

        init?(_ name: SQLName) {
            let text = name.text.drop { $0 == "_" }
            let hasCapital =
                text.dropFirst().contains(where: \.isUppercase) && text.contains(where: \.isLowercase)
            if text.contains("_") {
                if hasCapital { return nil }
                self = .snake
            } else if hasCapital {
                self = .camel
            } else {
                return nil
            }
        }
    }

    private mutating func reviewNames(from before: ReviewedSchema, _ changed: [TableLayout]) {
        func names(_ tables: some Sequence<TableLayout>) -> [(table: SQLName, column: SQLName?)] {
            tables.flatMap { table in [(table.name, nil)] + table.columns.map { (table.name, $0.name) } }
        }
        let added = names(changed).filter { name in
            guard let old = before.tables[name.table] else { return true }
            return name.column.map { old.column(named: $0) == nil } == true
        }
        guard !added.isEmpty else { return }
        let old = names(before.tables.values)
        let styles = old.compactMap { Style($0.column ?? $0.table) }
        let snakes = styles.count { $0 == .snake }
        // Only a clear majority is a style.
        guard styles.count >= 5, snakes * 5 >= styles.count * 4 || snakes * 5 <= styles.count else { return }
        let usual: Style = snakes * 2 > styles.count ? .snake : .camel
        let new = added.filter { name in Style(name.column ?? name.table).map { $0 != usual } == true }
        for name in new.sorted(by: { ($0.table, $0.column ?? "") < ($1.table, $1.column ?? "") }) {
            let title = name.column.map { "Column \($0.text.quoted) of table \(name.table.text.quoted)" }
            report(
                .nameStyle, outline.statement(shaping: name.table),
                """
                \(title ?? "Table \(name.table.text.quoted)") is written in \(usual == .snake ? "camelCase" : "snake_case"), \
                and most names in \(usual == .snake ? "snake_case" : "camelCase").
                """)
        }
    }
}

extension String {
    /// Returns whether a word differs from this one in one letter, or in the order of two.
    fileprivate func isTypo(_ word: String) -> Bool {
        let (one, other) = (Array(self), Array(word))
        guard one != other, one.count > 3, abs(one.count - other.count) < 2 else { return false }
        let start = zip(one, other).prefix { $0 == $1 }.count
        let (left, right) = (one[start...], other[start...])
        return left.dropFirst() == right.dropFirst() || left.dropFirst() == right || left == right.dropFirst()
            || left.count > 1 && left.count == right.count && left.dropFirst(2) == right.dropFirst(2)
                && left.first == right.dropFirst().first && right.first == left.dropFirst().first
    }
}
