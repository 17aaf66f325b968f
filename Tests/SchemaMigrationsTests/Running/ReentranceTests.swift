import AppMigrations
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("Migrating inside a database access", .timed)
struct ReentranceTests {
    let folder: TemporaryFolder
    let schema: SchemaMigrator

    init() throws {
        folder = try TemporaryFolder()
        schema = try folder.migrator(["1_a.sql": "CREATE TABLE a(x)"])
    }

    private static let message = """
        A database cannot be migrated inside a transaction. Migrate before `db.write { … }` or `db.read { … }`, not \
        inside.
        """

    private func expectRefusal(_ database: any DatabaseWriter) throws {
        let error = try #require(throws: MigrationError.self) { try schema.migrate(database) }
        #expect(error.code == .misuse)
        #expect(error.description == Self.message)
    }

    @Test("migrating in a write transaction is an error")
    func insideWrite() throws {
        let queue = try folder.queue()
        try queue.write { _ in try expectRefusal(queue) }
        let pool = try folder.pool("pool.sqlite")
        try pool.write { _ in try expectRefusal(pool) }
        try pool.barrierWriteWithoutTransaction { db in
            try db.inTransaction {
                try expectRefusal(pool)
                return .commit
            }
        }
        #expect(try schema.migrate(queue).applied == [1])
        #expect(try schema.migrate(pool).applied == [1])
    }

    @Test("migrating in a read is an error")
    func insideRead() throws {
        let queue = try folder.queue()
        try queue.read { _ in try expectRefusal(queue) }
        let pool = try folder.pool("pool.sqlite")
        try pool.read { _ in try expectRefusal(pool) }
        #expect(try schema.migrate(queue).applied == [1])
        #expect(try schema.migrate(pool).applied == [1])
    }

    @Test("migrating in a transaction is an error even if nothing is pending")
    func nothingPending() throws {
        let pool = try folder.pool()
        try schema.migrate(pool)
        try pool.read { _ in try expectRefusal(pool) }
        try pool.write { _ in try expectRefusal(pool) }
    }

    @Test("migrating without a transaction works")
    func insideAccess() throws {
        let queue = try folder.queue()
        #expect(try queue.writeWithoutTransaction { _ in try schema.migrate(queue).applied } == [1])
        let pool = try folder.pool("pool.sqlite")
        #expect(try pool.writeWithoutTransaction { _ in try schema.migrate(pool).applied } == [1])
    }

    @Test("migrating in a migration is an error")
    func insideMigration() throws {
        let queue = try folder.queue()
        let inner = schema
        let outer = try SchemaMigrator(migrations: [
            CodeMigration(1, "Code1") { _ in try inner.migrate(queue) }
        ])
        let error = try #require(throws: MigrationError.self) { try outer.migrate(queue) }
        #expect(error.code == .misuse)
        #expect(try queue.tables() == [])
        #expect(try inner.migrate(queue).applied == [1])
    }
}
