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
    let order: [String]
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
        order = columns.map { column in
            let metadata = db.columnMetadata(column, of: table)
            let affinity = Affinity(type: metadata.type, isStrict: found[2])
            let isBinary = SQLName(metadata.collation) == "BINARY"
            return "\(column.text) \(affinity.rawValue)\(isBinary ? "" : " COLLATE \(metadata.collation)")"
        }
        // A key without an index is the row id.
        let hasIndex = try Bool.fetchOne(
            db.cachedStatement(
                sql: "SELECT EXISTS (SELECT 1 FROM pragma_index_list(?, 'main') WHERE origin = 'pk')"),
            arguments: [table.text])
        nullable =
            isWithoutRowID || hasIndex == false
            ? [] : zip(columns, key).filter { !($0.1[1] as Bool) }.map(\.0)
        encoding = try String.fetchOne(db, sql: "PRAGMA encoding").flatMap(TextEncoding.init) ?? .utf8
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
        let order = columns.map { "\($0.sql)\(ascending ? "" : " DESC")" }.joined(separator: ", ")
        return try fetchKey(
            db,
            """
            SELECT \(sql: selection) FROM \(sql: table.inMain) WHERE \(including(SQL(sql: hasNoNull)))
            ORDER BY \(sql: order) LIMIT 1
            """)
    }

    /// Returns the key of the last row of a batch; nil if the range has fewer rows.
    func lastKey(ofBatch size: Int, in range: Range, _ db: Database) throws -> RowKey? {
        // To skip rows takes an eighth of the time that it takes to count them.
        try fetchKey(
            db,
            """
            SELECT \(sql: selection) FROM \(sql: table.inMain) WHERE \(condition(range))
            ORDER BY \(sql: columns.sql) LIMIT 1 OFFSET \(size - 1)
            """)
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
        let lower = comparison(range.isLowerDone ? ">" : ">=", range.lower)
        let upper = comparison("<=", range.upper)
        let ends: SQL = "likelihood(\(lower), 0.001) AND likelihood(\(upper), 0.001)"
        return including(nullable.isEmpty ? ends : "\(ends) AND \(sql: hasNoNull)")
    }

    /// The condition for one row; for a key with a NULL, of all such rows.
    func condition(_ key: RowKey) -> SQL {
        if key.hasNull, let nullCondition { return including(nullCondition) }
        return including(comparison("=", key))
    }

    /// Returns the key for fewer rows of those that count.
    func leavingOut(_ rows: [RowKey]) -> TableKey {
        guard let condition else { return self }
        // A chain: SQLite's parser has no room for a hundred parentheses in one another.
        var key = self
        key.condition = rows.reduce("(\(condition)\n)") { others, row in
            let isOne: SQL = row.hasNull ? nullCondition ?? "0" : comparison("=", row)
            return others + " AND (\(isOne)) IS NOT TRUE"
        }
        return key
    }

    /// The condition for those rows of a condition that count.
    private func including(_ rows: SQL) -> SQL {
        // The line ends a comment that the condition may end in.
        condition.map { "\(rows) AND (\($0)\n)" } ?? rows
    }

    private func comparison(_ sign: String, _ key: RowKey) -> SQL {
        let values = key.values.map(\.sql).joined(separator: ", ")
        guard columns.count > 1 else { return "\(sql: qualified(columns[0])) \(sql: sign) \(values)" }
        return "(\(sql: columns.map(qualified).joined(separator: ", "))) \(sql: sign) (\(values))"
    }

    /// With the table's name, so that a subquery cannot take it for a column of its own.
    private func qualified(_ column: SQLName) -> String { "\(table.sql).\(column.sql)" }
}
