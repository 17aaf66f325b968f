package import GRDB
import SchemaMigrations

extension DatabaseQueue {
    /// Returns a copy in memory, with distinct rows added to every table.
    ///
    /// - Parameter seed: another seed makes other rows.
    package func filledCopy(rowsPerTable: Int, seed: UInt64) throws -> DatabaseQueue {
        let copy = try configuration.scratchDatabase()
        try backup(to: copy)
        _ = try copy.write { db in
            try TableFilling.fillAll(db, rowsPerTable: rowsPerTable, seed: seed, style: .distinct)
        }
        return copy
    }
}
