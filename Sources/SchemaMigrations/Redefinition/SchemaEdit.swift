import CMigrationSQLite
package import GRDB

/// A setting that `sqlite3_db_config` changes also inside a transaction (c3ref/c_dbconfig_defensive.html).
package enum ConnectionSwitch: Int32 {
    case foreignKeys = 1002
    case triggers = 1003
    case defensive = 1010
    case writableSchema = 1011
    /// Takes a name in double quotes that no column has for a text, in definitions, as SQLite does when it reads a schema.
    case doubleQuotedTexts = 1014
}

extension Database {
    /// Runs the body with switches turned on or off, and puts them back, whatever happens.
    package func with<Result>(
        _ switches: [(ConnectionSwitch, Bool)], _ body: () throws -> Result
    ) rethrows -> Result {
        let before = switches.map {
            ($0.0.rawValue, app_migrations_setting(sqliteConnection, $0.0.rawValue, $0.1 ? 1 : 0))
        }
        defer {
            for (setting, value) in before.reversed() where value >= 0 {
                _ = app_migrations_setting(sqliteConnection, setting, value)
            }
        }
        return try body()
    }

    /// Runs the body with a pragma of the connection set, and puts it back, whatever happens.
    func with<Result>(pragma name: String, _ value: Int, _ body: () throws -> Result) throws -> Result {
        let before = try pragma(name)
        guard before != value else { return try body() }
        try execute(sql: "PRAGMA \(name) = \(value)")
        defer { _ = try? runPastGRDB("PRAGMA \(name) = \(before)") }
        return try body()
    }

    /// Replaces the stored text of a table, inside a transaction.
    ///
    /// - Returns: false if this SQLite does not let its schema be edited; then nothing has changed.
    func edit(_ table: SQLName, to sql: String) throws -> Bool {
        var isDone = false
        try inSavepoint {
            // In defensive mode, SQLite ignores the pragmas without a word.
            isDone = try with([(.defensive, false), (.writableSchema, true)]) { try write(sql, table) }
            return isDone ? .commit : .rollback
        }
        clearSchemaCache()
        return isDone
    }

    private func write(_ sql: String, _ table: SQLName) throws -> Bool {
        let version = try pragma("main.schema_version")
        do {
            try execute(
                sql: "UPDATE main.sqlite_master SET sql = ? WHERE type = 'table' AND name = ?",
                arguments: [sql, table])
        } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_ERROR {
            // "table sqlite_master may not be modified".
            return false
        }
        // This connection has to read its schema again. Others, and the statements that are compiled, learn of the change from
        // the version. It comes last: RESET makes SQLite forget that the transaction changes the schema, and after a
        // ROLLBACK, the connection would go on with the schema that was undone.
        let next = Int32(truncatingIfNeeded: version + 1)
        try execute(sql: "PRAGMA writable_schema = RESET; PRAGMA main.schema_version = \(next)")
        let stored = try String.fetchOne(
            self, sql: "SELECT sql FROM main.sqlite_master WHERE type = 'table' AND name = ?",
            arguments: [table])
        return try stored.map { $0.utf8.elementsEqual(sql.utf8) } == true
            && pragma("main.schema_version") == Int(next)
    }
}
