import AppMigrations
import Foundation
import GRDB
import TestSupport
import TestTraits
import Testing

@testable import SchemaMigrations

@Suite("A run of migrations", .timed)
struct SchemaRunTests {
    let folder: TemporaryFolder
    let queue: DatabaseQueue

    init() throws {
        folder = try TemporaryFolder()
        queue = try folder.queue()
    }

    @Test("runs every kind of statement")
    func statements() throws {
        let schema = try folder.migrator([
            "1_all.sql": """
            \u{FEFF}-- A comment; with a semicolon.\r
            CREATE TABLE a(\r
                x TEXT -- one; column\r
            );;\r
            ;\r
            CREATE TABLE log(x);\r
            CREATE TRIGGER t AFTER INSERT ON a BEGIN\r
                INSERT INTO log SELECT CASE WHEN new.x = ';' THEN 'semi;colon' ELSE 'END;' END;\r
            END;\r
            /* between; */\r
            INSERT INTO a VALUES (';'), ('-- no comment'), ('it''s');\r
            SELECT * FROM a;\r
            CREATE VIEW v AS SELECT count(*) AS n FROM log
            """
        ])
        #expect(try schema.migrate(queue).applied == [1])
        #expect(try queue.strings("SELECT x FROM a") == [";", "-- no comment", "it's"])
        #expect(try queue.strings("SELECT x FROM log") == ["semi;colon", "END;", "END;"])
        #expect(try queue.integers("SELECT n FROM v") == [3])
    }

    @Test(
        "records a file that holds only a comment",
        arguments: ["-- Nothing to do.", "/* none */\n", ";", " ;; -- x\n"])
    func comment(sql: String) throws {
        let schema = try folder.migrator(["1_none.sql": sql])
        #expect(try schema.migrate(queue).applied == [1])
        #expect(try queue.ledger() == [1])
        #expect(try schema.migrate(queue).applied == [])
    }

    @Test("works with every kind of database")
    func databases() throws {
        let schema = try folder.migrator([
            "1_a.sql": "CREATE TABLE a(x)", "2_b.sql": "INSERT INTO a VALUES (1)",
        ])
        var wal = Configuration()
        wal.journalMode = .wal
        var databases: [any DatabaseWriter] = [
            try folder.queue(), try folder.pool("pool.sqlite"), try folder.queue("wal.sqlite", wal),
            try DatabaseQueue(),
        ]
        // Its name is a URI. Other builds of SQLite create a file of that name in the current folder.
        if try queue.strings("PRAGMA compile_options").contains(where: { $0.hasPrefix("USE_URI") }) {
            databases.append(try DatabaseQueue(named: "schema-run-\(UUID())"))
        }
        for database in databases {
            #expect(try schema.migrate(database).applied == [1, 2])
            #expect(try database.integers("SELECT x FROM a") == [1])
            #expect(try database.ledger() == [1, 2])
        }
    }

    @Test("commits in groups")
    func groups() throws {
        let commits = Commits()
        queue.add(transactionObserver: commits, extent: .databaseLifetime)
        let migrations = (1...20).map { SQLMigration(version: $0, name: "t", sql: "CREATE TABLE t\($0)(x)") }
        var schema = try SchemaMigrator(migrations: migrations)
        schema.options.commits = .grouped(after: .seconds(60))
        try schema.migrate(queue, upTo: 10)
        #expect(commits.count == 1)
        schema.options.commits = .grouped(after: .zero)
        try schema.migrate(queue)
        #expect(commits.count == 11)
        #expect(try queue.ledger() == Array(1...20))
    }

    @Test("that fails keeps earlier migrations of its group and of earlier groups")
    func middle() throws {
        let schema = try folder.migrator([
            "1_a.sql": "CREATE TABLE a(x)",
            "2_b.sql": "-- migrations: foreign-keys=immediate\nCREATE TABLE b(x)",
            "3_c.sql": "-- migrations: foreign-keys=immediate\nCREATE TABLE c(x)",
            "4_d.sql": "-- migrations: foreign-keys=immediate\nCREATE TABLE d(x); SELECT nonsense",
            "5_e.sql": "CREATE TABLE e(x)",
        ])
        let error = try #require(throws: MigrationError.self) { try schema.migrate(queue) }
        #expect(error.file == "4_d.sql")
        #expect(error.committed == [1, 2, 3])
        #expect(try queue.tables() == ["a", "b", "c"])
        #expect(try queue.ledger() == [1, 2, 3])
    }

    @Test("runs a file without a transaction, and then records it")
    func bare() throws {
        let schema = try folder.migrator([
            "1_a.sql": "CREATE TABLE a(x)", "2_vacuum.sql": "-- migrations: transaction=none\nVACUUM;",
            "3_wal.sql": "-- migrations: transaction=none\nPRAGMA journal_mode = WAL;",
            "4_b.sql": "CREATE TABLE b(x)",
        ])
        #expect(try schema.migrate(queue).applied == [1, 2, 3, 4])
        #expect(try queue.ledger() == [1, 2, 3, 4])
        #expect(try queue.strings("PRAGMA journal_mode") == ["wal"])
    }

    @Test("that fails in a file without a transaction keeps earlier migrations")
    func failingBare() throws {
        let schema = try folder.migrator([
            "1_a.sql": "CREATE TABLE a(x)", "2_b.sql": "-- migrations: transaction=none\nANALYZE nowhere;",
        ])
        let error = try #require(throws: MigrationError.self) { try schema.migrate(queue) }
        #expect(error.message == "2_b.sql:2: no such table: nowhere (SQLite 1).")
        #expect(error.committed == [1])
        #expect(error.schemaVersion == 2)
        #expect(try queue.ledger() == [1])
    }

    @Test("restores the connection's settings", arguments: [false, true], ["DELETE", "WAL"])
    func settings(fails: Bool, journalMode: String) throws {
        let seen = Locked<[Int]>([])
        let schema = try SchemaMigrator(migrations: [
            CodeMigration(1, "Code1") { db in
                seen.append(try Int.fetchOne(db, sql: "PRAGMA foreign_keys"))
                seen.append(try Int.fetchOne(db, sql: "PRAGMA synchronous"))
                if fails { throw Mishap() }
            }
        ])
        for (foreignKeys, synchronous) in [(1, 1), (0, 2), (1, 3), (0, 0)] {
            let queue = try folder.queue("\(foreignKeys)\(synchronous).sqlite")
            try queue.execute(
                """
                PRAGMA journal_mode = \(journalMode); PRAGMA foreign_keys = \(foreignKeys);
                PRAGMA synchronous = \(synchronous);
                """)
            if fails {
                #expect(throws: MigrationError.self) { try schema.migrate(queue) }
            } else {
                try schema.migrate(queue)
            }
            #expect(seen.take() == [0, max(synchronous, journalMode == "WAL" ? 2 : 3)])
            #expect(try queue.integer("PRAGMA foreign_keys") == Int64(foreignKeys))
            #expect(try queue.integer("PRAGMA synchronous") == Int64(synchronous))
        }
    }

    @Test("notifies the database's observers")
    func observers() throws {
        let commits = Commits()
        queue.add(transactionObserver: commits, extent: .databaseLifetime)
        try SchemaMigrator(migrations: [CodeMigration(1, sql: "CREATE TABLE a(x)")]).migrate(queue)
        #expect(commits.sawChange)
    }

    @Test("skips what another connection has applied meanwhile")
    func meantime() throws {
        let other = try folder.queue()
        let plan = try SchemaMigrator(migrations: [
            CodeMigration(0, sql: ""), CodeMigration(1, sql: "CREATE TABLE a(x)"),
            CodeMigration(2, sql: "CREATE TABLE b(x)"),
        ])
        // The first group ends where the foreign-key mode changes, and the other connection writes there.
        let schema = try SchemaMigrator(migrations: [
            CodeMigration(0, "Code0", foreignKeys: .immediate) { db in
                db.afterNextTransaction { _ in _ = try? plan.migrate(other) }
            },
            CodeMigration(1, sql: "CREATE TABLE a(x)"), CodeMigration(2, sql: "CREATE TABLE b(x)"),
            CodeMigration(3, sql: ""),
        ])
        #expect(try schema.migrate(queue).applied == [0, 3])
        #expect(try queue.ledger() == [0, 1, 2, 3])
    }
}

/// Counts the commits that change a database.
private final class Commits: TransactionObserver {
    private(set) var count = 0
    private(set) var sawChange = false
    private var isChanging = false

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
    func databaseDidChange() {
        sawChange = true
        isChanging = true
    }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ db: Database) {
        if isChanging { count += 1 }
        isChanging = false
    }
    func databaseDidRollback(_ db: Database) {}
}

extension Locked where Value == [Int] {
    func append(_ number: Int?) { withLock { $0.append(number ?? -1) } }

    func take() -> [Int] {
        withLock { value in
            defer { value = [] }
            return value
        }
    }
}
