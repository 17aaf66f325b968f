import Foundation
import GRDB
import GRDBSQLite

// What GRDB does not offer, by way of SQLite's C interface. All of it is here.

extension Statement {
    /// The statement's text as it stands in the file, with the blanks, comments and lone semicolons before
    /// it.
    var sourceText: String {
        sqlite3_sql(sqliteStatement).map { String(cString: $0) } ?? sql
    }

    /// The integers in the first column, row by row; nil where anything else is in it.
    ///
    /// GRDB's own ways of reading a column take a multiple of the time that SQLite takes for a row.
    func integers() throws -> [Int64]? {
        var integers: [Int64] = []
        var isAllIntegers = true
        let rows = try Row.fetchCursor(self)
        while try rows.next() != nil {
            isAllIntegers = isAllIntegers && sqlite3_column_type(sqliteStatement, 0) == SQLITE_INTEGER
            integers.append(sqlite3_column_int64(sqliteStatement, 0))
        }
        return isAllIntegers ? integers : nil
    }
}

extension Database {
    /// Sets how long SQLite waits by itself while another connection is in the way.
    func setBusyTimeout(milliseconds: Int32) {
        sqlite3_busy_timeout(sqliteConnection, milliseconds)
    }
}
