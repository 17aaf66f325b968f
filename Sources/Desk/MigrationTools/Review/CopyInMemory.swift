import GRDB
import SchemaMigrations

/// A database in memory that becomes a copy of others, one after the other: to open one takes longer than to copy it.
final class CopyInMemory {
    private var copy: DatabaseQueue?

    deinit { close() }

    func close() {
        try? copy?.close()
        copy = nil
    }

    /// Returns a copy of a database, in the place of the last one.
    func copy(of database: DatabaseQueue) throws -> DatabaseQueue {
        let copy = try copy ?? database.configuration.scratchDatabase()
        self.copy = copy
        try database.backup(to: copy)
        return copy
    }
}
