import AppMigrations
import Foundation
import GRDB
import MigrationTools
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("The ledger is read", .timed)
struct LedgerReadsTests {
    let folder: TemporaryFolder
    let queue: DatabaseQueue
    private let reads = Reads()

    init() throws {
        folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.prepareDatabase { [reads] db in
            db.trace { event in
                if case .statement(let statement) = event { reads.note(statement.sql) }
            }
        }
        queue = try folder.queue("app.sqlite", configuration)
    }

    private func migrator(_ count: Int, _ commits: SchemaOptions.Commits = .grouped(after: .seconds(60)))
        throws
        -> SchemaMigrator
    {
        try SchemaMigrator(
            migrations: (1...count).map {
                SQLMigration(
                    version: Int64($0), name: "t", sql: "CREATE TABLE t\($0)(x)", down: "DROP TABLE t\($0)")
            }, options: SchemaOptions(commits: commits))
    }

    @Test("twice in a run: before the lock and under it")
    func run() throws {
        try migrator(1).migrate(queue)
        #expect(reads.take() == 0, "a new database has none")
        #expect(try migrator(5).migrate(queue).applied == [2, 3, 4, 5])
        #expect(reads.take() == 2)
        #expect(try migrator(8, .allOrNothing).migrate(queue).applied == [6, 7, 8])
        #expect(reads.take() == 2)
    }

    @Test("twice in a run that refuses edits, makes a backup or finds marked migrations")
    func options() throws {
        try migrator(1).migrate(queue)
        var schema = try migrator(2)
        schema.options.editedMigrations = .refuse
        schema.options.backupFolder = folder.url.appendingPathComponent("copies")
        _ = reads.take()
        #expect(try schema.migrate(queue).applied == [2])
        #expect(reads.take() == 2)

        try queue.execute("DELETE FROM schema_migrations; DELETE FROM schema_migrations_details")
        try schema.markApplied(queue, upTo: 2)
        _ = reads.take()
        #expect(try migrator(3).migrate(queue).applied == [3])
        #expect(reads.take() == 2)
    }

    @Test("again for each further group, because another process may have written")
    func groups() throws {
        try migrator(1).migrate(queue)
        _ = reads.take()
        #expect(try migrator(4, .grouped(after: .zero)).migrate(queue).applied == [2, 3, 4])
        #expect(reads.take() == 4)
    }

    @Test("once if nothing is pending, and once to list pending migrations")
    func nothingPending() throws {
        let schema = try migrator(3)
        try schema.migrate(queue)
        _ = reads.take()
        #expect(try schema.migrate(queue).applied == [])
        #expect(reads.take() == 1)
        #expect(try queue.read { try schema.pending($0) } == [])
        #expect(reads.take() == 1)
    }

    @Test("once for the status, and once for the history")
    func status() throws {
        let schema = try migrator(3)
        try schema.migrate(queue, upTo: 2)
        _ = reads.take()
        #expect(try queue.read(schema.status).pendingVersions == [3])
        #expect(reads.take() == 1)
        #expect(try queue.read(AppliedMigration.fetchAll).map(\.version) == [1, 2])
        #expect(reads.take() == 1)
    }

    @Test("twice in a rollback")
    func rollback() throws {
        let schema = try migrator(3)
        try schema.migrate(queue)
        _ = reads.take()
        #expect(try schema.rollback(queue, to: 1) == [3, 2])
        #expect(reads.take() == 2)
    }
}

/// Counts the statements that read versions from the ledger.
private final class Reads: Sendable {
    private let count = Locked(0)

    func note(_ sql: String) {
        if sql.hasPrefix("SELECT version FROM main.schema_migrations ") { count.withLock { $0 += 1 } }
    }

    /// The number of reads since the last call.
    func take() -> Int {
        count.withLock { count in
            defer { count = 0 }
            return count
        }
    }
}
