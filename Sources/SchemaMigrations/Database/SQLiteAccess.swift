import CMigrationSQLite
import Foundation
package import GRDB

// Calls of SQLite's C interface, for features that GRDB does not offer.

extension Statement {
    /// The statement's text from the file, with the blanks, comments and lone semicolons before it.
    var sourceText: String {
        app_migrations_sql(sqliteStatement).map { String(cString: $0) } ?? sql
    }

    /// Runs a statement that returns no row.
    ///
    /// GRDB takes several times as long as SQLite for a row, and this leaves GRDB out: no observer is notified.
    func run(with values: [DatabaseValue]) throws {
        var code: Int32 = 0
        for (place, value) in zip(Int32(1)..., values) {
            switch value.storage {
            case .int64(let integer): app_migrations_bind_integer(sqliteStatement, place, integer)
            case .double(let number): app_migrations_bind_double(sqliteStatement, place, number)
            case .string(let text): code = max(code, app_migrations_bind_text(sqliteStatement, place, text))
            case .null, .blob: app_migrations_bind_null(sqliteStatement, place)
            }
        }
        if code == 0 { code = app_migrations_run(sqliteStatement) }
        guard code == 0 else {
            throw DatabaseError(
                resultCode: ResultCode(rawValue: code),
                message: String(cString: app_migrations_message(sqliteStatement)), sql: sql)
        }
    }

    /// Returns the integers in the first column, row by row, or nil if it holds anything else.
    ///
    /// GRDB's own methods take several times as long to read a column as SQLite takes for a row.
    func integers() throws -> [Int64]? {
        var integers: [Int64] = []
        var isAllIntegers = true
        let rows = try Row.fetchCursor(self)
        while try rows.next() != nil {
            var integer: Int64 = 0
            isAllIntegers = app_migrations_integer(sqliteStatement, 0, &integer) != 0 && isAllIntegers
            integers.append(integer)
        }
        return isAllIntegers ? integers : nil
    }
}

extension Database {
    /// Runs statements past GRDB, and returns the texts of their rows, with an empty one for null.
    ///
    /// GRDB refuses nearly every statement of a suspended database, also those with which a run puts back what it has
    /// changed, and which lock nothing. A pragma may be refused after it has taken effect.
    @discardableResult
    func runPastGRDB(_ sql: String) throws -> [[String]] {
        var rows: [[String]] = []
        func run() -> Int32 {
            rows = []
            return withUnsafeMutablePointer(to: &rows) { rows in
                app_migrations_execute(
                    sqliteConnection, sql,
                    { rows, count, texts, _ in
                        guard let rows, let texts else { return 0 }
                        let row = (0..<Int(count)).map { texts[$0].map { String(cString: $0) } ?? "" }
                        rows.assumingMemoryBound(to: [[String]].self).pointee.append(row)
                        return 0
                    }, rows)
            }
        }
        var code = ResultCode(rawValue: run())
        if code.primaryResultCode == .SQLITE_INTERRUPT {
            // The suspension itself interrupts, and stays in force as long as a statement has not come to its end.
            app_migrations_reset_statements(sqliteConnection)
            code = ResultCode(rawValue: run())
        }
        guard code == .SQLITE_OK else {
            throw DatabaseError(resultCode: code, message: lastErrorMessage, sql: sql)
        }
        return rows
    }

    /// Returns the file of the main database; nil for one in memory.
    func mainFile() throws -> URL? {
        let path = try runPastGRDB("PRAGMA database_list").first { $0[1] == "main" }?[2] ?? ""
        return path.isEmpty ? nil : URL(fileURLWithPath: path)
    }

    /// Leaves WAL mode, if this is the last connection (pragma.html, journal_mode).
    ///
    /// An app or a system may keep the log, and as long as it is there, SQLite writes into it, whatever the mode says.
    package func leaveWAL() throws {
        app_migrations_keep_log(sqliteConnection, 0)
        try execute(sql: "PRAGMA main.journal_mode = DELETE")
    }

    /// Sets the time that SQLite waits by itself for another connection.
    package func setBusyTimeout(milliseconds: Int32) {
        app_migrations_busy_timeout(sqliteConnection, milliseconds)
    }

    /// Returns a number that has changed if anybody has changed the database since this connection returned it last.
    ///
    /// Not in a transaction: changes that are not committed have no number.
    func dataVersion() throws -> UInt32 {
        // Any statement that begins to read would do; this one looks at nothing else.
        try cachedStatement(sql: "PRAGMA main.data_version").execute()
        return app_migrations_data_version(sqliteConnection)
    }

    /// Returns the declared type and the collation of a table's column.
    package func columnMetadata(_ column: SQLName, of table: SQLName) -> (type: String, collation: String) {
        var type: UnsafePointer<CChar>?
        var collation: UnsafePointer<CChar>?
        app_migrations_column_metadata(sqliteConnection, table.text, column.text, &type, &collation)
        return (
            type: type.map { String(cString: $0) } ?? "",
            collation: collation.map { String(cString: $0) } ?? "BINARY"
        )
    }
}
