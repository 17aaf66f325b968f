import CMigrationSQLite
import GRDB
import SchemaMigrations

/// A database in memory that becomes a copy of others, one after the other: to open one takes longer than to copy it.
///
/// For SQL, time stands still in it: what migrations make of the same rows must not differ because a second has passed.
final class CopyInMemory {
    private var copy: DatabaseQueue?

    /// In memory, with a VFS of its own clock (uri.html): functions that take the place of SQLite's would be slower, and would accept
    /// the present in a `CHECK`.
    private static let path =
        app_migrations_register_still_time() == 0 ? "file::memory:?vfs=still-time" : ":memory:"

    deinit { close() }

    func close() {
        try? copy?.close()
        copy = nil
    }

    /// Returns a copy of a database, in the place of the last one.
    func copy(of database: DatabaseQueue) throws -> DatabaseQueue {
        let copy = try copy ?? database.configuration.scratchDatabase(path: Self.path)
        self.copy = copy
        try database.backup(to: copy)
        return copy
    }
}
