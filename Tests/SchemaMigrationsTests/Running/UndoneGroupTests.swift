import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A group of files without savepoints", .timed)
struct UndoneGroupTests {
    let folder: TemporaryFolder
    let queue: DatabaseQueue

    init() throws {
        folder = try TemporaryFolder()
        queue = try folder.queue()
    }

    @Test(
        "keeps what stands before the file that fails, each row once",
        arguments: [
            ("INSERT INTO a VALUES (4); SELECT nonsense", "no such column"),
            ("INSERT OR ROLLBACK INTO a VALUES (4), (1)", "UNIQUE constraint failed"),
            ("INSERT INTO a VALUES (-1)", "never below zero"),
            ("INSERT INTO a VALUES (4), (1)", "UNIQUE constraint failed"),
        ])
    func culprit(sql: String, problem: String) throws {
        let schema = try folder.migrator([
            "1_a.sql": """
            CREATE TABLE a(x UNIQUE);
            CREATE TRIGGER b BEFORE INSERT ON a WHEN new.x < 0 BEGIN
                SELECT RAISE(ROLLBACK, 'never below zero');
            END
            """,
            "2_b.sql": "INSERT INTO a VALUES (1)", "3_c.sql": "INSERT INTO a VALUES (2)", "4_d.sql": sql,
            "5_e.sql": "INSERT INTO a VALUES (5)",
        ])
        let progress = Progress(totalUnitCount: 7)
        let error = try #require(throws: MigrationError.self) {
            try schema.migrate(queue, progress: progress)
        }
        #expect(error.file == "4_d.sql")
        #expect(error.schemaVersion == 4)
        #expect(error.message.contains(problem))
        #expect(error.committed == [1, 2, 3])
        #expect(try queue.integers("SELECT x FROM a ORDER BY x") == [1, 2])
        #expect(try queue.ledger() == [1, 2, 3])
        #expect(progress.fractionCompleted < 1)
        #expect(try queue.read(AppliedMigration.fetchAll).allSatisfy { $0.duration != nil && $0.date != nil })
    }

    @Test("keeps nothing if all or nothing was asked for")
    func allOrNothing() throws {
        var schema = try folder.migrator(["1_a.sql": "CREATE TABLE a(x)", "2_b.sql": "SELECT nonsense"])
        schema.options.commits = .allOrNothing
        let error = try #require(throws: MigrationError.self) { try schema.migrate(queue) }
        #expect(error.file == "2_b.sql")
        #expect(error.committed.isEmpty)
        #expect(try queue.tables().isEmpty)
    }

    @Test("reports each file's progress once")
    func progress() throws {
        let schema = try folder.migrator([
            "1_a.sql": "CREATE TABLE a(x)", "2_b.sql": "CREATE TABLE b(x)", "3_c.sql": "SELECT nonsense",
            "4_d.sql": "CREATE TABLE d(x)",
        ])
        let progress = Progress(totalUnitCount: 4)
        #expect(throws: MigrationError.self) { try schema.migrate(queue, progress: progress) }
        #expect(progress.fractionCompleted == 0.5)
        #expect(progress.userInfo[.migrationName] as? String == "2_b.sql")
    }

    @Test("runs migrations in Swift once, whatever fails after them")
    func code() throws {
        let runs = Locked([Int]())
        let files = try folder.folder([
            "1_a.sql": "CREATE TABLE a(x)", "3_c.sql": "INSERT INTO a VALUES (3)",
            "4_d.sql": "INSERT INTO a VALUES (4); SELECT nonsense",
        ])
        let code = CodeMigration(2, "Code2") { db in
            runs.withLock { $0.append(2) }
            try db.execute(sql: "INSERT INTO a SELECT version FROM schema_migrations")
        }
        let schema = try SchemaMigrator(directories: [files], migrations: [code])
        let error = try #require(throws: MigrationError.self) { try schema.migrate(queue) }
        #expect(error.file == "4_d.sql")
        #expect(error.committed == [1, 2, 3])
        #expect(runs.withLock { $0 } == [2])
        // The migration in Swift has seen the row of the file before it.
        #expect(try queue.integers("SELECT x FROM a ORDER BY x") == [1, 3])
    }

    @Test(
        "shows the rows of earlier files to a file that reads the ledger",
        arguments: [
            "CREATE TABLE seen AS SELECT version FROM schema_migrations",
            "CREATE TABLE seen AS SELECT version FROM \"SCHEMA_MIGRATIONS_DETAILS\"",
            "CREATE VIEW v AS SELECT version FROM schema_migrations; CREATE TABLE seen AS SELECT version FROM v",
        ])
    func reading(sql: String) throws {
        let schema = try folder.migrator([
            "1_a.sql": "CREATE TABLE a(x)", "2_b.sql": "CREATE TABLE b(x)", "3_c.sql": sql,
        ])
        try schema.migrate(queue)
        #expect(try queue.integers("SELECT version FROM seen") == [1, 2])
    }

    @Test("shows the rows of earlier files to a file that reads them through an older view")
    func view() throws {
        let schema = try folder.migrator([
            "1_a.sql": "CREATE VIEW v AS SELECT version FROM schema_migrations",
            "2_b.sql": "CREATE TABLE b(x)", "3_c.sql": "CREATE TABLE seen AS SELECT version FROM v",
        ])
        try schema.migrate(queue, upTo: 1)
        try schema.migrate(queue)
        #expect(try queue.integers("SELECT version FROM seen") == [1, 2])
    }

    @Test("shows them through the view of an adopted database, too")
    func adoptedView() throws {
        try queue.execute("CREATE TABLE a(x); CREATE VIEW v AS SELECT version FROM schema_migrations;")
        let files = try folder.folder([
            "1_a.sql": "CREATE TABLE a(x)", "2_b.sql": "CREATE TABLE b(x)",
            "3_c.sql": "CREATE TABLE seen AS SELECT version FROM v",
        ])
        try SchemaMigrator(directory: files, adopting: SchemaAdoption { _ in 1 }).migrate(queue)
        #expect(try queue.integers("SELECT version FROM seen") == [1, 2])
    }

    @Test("lets no file go back to a savepoint of an earlier one")
    func savepoints() throws {
        let schema = try folder.migrator([
            "1_a.sql": "CREATE TABLE a(x)", "2_b.sql": "SAVEPOINT s; INSERT INTO a VALUES (2)",
            "3_c.sql": "ROLLBACK TO s",
        ])
        let error = try #require(throws: MigrationError.self) { try schema.migrate(queue) }
        #expect(error.file == "3_c.sql")
        #expect(error.message.contains("no such savepoint: s"))
        #expect(try queue.integers("SELECT x FROM a") == [2])
        #expect(try queue.ledger() == [1, 2])
    }

    @Test("keeps the files before one whose version the ledger does not take")
    func ledger() throws {
        try queue.inDatabase {
            try $0.execute(
                sql: """
                    CREATE TABLE schema_migrations(version INTEGER UNIQUE NOT NULL CHECK (version <> 3));
                    INSERT INTO schema_migrations VALUES (0)
                    """)
        }
        let schema = try folder.migrator([
            "0_o.sql": "", "1_a.sql": "CREATE TABLE a(x)", "2_b.sql": "INSERT INTO a VALUES (2)",
            "3_c.sql": "INSERT INTO a VALUES (3)", "4_d.sql": "INSERT INTO a VALUES (4)",
        ])
        let error = try #require(throws: MigrationError.self) { try schema.migrate(queue) }
        #expect(error.code == .databaseFailed)
        #expect(error.message.contains("takes no version"))
        #expect(error.committed == [1, 2])
        #expect(try queue.integers("SELECT x FROM a") == [2])
        #expect(try queue.ledger() == [0, 1, 2])
    }

    /// Keeps every transaction from being committed, once it has been told to.
    private final class Refusal: TransactionObserver {
        var hasBegun = false

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
        func databaseDidChange(with event: DatabaseEvent) {}
        func databaseWillCommit() throws { if hasBegun { throw DatabaseError(message: "refused") } }
        func databaseDidCommit(_ db: Database) {}
        func databaseDidRollback(_ db: Database) {}
    }

    @Test("says why its first file fails, even if the connection is of no use afterwards")
    func firstFile() throws {
        nonisolated(unsafe) let refusal = Refusal()
        queue.add(transactionObserver: refusal, extent: .databaseLifetime)
        queue.inDatabase { db in
            db.add(
                function: DatabaseFunction("refuse", argumentCount: 0) { _ in
                    refusal.hasBegun = true
                    return nil
                })
        }
        let error = try #require(throws: MigrationError.self) {
            try folder.migrator(["1_a.sql": "SELECT refuse(); SELECT nonsense"]).migrate(queue)
        }
        #expect(error.file == "1_a.sql")
        #expect(error.message.contains("no such column: nonsense"))
        #expect(error.committed == [])
        refusal.hasBegun = false
        #expect(try queue.tables() == [])
    }

    @Test("names the earliest file that fails when the files run again")
    func second() throws {
        let calls = Locked(0)
        queue.inDatabase { db in
            // Succeeds the first time only.
            db.add(
                function: DatabaseFunction("once", argumentCount: 0) { _ in
                    let count = calls.withLock { value in
                        value += 1
                        return value
                    }
                    guard count == 1 else { throw DatabaseError(message: "a second time") }
                    return count
                })
        }
        var schema = try folder.migrator([
            "1_a.sql": "CREATE TABLE a(x)", "2_b.sql": "INSERT INTO a SELECT once()",
            "3_c.sql": "INSERT INTO a VALUES (3)", "4_d.sql": "SELECT nonsense",
        ])
        schema.options.commits = .grouped(after: .seconds(600))
        let error = try #require(throws: MigrationError.self) { try schema.migrate(queue) }
        #expect(error.file == "2_b.sql")
        #expect(error.committed == [1])
        #expect(try queue.tables() == ["a"])
        #expect(try queue.integers("SELECT x FROM a") == [])
        #expect(try queue.ledger() == [1])
    }
}
