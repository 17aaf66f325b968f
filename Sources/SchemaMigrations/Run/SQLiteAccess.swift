import Foundation
import GRDB
import GRDBSQLite

// What GRDB does not offer, by way of SQLite's C interface. All of it is here.

extension Statement {
    /// The statement's text as it stands in the file, with the blanks, comments and lone semicolons before it.
    var sourceText: String {
        sqlite3_sql(sqliteStatement).map { String(cString: $0) } ?? sql
    }
}

extension Database {
    /// Sets how long SQLite waits by itself while another connection is in the way.
    func setBusyTimeout(milliseconds: Int32) {
        sqlite3_busy_timeout(sqliteConnection, milliseconds)
    }
}
