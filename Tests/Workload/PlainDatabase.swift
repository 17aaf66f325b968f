import Foundation
import PlainSQLite

/// A database as SQLite itself shows it.
///
/// Not GRDB's: that is what is tried, and its queues leave threads behind, of which a fork knows nothing.
final class PlainDatabase {
    /// The message of SQLite.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private var connection: OpaquePointer?

    /// Opens a file, with the passphrase that `Scripts/with-sqlite.sh` has for all; by default a database in memory.
    init(_ path: String = ":memory:") throws {
        guard sqlite3_open(path, &connection) == SQLITE_OK else { throw failure }
        guard path != ":memory:", let setup = ProcessInfo.processInfo.environment["DATABASE_SETUP"] else {
            return
        }
        try execute(setup)
    }

    deinit { sqlite3_close_v2(connection) }

    /// Runs statements.
    func execute(_ sql: String) throws {
        guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else { throw failure }
    }

    /// The rows of a query, as text.
    func rows(_ sql: String) throws -> [[String]] {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK else { throw failure }
        defer { sqlite3_finalize(statement) }
        var rows: [[String]] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW:
                rows.append(
                    (0..<sqlite3_column_count(statement)).map { column in
                        sqlite3_column_text(statement, column).map { String(cString: $0) } ?? "NULL"
                    })
            case SQLITE_DONE: return rows
            default: throw failure
            }
        }
    }

    /// The first column of a query.
    func column(_ sql: String) throws -> [String] { try rows(sql).map { $0[0] } }

    /// True if there is a table.
    func hasTable(_ name: String) throws -> Bool {
        try !rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '\(name)'").isEmpty
    }

    private var failure: Failure {
        Failure(description: String(cString: sqlite3_errmsg(connection)))
    }
}
