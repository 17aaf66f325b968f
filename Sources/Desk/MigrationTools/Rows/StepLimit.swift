import AppMigrations
import CMigrationSQLite
package import GRDB

/// A limit of the steps that SQLite takes for a migration over generated rows, which may never end over them.
package final class StepLimit: Sendable {
    /// The error of a migration that has reached the limit.
    struct Reached: Error {}

    /// The number of steps, in millions.
    static let millions = 20

    private let calls = Locked(0)
    private static let stepsPerCall = 1_000

    private var isReached: Bool { calls.withLock { $0 > Self.millions * 1_000_000 / Self.stepsPerCall } }

    private func count() -> Bool {
        calls.withLock { $0 += 1 }
        return isReached
    }

    /// Runs the body, which runs a migration on a database.
    ///
    /// - Throws: `Reached`, whatever the migration makes of SQLite's error; otherwise the body's error.
    package static func watch<Value>(_ database: DatabaseQueue, _ body: () throws -> Value) throws -> Value {
        let limit = StepLimit()
        let context = Unmanaged.passUnretained(limit).toOpaque()
        database.writeWithoutTransaction { db in
            app_migrations_ask_to_stop(
                db.sqliteConnection,
                { context in
                    guard let context else { return 0 }
                    return Unmanaged<StepLimit>.fromOpaque(context).takeUnretainedValue().count() ? 1 : 0
                }, context)
        }
        let result = Result { try body() }
        database.writeWithoutTransaction { app_migrations_ask_to_stop($0.sqliteConnection, nil, nil) }
        if limit.isReached { throw Reached() }
        return try result.get()
    }
}
