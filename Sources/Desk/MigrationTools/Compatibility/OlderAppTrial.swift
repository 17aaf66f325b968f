import AppMigrations
package import GRDB
import SchemaMigrations
import TextOutput

/// Lets an app that knows only an older schema write and read rows in the newer one.
///
/// Every statement runs in two databases, of which only one is migrated. It must not fail in that one alone, and both
/// must have the same rows in the end, as far as the older schema can hold them.
package struct OlderAppTrial {
    private let older: DatabaseQueue
    private let newer: DatabaseQueue
    /// The numbers of SQLite's random functions, the same in both databases.
    private let chance = Locked(RandomNumbers(seed: 0))

    /// Prepares two databases with rows.
    ///
    /// - Parameters:
    ///   - before: a database with the older schema.
    ///   - hasRows: whether there are rows when the migration runs.
    ///   - migrate: migrates a database to the newer schema.
    package init(
        _ before: DatabaseQueue, hasRows: Bool, migrate: (DatabaseQueue) throws -> Void
    ) throws {
        let configuration = before.configuration
        older = try configuration.scratchDatabase()
        newer = try configuration.scratchDatabase()
        try before.backup(to: older)
        if hasRows {
            try older.write {
                _ = try TableFilling.fillAll($0, rowsPerTable: 12, seed: 3, style: .awkward)
            }
        }
        try older.backup(to: newer)
        try migrate(newer)
        for queue in [older, newer] {
            queue.writeWithoutTransaction { db in
                for function in DatabaseFunction.random({ [chance] in chance.withLock { $0.next() } }) {
                    db.add(function: function)
                }
            }
        }
    }

    /// Runs the statements, and returns what fails or comes out otherwise: a sentence; nil if nothing does.
    package func run() throws -> String? {
        let tables = try older.read { try TableLayout.fetchAll($0) }
        if let problem = try difference(tables, "it changes the rows of") { return problem }
        try addRowsOfNewTables()
        let problem = try insertions(tables) ?? updates(tables) ?? deletions(tables)
        return try problem ?? difference(tables, "statements of an older app have another effect on")
    }

    /// Adds rows that only a newer app can write, and that refer to the others.
    private func addRowsOfNewTables() throws {
        try newer.write { db in
            let known = try Set(older.read { try TableLayout.fetchAll($0).map(\.name) })
            let new = try Set(TableLayout.fetchAll(db).map(\.name)).subtracting(known)
            if !new.isEmpty { _ = try TableFilling.fillAll(db, rowsPerTable: 12, seed: 4, tables: new) }
        }
    }

    // MARK: Statements

    private struct Statement {
        let sql: String
        let arguments: [DatabaseValue]
    }

    private func insertions(_ tables: [TableLayout]) throws -> String? {
        let other = try older.configuration.scratchDatabase()
        try older.backup(to: other)
        let more = try other.write { db in
            _ = try TableFilling.fillAll(db, rowsPerTable: 8, seed: 5, style: .distinct)
            return try tables.flatMap { table in
                guard !table.columns.isEmpty else { return [Statement]() }
                let columns = table.columns.map(\.name).sql
                let places = table.columns.map { _ in "?" }.joined(separator: ", ")
                return try Row.fetchAll(
                    db, sql: "SELECT \(columns) FROM \(table.name.inMain)"
                ).map { row in
                    Statement(
                        sql: "INSERT INTO \(table.name.sql)(\(columns)) VALUES (\(places))",
                        arguments: Array(row.databaseValues))
                }
            }
        }
        return try firstFailure(of: more)
    }

    private func updates(_ tables: [TableLayout]) throws -> String? {
        try firstFailure(
            of: tables.flatMap { table in
                table.columns.filter { !$0.isRowID }.flatMap { column in
                    let (name, table) = (column.name.sql, table.name.sql)
                    return [
                        "UPDATE \(table) SET \(name) = \(name)",
                        """
                        UPDATE \(table) SET \(name) = (SELECT max(\(name)) FROM \(table)) \
                        WHERE \(name) = (SELECT min(\(name)) FROM \(table))
                        """,
                        "UPDATE \(table) SET \(name) = NULL WHERE \(name) = (SELECT min(\(name)) FROM \(table))",
                    ].map { Statement(sql: $0, arguments: []) }
                }
            })
    }

    private func deletions(_ tables: [TableLayout]) throws -> String? {
        try firstFailure(
            of: tables.flatMap { table in
                table.columns.prefix(2).map { column in
                    let name = column.name.sql
                    return Statement(
                        sql: """
                            DELETE FROM \(table.name.sql) WHERE \(name) = (SELECT max(\(name)) FROM \(table.name.sql))
                            """,
                        arguments: [])
                }
            })
    }

    /// Runs each statement in both databases, until one fails in the newer one alone.
    private func firstFailure(of statements: [Statement]) throws -> String? {
        for (number, statement) in statements.enumerated() {
            func run(_ queue: DatabaseQueue) throws {
                chance.withLock { $0 = RandomNumbers(seed: UInt64(number)) }
                try queue.write {
                    try $0.execute(sql: statement.sql, arguments: StatementArguments(statement.arguments))
                }
            }
            do { try run(older) } catch { continue }
            do {
                try run(newer)
            } catch let error as DatabaseError {
                return "the statement \(statement.sql.quoted) fails: \(error.message ?? "unknown error")"
            }
        }
        return nil
    }

    // MARK: Rows

    private func difference(_ tables: [TableLayout], _ clause: String) throws -> String? {
        for table in tables {
            func rows(_ queue: DatabaseQueue) throws -> [[StoredValue]: Int] {
                var rows: [[StoredValue]: Int] = [:]
                try queue.read { db in
                    try StoredRows.forEach(db, table.name, table.columns.map(\.name)) {
                        rows[$0, default: 0] += 1
                    }
                }
                return rows
            }
            if try rows(older) != rows(newer) { return "\(clause) table \(table.name.text.quoted)" }
        }
        return nil
    }
}
