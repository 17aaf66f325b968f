import Foundation
import GRDB
import SchemaMigrations

/// A database in memory that becomes a copy of others, one after the other: to open one takes longer than to copy it.
///
/// For SQL, time stands still in it: what migrations make of the same rows must not differ because a second has passed.
final class CopyInMemory {
    private var copy: DatabaseQueue?
    private let now = Date()

    deinit { close() }

    func close() {
        try? copy?.close()
        copy = nil
    }

    /// Returns a copy of a database, in the place of the last one.
    func copy(of database: DatabaseQueue) throws -> DatabaseQueue {
        let copy = try copy ?? open(database.configuration)
        self.copy = copy
        try database.backup(to: copy)
        return copy
    }

    private func open(_ configuration: Configuration) throws -> DatabaseQueue {
        let functions = try DatabaseFunction.time(now: now)
        let copy = try configuration.scratchDatabase()
        try copy.inDatabase { db in
            for function in functions { db.add(function: function) }
            // SQLite trusts its own functions in definitions anyway.
            try db.execute(sql: "PRAGMA trusted_schema = ON")
        }
        return copy
    }
}
