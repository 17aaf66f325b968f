import AppMigrations
import Foundation
import GRDB
import MigrationDiagnostics
import SchemaMigrations

/// The primary key of a table, in whose order a deferred step goes through the rows.
struct TableKey {
    let table: SQLName
    let columns: [SQLName]
    /// The columns with what decides about their order, as in `name TEXT COLLATE NOCASE`.
    private(set) var order: [String]
    /// The columns with what decides about their order in the table, whatever the index says.
    private let plainOrder: [String]
    /// The columns as the key's index has them, in whose order the rows are read without sorting them.
    private var indexed: [IndexedColumn]
    /// The columns that may be NULL: SQLite allows that in keys other than `INTEGER PRIMARY KEY` (lang_createtable.html).
    private let nullable: [SQLName]
    /// The encoding of the database's texts.
    private let encoding: TextEncoding
    /// The condition for the rows that count; nil if all do.
    private var condition: SQL?

    /// Reads the key of a table; nil if there is no such table.
    ///
    /// - Parameter condition: the condition for the rows that count; nil if all do.
    /// - Throws: `MigrationError`, when the table has no key that stays.
    init?(of table: SQLName, where condition: SQL?, _ db: Database) throws {
        self.table = table
        self.condition = condition
        let found = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT type, wr, strict FROM pragma_table_list WHERE schema = 'main' AND name = ? COLLATE NOCASE
                    """), arguments: [table.text])
        guard let found, let type: String = found[0], let isWithoutRowID: Bool = found[1] else { return nil }
        guard try type == "table" || type == "shadow" && !ShadowTables(db).contains(table) else {
            let kinds = ["virtual": "a virtual table", "shadow": "a table of a virtual table"]
            throw MigrationError(
                .stepFailed, "\(table) is \(kinds[type] ?? "a \(type)"), whose rows have no key",
                remedy: "Go through its content with `startingAt:`, and a cursor of your own.")
        }
        let key = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT name, "notnull" FROM pragma_table_info(?, 'main') WHERE pk > 0 ORDER BY pk
                    """), arguments: [table.text])
        guard !key.isEmpty else {
            throw MigrationError(
                .stepFailed, "table \(table) has no primary key, and VACUUM may renumber its rows",
                remedy: "Give the table a primary key first, or use `startingAt:` with a cursor of your own.")
        }
        let columns = key.map { SQLName($0[0] as String) }
        self.columns = columns
        let index = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT x.name, x.coll, x."desc" FROM pragma_index_list(?, 'main') AS l, pragma_index_xinfo(l.name, 'main') AS x
                    WHERE l.origin = 'pk' AND x.key
                    """), arguments: [table.text])
        let isFirstDescending: Bool = index.first?[2] ?? false
        var (order, plainOrder, indexed): ([String], [String], [IndexedColumn]) = ([], [], [])
        for column in columns {
            let metadata = db.columnMetadata(column, of: table)
            let affinity = Affinity(type: metadata.type, isStrict: found[2])
            func text(_ collation: SQLName) -> String {
                "\(column.text) \(affinity.rawValue)\(collation == "BINARY" ? "" : " COLLATE \(collation.text)")"
            }
            let own = SQLName(metadata.collation)
            let entry = index.first { SQLName($0[0] as String) == column }
            let collation = entry.map { SQLName($0[1] as String) } ?? own
            // An index can be read from either end.
            let isDescending = entry.map { ($0[2] as Bool) != isFirstDescending } ?? false
            indexed.append(
                IndexedColumn(
                    name: column, collation: collation == own ? nil : collation, isDescending: isDescending))
            order.append(text(collation) + (isDescending ? " DESC" : ""))
            plainOrder.append(text(own))
        }
        (self.order, self.plainOrder, self.indexed) = (order, plainOrder, indexed)
        // A key without an index is the row id.
        nullable =
            isWithoutRowID || index.isEmpty
            ? [] : zip(columns, key).filter { !($0.1[1] as Bool) }.map(\.0)
        encoding = try String.fetchOne(db, sql: "PRAGMA encoding").flatMap(TextEncoding.init) ?? .utf8
    }
}

/// A column of a key's index.
private struct IndexedColumn {
    let name: SQLName
    /// The collation of the index, if the column has another one.
    let collation: SQLName?
    /// True if the index has the column's values the other way round than those of its first column.
    let isDescending: Bool
}

extension TableKey {
    /// Returns the key in the order in which a step has begun; nil if it has another one now.
    ///
    /// Older versions of the package wrote the names alone, and went by the table's collations, ascending.
    func inOrder(_ known: [String]) -> TableKey? {
        let known = known.map { SQLName($0) }
        if known == order.map({ SQLName($0) }) { return self }
        guard known == columns || known == plainOrder.map({ SQLName($0) }) else { return nil }
        var key = self
        key.order = plainOrder
        key.indexed = columns.map { IndexedColumn(name: $0, collation: nil, isDescending: false) }
        return key
    }
}

// MARK: Going through the rows

extension TableKey {
    /// Rows between two keys.
    struct Range: Codable {
        var lower: RowKey
        /// True if the row at the lower end is done, so that the range begins behind it.
        var isLowerDone = false
        let upper: RowKey
    }

    /// Returns the range of all rows whose key has no NULL; nil if there are none.
    func fullRange(_ db: Database) throws -> Range? {
        guard let lower = try firstKey(db, ascending: true), let upper = try firstKey(db, ascending: false)
        else { return nil }
        return Range(lower: lower, upper: upper)
    }

    private func firstKey(_ db: Database, ascending: Bool) throws -> RowKey? {
        try fetchKey(
            db,
            """
            SELECT \(sql: selection) FROM \(sql: table.inMain) WHERE \(including(SQL(sql: hasNoNull)))
            ORDER BY \(sql: sorting(ascending: ascending)) LIMIT 1
            """)
    }

    private func sorting(ascending: Bool) -> String {
        indexed.map { "\(term($0))\($0.isDescending == ascending ? " DESC" : "")" }.joined(separator: ", ")
    }

    /// Returns the key of the last row of a batch; nil if the range has fewer rows.
    func lastKey(ofBatch size: Int, in range: Range, _ db: Database) throws -> RowKey? {
        // Without a row value, SQLite visits all rows with the first columns of the range: as many of these as possible are the same.
        for count in (0..<(hasRowValue ? 1 : columns.count)).reversed() {
            // To skip rows takes an eighth of the time that it takes to count them.
            let key = try fetchKey(
                db,
                """
                SELECT \(sql: selection) FROM \(sql: table.inMain) WHERE \(condition(range, sharing: count))
                ORDER BY \(sql: sorting(ascending: true)) LIMIT 1 OFFSET \(size - 1)
                """)
            if let key { return key }
        }
        return nil
    }

    /// Returns the number of rows that count.
    func count(_ db: Database) throws -> Int { try count(including("1"), db) }

    func count(_ condition: SQL, _ db: Database) throws -> Int {
        let (sql, arguments) = try SQL("SELECT count(*) FROM \(sql: table.inMain) WHERE \(condition)").build(
            db)
        return try Int.fetchOne(db.cachedStatement(sql: sql), arguments: arguments) ?? 0
    }

    private func fetchKey(_ db: Database, _ query: SQL) throws -> RowKey? {
        let (sql, arguments) = try query.build(db)
        guard let row = try Row.fetchOne(db.cachedStatement(sql: sql), arguments: arguments) else {
            return nil
        }
        return RowKey(
            values: columns.indices.map {
                KeyValue(row[2 * $0 + 1] as DatabaseValue, isText: row[2 * $0] == "text", encoding)
            })
    }

    /// For each column its type and its value, of texts their bytes: they need not be text in UTF-8, nor end at a NUL.
    private var selection: String {
        columns.map { column in
            let name = column.sql
            return
                "typeof(\(name)), CASE typeof(\(name)) WHEN 'text' THEN CAST(\(name) AS BLOB) ELSE \(name) END"
        }.joined(separator: ", ")
    }
}

// MARK: Conditions

extension TableKey {
    /// Returns true if the key of any row has a NULL; such rows have no order, and are a batch of their own.
    func hasNulls(_ db: Database) throws -> Bool {
        try nullCondition.map { try hasRows(where: $0, db) } ?? false
    }

    /// Returns true if there are rows that count.
    func hasRows(_ db: Database) throws -> Bool { try hasRows(where: "1", db) }

    private func hasRows(where condition: SQL, _ db: Database) throws -> Bool {
        let (sql, arguments) = try SQL(
            "SELECT EXISTS (SELECT 1 FROM \(sql: table.inMain) WHERE \(including(condition)))"
        ).build(db)
        return try Bool.fetchOne(db, sql: sql, arguments: arguments) ?? false
    }

    /// The condition for rows whose key has a NULL; nil if no key can have one.
    var nullCondition: SQL? {
        guard !nullable.isEmpty else { return nil }
        return SQL(sql: "(\(nullable.map { "\(qualified($0)) IS NULL" }.joined(separator: " OR ")))")
    }

    private var hasNoNull: String {
        nullable.isEmpty ? "1" : nullable.map { "\(qualified($0)) IS NOT NULL" }.joined(separator: " AND ")
    }

    /// The condition for the rows of a range.
    ///
    /// The hints make SQLite go by the key, and not by an index that the app's own part of the statement could use too:
    /// each batch would then visit all the rows that are left. Where they made one end alone look as good as both, SQLite
    /// would leave out the other one.
    func condition(_ range: Range) -> SQL {
        let shared = zip(range.lower.values, range.upper.values).prefix { $0 == $1 }.count
        return condition(range, sharing: hasRowValue ? 0 : shared)
    }

    /// The condition for those rows of a range that have the first columns of its lower end.
    private func condition(_ range: Range, sharing count: Int) -> SQL {
        let first = range.lower.values.prefix(count)
        var terms = zip(indexed, first).map { hinted("\(sql: term($0)) = \($1.sql)") }
        terms.append(end(.from, range.lower, isIncluded: !range.isLowerDone, without: count))
        // Two spellings of a value may be the same for the index.
        let isShared = first == range.upper.values.prefix(count)
        terms.append(end(.upTo, range.upper, isIncluded: true, without: isShared ? count : 0))
        if !nullable.isEmpty { terms.append(SQL(sql: hasNoNull)) }
        return including(terms.joined(separator: " AND "))
    }

    private func hinted(_ condition: SQL) -> SQL { "likelihood(\(condition), 0.001)" }

    /// The condition for one row; for a key with a NULL, of all such rows.
    func condition(_ key: RowKey) -> SQL {
        if key.hasNull, let nullCondition { return including(nullCondition) }
        return including(isRow(key))
    }

    /// Returns the key for fewer rows of those that count.
    func leavingOut(_ rows: [RowKey]) -> TableKey {
        guard let condition else { return self }
        // A chain: SQLite's parser has no room for a hundred parentheses in one another.
        var key = self
        key.condition = rows.reduce("(\(condition)\n)") { others, row in
            let isOne: SQL = row.hasNull ? nullCondition ?? "0" : isRow(row)
            return others + " AND (\(isOne)) IS NOT TRUE"
        }
        return key
    }

    /// The condition for those rows of a condition that count.
    private func including(_ rows: SQL) -> SQL {
        // The line ends a comment that the condition may end in.
        condition.map { "\(rows) AND (\($0)\n)" } ?? rows
    }

    private enum End { case from, upTo }

    /// True if the index has the order of a row value: one direction, and the collations of the table's columns.
    private var hasRowValue: Bool { !indexed.contains { $0.isDescending || $0.collation != nil } }

    /// The condition for the rows on one side of a key, by the columns behind the first ones.
    private func end(_ end: End, _ key: RowKey, isIncluded: Bool, without count: Int) -> SQL {
        func sign(_ column: IndexedColumn) -> String { (end == .from) == column.isDescending ? "<" : ">" }
        let columns = Array(zip(indexed, key.values)).dropFirst(count)
        guard let first = columns.first else { return isIncluded ? "1" : "0" }
        if hasRowValue {
            let row = columns.map { term($0.0) }.joined(separator: ", ")
            let values = columns.map(\.1.sql).joined(separator: ", ")
            let sign = sign(first.0) + (isIncluded ? "=" : "")
            return hinted(
                columns.count == 1
                    ? "\(sql: row) \(sql: sign) \(values)" : "(\(sql: row)) \(sql: sign) (\(values))")
        }
        var rest: SQL = isIncluded ? "1" : "0"
        for (column, value) in columns.reversed() {
            let (term, value) = (SQL(sql: term(column)), value.sql)
            rest = "(\(term) \(sql: sign(column)) \(value) OR \(term) = \(value) AND \(rest))"
        }
        return "\(hinted("\(sql: term(first.0)) \(sql: sign(first.0))= \(first.1.sql)")) AND \(rest)"
    }

    /// The condition for the rows with a key.
    private func isRow(_ key: RowKey) -> SQL {
        zip(indexed, key.values).map { "\(sql: term($0)) = \($1.sql)" }.joined(separator: " AND ")
    }

    /// A column as the index compares it.
    private func term(_ column: IndexedColumn) -> String {
        qualified(column.name) + (column.collation.map { " COLLATE \($0.sql)" } ?? "")
    }

    /// With the table's name, so that a subquery cannot take it for a column of its own.
    private func qualified(_ column: SQLName) -> String { "\(table.sql).\(column.sql)" }
}
