import AppMigrations
import CMigrationSQLite
package import GRDB

/// A limit of the steps that SQLite takes for a migration, which may never end.
package final class StepLimit: Sendable {
    /// The error of a migration that has reached the limit.
    struct Reached: Error, CustomStringConvertible {
        let millions: Int
        /// The line of the statement that was stopped; nil if it is not known.
        let line: Int?

        var description: String {
            """
            It takes more than \(millions) million steps of SQLite without any rows, and was stopped: it may never end. A \
            recursive WITH needs a WHERE or a LIMIT at which it ends.
            """
        }
    }

    /// The number of steps over generated rows, in millions.
    package static let millions = 20
    /// The number of steps without rows, which also make what later migrations need.
    static let millionsWithoutRows = 400

    private let millions: Int
    private let calls = Locked(0)
    private static let stepsPerCall = 1_000

    private init(millions: Int) { self.millions = millions }

    private var isReached: Bool { calls.withLock { $0 > millions * 1_000_000 / Self.stepsPerCall } }

    private func count() -> Bool {
        calls.withLock { $0 += 1 }
        return isReached
    }

    /// Runs the body, which runs a migration on a database.
    ///
    /// - Parameter millions: the number of steps, in millions.
    /// - Throws: `Reached`, whatever the migration makes of SQLite's error; otherwise the body's error.
    package static func watch<Value>(
        _ database: DatabaseQueue, millions: Int = StepLimit.millions, _ body: () throws -> Value
    ) throws -> Value {
        let limit = StepLimit(millions: millions)
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
        guard limit.isReached else { return try result.get() }
        guard case .failure(let error as MigrationError) = result else {
            throw Reached(millions: millions, line: nil)
        }
        throw Reached(millions: millions, line: error.line)
    }
}
