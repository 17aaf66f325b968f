import AppMigrations
import Foundation
import GRDB
import SchemaMigrations

/// Finds out which conditions of a file decide the same of every row.
///
/// It wraps each `WHERE` of a statement in a function that notes what the condition is.
struct ConditionTrial {
    /// The results of a statement's conditions over all rows.
    struct Answers {
        var isTrue = false
        var isFalse = false

        static func || (first: Answers, second: Answers) -> Answers {
            Answers(isTrue: first.isTrue || second.isTrue, isFalse: first.isFalse || second.isFalse)
        }
    }

    /// The places of the statements whose conditions are noted.
    let statements: Set<Int>
    private let script: SQLScript
    private let answers = Locked<[Int: Answers]>([:])
    private static let function = "app_migrations_note"

    /// Creates a trial; nil if there is no condition that can be noted.
    ///
    /// - Parameter wanted: the place of the only statement to note; nil for all.
    init?(_ outline: ScriptOutline, at wanted: Int? = nil) {
        var bytes: [UInt8] = []
        var end = 0
        var statements: Set<Int> = []
        let all = Array(outline.script.sql.utf8)
        for (index, statement) in outline.script.statements.enumerated()
        where outline.statements[index].changesRows && wanted.map({ $0 == index }) != false {
            for condition in Self.conditions(in: Array(all[statement.range])) {
                let range =
                    statement.range.lowerBound + condition.lowerBound..<statement.range.lowerBound
                    + condition.upperBound
                bytes += all[end..<range.lowerBound] + Array(" \(Self.function)(\(index), (".utf8)
                bytes += all[range] + Array(") IS TRUE)".utf8)
                end = range.upperBound
                statements.insert(index)
            }
        }
        guard end > 0,
            let script = try? SQLScript(Data(bytes + all[end...]), fileName: outline.script.fileName)
        else { return nil }
        (self.statements, self.script) = (statements, script)
    }

    /// Runs the file, and returns what each statement's conditions have been, by the statement's place.
    func run(_ db: Database) throws -> [Int: Answers] {
        db.add(
            function: DatabaseFunction(Self.function, argumentCount: 2) { [answers] values in
                let isTrue = Bool.fromDatabaseValue(values[1]) == true
                if let index = Int.fromDatabaseValue(values[0]) {
                    answers.withLock { answers in
                        if isTrue { answers[index, default: Answers()].isTrue = true }
                        if !isTrue { answers[index, default: Answers()].isFalse = true }
                    }
                }
                return isTrue
            })
        try script.runUnchecked(db)
        return answers.withLock { $0 }
    }

    /// Returns where the conditions of a statement are, without those in parentheses.
    private static func conditions(in statement: [UInt8]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var (depth, start, end) = (0, Int?.none, 0)
        func close() {
            if let start, start < end { found.append(start..<end) }
        }
        let tokens = Array(SQLLexer(statement))
        let words = tokens.map { token in
            let text = String(decoding: statement[token.range], as: UTF8.self)
            return token.kind == .word ? text.uppercasedASCII : text
        }
        for (index, (token, word)) in zip(tokens, words).enumerated() {
            let next = words.dropFirst(index + 1).prefix(2)
            // A full-text index answers it alone.
            if word == "MATCH" { return [] }
            if word == "(" { depth += 1 }
            if word == ")" { depth -= 1 }
            // A column may be called window.
            if depth == 0, ends.contains(word), word != "WINDOW" || next.last == "AS" {
                close()
                // What comes before a condition joins tables.
                if word == "ON", start != nil || next.first == "CONFLICT" { return found }
                start = nil
            }
            end = token.range.upperBound
            if depth == 0, word == "WHERE" { start = end }
        }
        close()
        return found
    }

    /// The words that end a condition; after `ON` comes what to do where a key is taken.
    private static let ends: Set<String> = [
        "GROUP", "HAVING", "ORDER", "LIMIT", "WINDOW", "RETURNING", "UNION", "INTERSECT", "EXCEPT", "ON", ";",
    ]
}

extension Collection<SQLScript.Token> {
    /// The tokens before an `ON CONFLICT`, which before it needs a `WHERE`, if only `WHERE true`.
    fileprivate var upToConflict: SubSequence {
        let conflict = zip(indices, zip(self, dropFirst())).first {
            $1.0.isWord("ON") && $1.1.isWord("CONFLICT")
        }
        return self[..<(conflict?.0 ?? endIndex)]
    }
}

extension ScriptOutline {
    /// Returns what a statement's condition has to be of some row, so that rows tell what the statement loses.
    ///
    /// A `DELETE` says which rows it deletes, but not what goes with them.
    ///
    /// - Parameter judged: the tables that have rows.
    /// - Returns: nil if nothing depends on it.
    func decisiveAnswer(at index: Int, _ schema: ReviewedSchema, judged: Set<SQLName>) -> Bool? {
        let statement = statements[index]
        let condition = statement.tokens.outside.drop { !$0.isWord("WHERE") }
        let rest = statement.tokens.drop { !$0.isWord("WHERE") }.upToConflict
        // What names no column is the same of any row.
        guard !condition.isEmpty,
            rest.contains(where: { token in
                token.isWord("SELECT")
                    || schema.tables.values.contains {
                        judged.contains($0.name) && $0.column(named: token.name) != nil
                    }
            })
        else { return nil }
        if let table = statement.reducedTable ?? statement.updatedTable {
            let source = source(of: table, before: index)
            guard judged.contains(source) else { return nil }
            let added = statements[..<index].compactMap(\.addedColumn).filter { $0.table == table }.map(
                \.column)
            let isOverwriting = statement.reducedTable == nil && !statement.assigns(only: Set(added))
            let hasEffects =
                schema.triggers.values.contains { $0.table == source }
                || statement.reducedTable != nil
                    && schema.tables.values.contains { other in
                        other.references.contains { $0.parent == source }
                    }
            return isOverwriting || hasEffects ? true : nil
        }
        // Of a comparison of columns that nothing limits with literals, rows have the values on both sides.
        let tables = schema.tables.values.filter { judged.contains($0.name) }
        let isLimited = tables.contains { table in
            table.columns.contains { column in
                rest.contains { $0.name == column.name } && schema.limits(column, of: table)
            }
        }
        guard isLimited || !statement.hasPlainCondition else { return nil }
        let sources = statements.compactMap { $0.dropped("TABLE") }.filter { table in
            statement.mentions(table) && judged.contains(source(of: table, before: index))
        }
        let isPartial = sources.contains { table in
            !statements.contains { other in
                other.copies && other.mentions(table) && !other.tokens.outside.contains { $0.isWord("WHERE") }
            }
        }
        return isPartial ? false : nil
    }

    /// Returns the name before the file of a table, or of the one in whose place it comes.
    private func source(of table: SQLName, before index: Int) -> SQLName {
        let renames = statements[..<index].compactMap(\.rename)
        let first = renames.reversed().reduce(table) { $1.to == $0 ? $1.from : $0 }
        return rebuilds.first { $0.creation.createdTable == first }?.table ?? first
    }
}

extension ReviewedSchema {
    /// Returns whether a `CHECK` or a key limits the values of a column.
    fileprivate func limits(_ column: TableLayout.Column, of table: TableLayout) -> Bool {
        column.isRowID || !table.checks(of: column).isEmpty
            || table.references.contains { $0.columns.contains(column.name) }
            || tables.values.contains { other in
                other.references.contains {
                    $0.parent == table.name && $0.parentColumns.contains(column.name)
                }
            }
    }
}

extension ArraySlice<SQLScript.Token> {
    /// True if the condition compares columns with texts and whole numbers, and calls no function.
    fileprivate var isPlainCondition: Bool {
        let operators = ["WHERE", "AND", "OR", "NOT", "IN", "IS", "BETWEEN", "LIKE", "(", "="]
        return !contains {
            $0.isWord("SELECT") || ["+", "-", "*", "/", "%", "|", "&", "~"].contains($0.keyword)
                || $0.keyword.first?.isNumber == true && Int64($0.keyword) == nil
        }
            && zip(self, dropFirst()).allSatisfy { token, next in
                next.keyword != "(" || operators.contains(token.keyword)
            }
            && zip(self, dropFirst()).allSatisfy { token, next in
                next.keyword != "." || Int64(token.keyword) == nil
            }
    }
}

extension ScriptOutline.Statement {
    /// True if the condition compares columns with texts and whole numbers, and calls no function.
    var hasPlainCondition: Bool { tokens.drop { !$0.isWord("WHERE") }.isPlainCondition }

    /// The column that the statement adds.
    fileprivate var addedColumn: (table: SQLName, column: SQLName)? {
        guard let (table, change) = alteration, change.first?.isWord("ADD") == true else { return nil }
        return change.dropFirst().drop { $0.isWord("COLUMN") }.first.map { (table, $0.name) }
    }

    /// Returns whether an `UPDATE` gives values to no other columns.
    fileprivate func assigns(only columns: Set<SQLName>) -> Bool {
        guard let start = tokens.outside.firstIndex(where: { $0.isWord("SET") }) else { return false }
        let assignments = tokens.outside[(start + 1)...].prefix { !$0.isWord("WHERE") && !$0.isWord("FROM") }
        return assignments.split { $0.keyword == "," }.allSatisfy { part in
            part.dropFirst().first?.keyword == "=" && part.first.map { columns.contains($0.name) } == true
        }
    }
}
