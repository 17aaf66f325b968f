import AppMigrations
import Foundation
import GRDB

/// The copying of rows from the old table to the new one.
struct RebuildCopy {
    private let names: RebuildNames
    private let table: RebuildTable
    private let shadow: RebuildTable
    /// The columns to fill, and the expressions that fill them.
    private let columns: [(name: SQLName, expression: String)]

    let logColumns: [String]

    /// Reads both tables; nil if one of them does not exist.
    init?(_ order: RebuildOrder, _ db: Database) throws {
        names = order.names
        guard let table = try RebuildTable(names.table, db), let shadow = try RebuildTable(names.shadow, db)
        else {
            return nil
        }
        self.table = table
        self.shadow = shadow
        logColumns = RebuildLog.columns(of: table.key.count)
        columns = shadow.columns.filter { !$0.isGenerated }.compactMap { column in
            if let expression = order.copying[column.name] { return (column.name, "(\(expression)\n)") }
            return table.column(column.name).map { (column.name, $0.name.sql) }
        }
    }

    /// Throws SQLite's error if an expression does not compile.
    func check(_ db: Database) throws {
        _ = try db.makeStatement(sql: insertion(where: "0"))
    }

    /// Copies the rows that meet a condition, except those that the new table has already.
    func insert(_ condition: SQL, _ db: Database) throws {
        let (sql, arguments) = try condition.build(db)
        try insert(where: sql, arguments, db)
    }

    /// Copies the row with a noted key.
    func insert(noted seq: Int64, _ db: Database) throws {
        try insert(where: isNoted(in: names.table), ["seq": seq], db)
    }

    private func insert(where condition: String, _ arguments: StatementArguments, _ db: Database) throws {
        do {
            try db.cachedStatement(sql: insertion(where: condition)).execute(arguments: arguments)
        } catch let error as DatabaseError {
            // The app knows the new table by its own name, and no statement of ours.
            let message = error.message?.replacingOccurrences(of: names.shadow.text, with: names.table.text)
            throw DatabaseError(
                resultCode: error.extendedResultCode, message: message.map { "in the new table, \($0)" })
        }
    }

    private func insertion(where condition: String) -> String {
        let isThere = table.key.map { column in
            let (new, old) = (
                "\(names.shadow.sql).\(column.name.sql)", "\(names.table.sql).\(column.name.sql)"
            )
            return Self.isSame(new, old, column)
        }
        // A conflict clause of the new table's would leave rows out, or remove them.
        return """
            INSERT OR ABORT INTO \(names.shadow.inMain)(\(columns.map(\.name).sql))
            SELECT \(columns.map(\.expression).joined(separator: ", ")) FROM \(names.table.inMain)
            WHERE \(condition) AND NOT EXISTS (
                SELECT 1 FROM \(names.shadow.inMain) WHERE \(isThere.joined(separator: " AND ")))
            """
    }

    /// The condition for rows of one of the tables whose key is that of the log's entry `:seq`.
    func isNoted(in table: SQLName) -> String {
        zip(self.table.key, logColumns).map { column, logColumn in
            Self.isSame(
                "\(table.sql).\(column.name.sql)",
                "(SELECT \(logColumn) FROM \(names.log.inMain) WHERE seq = :seq)",
                column)
        }.joined(separator: " AND ")
    }

    /// By the index of the key, and then byte by byte: two texts that the key takes for one are two notes.
    private static func isSame(_ left: String, _ right: String, _ column: RebuildTable.KeyColumn) -> String {
        let sign = column.isNullable ? "IS" : "="
        let same = "\(left) \(sign) \(right) COLLATE \(SQLName(column.collation).sql)"
        return SQLName(column.collation) == "BINARY"
            ? same : "\(same) AND +\(left) IS \(right) COLLATE BINARY"
    }

    // MARK: Keys

    /// Reads the key of the log's entry.
    func key(_ seq: Int64, _ db: Database) throws -> RowKey {
        let selection = logColumns.map {
            "typeof(\($0)), CASE typeof(\($0)) WHEN 'text' THEN CAST(\($0) AS BLOB) ELSE \($0) END"
        }
        let encoding = try String.fetchOne(db, sql: "PRAGMA encoding").flatMap(TextEncoding.init) ?? .utf8
        let row = try Row.fetchOne(
            db, sql: "SELECT \(selection.joined(separator: ", ")) FROM \(names.log.inMain) WHERE seq = ?",
            arguments: [seq])
        return RowKey(
            values: logColumns.indices.map { index in
                guard let row else { return .null }
                return KeyValue(
                    row[2 * index + 1] as DatabaseValue, isText: row[2 * index] == "text", encoding)
            })
    }

    /// Notes that a row is to be copied; for a key with a NULL, all such rows.
    func note(_ key: RowKey, _ db: Database) throws {
        let into: SQL =
            "INSERT INTO \(sql: names.log.inMain)(todo, \(sql: logColumns.joined(separator: ", ")))"
        if key.hasNull, let nulls = try TableKey(of: names.table, db)?.nullCondition {
            let keys = table.key.map(\.name).sql
            try db.execute(
                literal:
                    "\(into) SELECT DISTINCT 1, \(sql: keys) FROM \(sql: names.table.inMain) WHERE \(nulls)")
        } else {
            try db.execute(literal: "\(into) VALUES (1, \(key.values.map(\.sql).joined(separator: ", ")))")
        }
    }
}
