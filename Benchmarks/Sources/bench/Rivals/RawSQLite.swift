import Foundation
import GRDBSQLite

/// A connection of SQLite's own, without anything around it: the least that a database can cost.
final class RawSQLite {
    struct Failure: Error {
        let message: String
    }

    private var connection: OpaquePointer?

    init(_ file: URL) throws {
        try check(
            sqlite3_open_v2(
                file.path, &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil)
        )
    }

    deinit {
        sqlite3_close(connection)
    }

    func execute(_ sql: String) throws {
        try check(sqlite3_exec(connection, sql, nil, nil, nil))
    }

    /// Runs a query whose first column is an integer.
    ///
    /// - Returns: the sum, so that no value is left unread.
    @discardableResult
    func sum(_ sql: String) throws -> Int64 {
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v2(connection, sql, -1, &statement, nil))
        defer { sqlite3_finalize(statement) }
        var sum: Int64 = 0
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: sum &+= sqlite3_column_int64(statement, 0)
            case SQLITE_DONE: return sum
            case let code: try check(code)
            }
        }
    }

    /// Runs texts in one transaction, with the `synchronous` that this package raises to.
    func migrate(_ texts: [String]) throws {
        try execute("PRAGMA synchronous = EXTRA")
        try execute("PRAGMA foreign_keys = OFF")
        try execute("BEGIN IMMEDIATE")
        for text in texts { try execute(text) }
        try execute("COMMIT")
    }

    private func check(_ code: Int32) throws {
        guard code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE else {
            throw Failure(message: String(cString: sqlite3_errmsg(connection)))
        }
    }
}
