import AppMigrations
import Foundation
import GRDB
import SchemaMigrations

extension Database {
    /// Loses the records of managers, as salvaging leaves the database.
    func loseRecords(andHistory: Bool) throws {
        let history =
            try andHistory || !tableExists(OwnTables.history)
            ? [] : Row.fetchAll(self, sql: "SELECT id, entry FROM \(OwnTables.history)")
        for table in [OwnTables.records, OwnTables.mirror, OwnTables.history] {
            try execute(sql: "DROP TABLE IF EXISTS \(table)")
        }
        var state = StoreState()
        state.markRecordsAsLost(at: Date())
        try SQLiteStore.restore(state.sharedRows, history: history.map { ($0[0], $0[1]) }, self)
    }
}
