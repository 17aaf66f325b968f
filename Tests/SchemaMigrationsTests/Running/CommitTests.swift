import AppMigrations
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("Commits", .timed)
struct CommitTests {
    let folder: TemporaryFolder
    let queue: DatabaseQueue

    init() throws {
        folder = try TemporaryFolder()
        queue = try folder.queue()
    }

    private func migrator(_ files: [String: String], _ commits: SchemaOptions.Commits) throws
        -> SchemaMigrator
    {
        try SchemaMigrator(directory: folder.folder(files), options: SchemaOptions(commits: commits))
    }

    @Test("commits of all or nothing keep everything, or nothing if a migration fails")
    func allOrNothing() throws {
        let schema = try migrator(
            ["1_a.sql": "CREATE TABLE a(x)", "2_b.sql": "CREATE TABLE b(x)", "3_c.sql": "SELECT nonsense"],
            .allOrNothing)
        let error = try failure { try schema.migrate(queue) }
        #expect(error.message == "3_c.sql:1: no such column: nonsense (SQLite 1).")
        #expect(error.remedy == "It was rolled back. Fix it and migrate again.")
        #expect(error.committed == [])
        #expect(try queue.strings("SELECT name FROM sqlite_master") == [])

        try folder.folder(["3_c.sql": "CREATE TABLE c(x)"])
        #expect(try schema.migrate(queue).applied == [1, 2, 3])
        #expect(try queue.ledger() == [1, 2, 3])
    }

    @Test("commits of all or nothing keep nothing if a statement rolls back the transaction")
    func rolledBack() throws {
        let schema = try migrator(
            [
                "1_a.sql": "CREATE TABLE a(x UNIQUE); INSERT INTO a VALUES (1)",
                "2_b.sql": "INSERT OR ROLLBACK INTO a VALUES (1)",
            ], .allOrNothing)
        let error = try failure { try schema.migrate(queue) }
        #expect(error.message == "2_b.sql:1: UNIQUE constraint failed: a.x (SQLite 2067).")
        #expect(error.committed == [])
        #expect(try queue.strings("SELECT name FROM sqlite_master") == [])
    }

    @Test(
        "of all or nothing are refused before anything runs if SQLite cannot do it",
        arguments: [
            (
                "-- migrations: foreign-keys=immediate\nCREATE TABLE b(x)",
                "2_b.sql: uses a different foreign-key mode from 1_a.sql, and so cannot share a transaction with it."
            ),
            (
                "-- migrations: transaction=none\nVACUUM",
                "2_b.sql: runs without a transaction, so it cannot share a commit with other migrations."
            ),
        ])
    func impossible(sql: String, message: String) throws {
        let schema = try migrator(["1_a.sql": "CREATE TABLE a(x)", "2_b.sql": sql], .allOrNothing)
        let error = try failure { try schema.migrate(queue) }
        #expect(error.code == .invalidMigration)
        #expect(
            error.description
                == "\(message) Migrate up to the version before it first, or commit in groups. Nothing was changed."
        )
        #expect(error.file == "2_b.sql")
        #expect(try queue.strings("SELECT name FROM sqlite_master") == [])
        #expect(try schema.migrate(queue, upTo: 1).applied == [1])
    }

    @Test("do not part a file from the one that fixes what it leaves, however long it takes")
    func late() throws {
        let files = [
            "1_a.sql": """
            CREATE TABLE book(id INTEGER PRIMARY KEY); INSERT INTO book VALUES (1);
            CREATE TABLE loan(book REFERENCES book(id)); INSERT INTO loan VALUES (1); CREATE VIEW v AS SELECT id FROM book
            """,
            "2_b.sql": "CREATE TABLE copy AS SELECT id FROM book; DROP TABLE book",
            "3_c.sql": "CREATE TABLE c(x)",
            "5_e.sql": "CREATE TABLE e(x)",
        ]
        var schema = try migrator(files, .grouped(after: .zero))
        let error = try failure { try schema.migrate(queue) }
        #expect(
            error.message
                == "2_b.sql: leaves 1 row of table loan whose book refers to no row of book, which does not exist."
        )
        #expect(error.committed == [1])

        let fixing = "CREATE TABLE book(id INTEGER PRIMARY KEY); INSERT INTO book SELECT id FROM copy"
        schema = try migrator(["4_d.sql": fixing], .grouped(after: .zero))
        #expect(try schema.migrate(queue).applied == [2, 3, 4, 5])
        #expect(try queue.integers("SELECT id FROM v") == [1])
        #expect(try queue.ledger() == [1, 2, 3, 4, 5])
    }

    @Test("end a group where the foreign-key mode changes")
    func groups() throws {
        let other = try folder.queue("app.sqlite")
        let seen = Locked<[[String]]>([])
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            db.add(
                function: DatabaseFunction("look", argumentCount: 0) { _ in
                    // Another connection can read while this one has not written to the file yet.
                    let tables = try other.strings(
                        "SELECT name FROM sqlite_master WHERE name LIKE 't%' ORDER BY name")
                    seen.withLock { $0.append(tables) }
                    return nil
                })
        }
        let modes = ["deferred", "deferred", "immediate", "unchecked", "unchecked"]
        let files = zip(1..., modes).map { version, mode in
            (
                "\(version)_t.sql",
                "-- migrations: foreign-keys=\(mode)\nSELECT look(); CREATE TABLE t\(version)(x);"
            )
        }
        let schema = try migrator(
            Dictionary(uniqueKeysWithValues: files), .grouped(after: .seconds(60)))
        try schema.migrate(folder.queue("app.sqlite", configuration))
        #expect(seen.withLock { $0 } == [[], [], ["t1", "t2"], ["t1", "t2", "t3"], ["t1", "t2", "t3"]])
    }

    @Test("happen before and after a file without a transaction, which is recorded as well")
    func bare() throws {
        let files = [
            "1_a.sql": "CREATE TABLE a(x); INSERT INTO a VALUES (1)",
            "2_vacuum.sql": "-- migrations: transaction=none\nVACUUM;", "3_b.sql": "SELECT nonsense",
        ]
        let schema = try migrator(files, .grouped(after: .seconds(60)))
        let error = try failure { try schema.migrate(queue) }
        #expect(error.committed == [1, 2])
        #expect(try queue.ledger() == [1, 2])
        #expect(
            try queue.strings(
                "SELECT name || ' ' || origin || ' ' || (checksum IS NOT NULL) FROM schema_migrations_details ORDER BY version"
            ) == ["a applied 1", "vacuum applied 1"])
    }

    @Test(
        "are durable, and the app's synchronous setting is restored",
        arguments: ["DELETE", "TRUNCATE", "WAL"])
    func synchronous(journalMode: String) throws {
        let seen = Locked<[Int?]>([])
        try queue.execute("PRAGMA journal_mode = \(journalMode); PRAGMA synchronous = NORMAL")
        try SchemaMigrator(
            migrations: [.deferred, .immediate, .unchecked].enumerated().map { index, foreignKeys in
                CodeMigration(Int64(index), "Code\(index)", foreignKeys: foreignKeys) { db in
                    let value = try Int.fetchOne(db, sql: "PRAGMA synchronous")
                    seen.withLock { $0.append(value) }
                }
            }
        ).migrate(queue)
        let raised = journalMode == "WAL" ? 2 : 3
        #expect(seen.withLock { $0 } == [raised, raised, raised])
        #expect(try queue.integer("PRAGMA synchronous") == 1)
    }
}
