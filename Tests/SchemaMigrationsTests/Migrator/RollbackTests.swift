import AppMigrations
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A rollback", .timed)
struct RollbackTests {
    let folder: TemporaryFolder
    let queue: DatabaseQueue

    private static let addC = CodeMigration(3, "AddC") { db in
        try db.execute(sql: "CREATE TABLE c(x)")
    } rollback: { db in
        try db.execute(sql: "INSERT INTO steps VALUES ('down 3'); DROP TABLE c")
    }

    private static let files = [
        "1_a.sql": "CREATE TABLE a(x); CREATE TABLE steps(x)",
        "1_a.down.sql": "DROP TABLE a; DROP TABLE steps",
        "2_b.sql": "CREATE TABLE b(x)", "2_b.down.sql": "INSERT INTO steps VALUES ('down 2'); DROP TABLE b",
    ]

    init() throws {
        folder = try TemporaryFolder()
        queue = try folder.queue()
    }

    private func migrator(_ files: [String: String] = files, _ more: [any SchemaMigration] = [addC]) throws
        -> SchemaMigrator
    {
        let last = SQLMigration(version: 4, name: "d", sql: "CREATE TABLE d(x)", down: "DROP TABLE d")
        return try SchemaMigrator(directories: [folder.folder(files)], migrations: more + [last])
    }

    @Test("undoes files and migrations in Swift, newest first, so that they can run again")
    func downAndUp() throws {
        let schema = try migrator()
        try schema.migrate(queue)
        #expect(try schema.rollback(queue, to: 1) == [4, 3, 2])
        #expect(try queue.tables() == ["a", "steps"])
        #expect(try queue.strings("SELECT x FROM steps ORDER BY rowid") == ["down 3", "down 2"])
        #expect(try queue.ledger() == [1])
        #expect(try queue.integers("SELECT version FROM schema_migrations_details") == [1])
        #expect(try schema.rollback(queue, to: 1) == [])
        #expect(try schema.migrate(queue).applied == [2, 3, 4])
        #expect(try queue.tables() == ["a", "b", "c", "d", "steps"])
    }

    @Test("undoes a file of version 0 as well, if it goes back to -1")
    func zero() throws {
        let schema = try SchemaMigrator(
            directory: folder.folder(["0000_a.sql": "CREATE TABLE a(x)", "0000_a.down.sql": "DROP TABLE a"]))
        for _ in 1...2 {
            #expect(try schema.migrate(queue).applied == [0])
            #expect(try schema.rollback(queue, to: 0) == [])
            #expect(throws: MigrationError.self) { try schema.rollback(queue, to: -2) }
            #expect(try schema.rollback(queue, to: -1) == [0])
        }
        #expect(try queue.tables() == [])
    }

    @Test("undoes a file without a transaction, too")
    func alone() throws {
        let schema = try migrator(
            Self.files.merging(["2_b.down.sql": "-- migrations: transaction=none\nREINDEX"]) { $1 })
        try schema.migrate(queue)
        #expect(try schema.rollback(queue, to: 1) == [4, 3, 2])
        #expect(try queue.ledger() == [1])
    }

    @Test("calls a migration's rollback closure")
    func closure() throws {
        let shelves = CodeMigration(1, "add_shelves") { db in
            try db.create(table: "shelf") { $0.autoIncrementedPrimaryKey("id") }
        } rollback: { db in
            try db.drop(table: "shelf")
        }
        let schema = try SchemaMigrator(migrations: [shelves])
        try schema.migrate(queue)
        #expect(try queue.tables() == ["shelf"])
        #expect(try schema.rollback(queue, to: 0) == [1])
        #expect(try queue.tables() == [])
    }

    @Test("a rollback to version 0 undoes everything, and leaves an empty ledger")
    func everything() throws {
        let schema = try migrator()
        try schema.migrate(queue)
        #expect(try schema.rollback(queue, to: 0) == [4, 3, 2, 1])
        #expect(try queue.tables() == [])
        #expect(try queue.ledger() == [])
        #expect(try schema.migrate(queue).applied == [1, 2, 3, 4])
    }

    @Test("names all irreversible migrations before it starts")
    func irreversible() throws {
        let schema = try migrator(
            [
                "1_a.sql": "CREATE TABLE a(x)", "2_b.sql": "CREATE TABLE b(x)",
                "2_b.down.sql": "DROP TABLE b",
            ], [CodeMigration(3, sql: "CREATE TABLE c(x)")])
        try schema.migrate(queue)
        let error = try failure { try schema.rollback(queue, to: 0) }
        #expect(error.code == .misuse)
        #expect(
            error.description == """
                There is no down migration for Code3, 1_a.sql. Give each a .down.sql file, or a `down:` or `rollback:` \
                argument. Nothing was changed.
                """)
        #expect(try queue.ledger() == [1, 2, 3, 4])
        #expect(try queue.tables() == ["a", "b", "c", "d"])
        #expect(try schema.rollback(queue, to: 3) == [4])
    }

    @Test("refuses an unknown version")
    func unknown() throws {
        let schema = try migrator()
        try schema.migrate(queue)
        let error = try failure { try schema.rollback(queue, to: 7) }
        #expect(error.description == "No migration has version 7. The latest is 4.")
        #expect(try queue.ledger() == [1, 2, 3, 4])
    }

    @Test("names applied migrations that are unknown")
    func newer() throws {
        try migrator().migrate(queue)
        var older = try SchemaMigrator(directory: folder.folder(Self.files))
        #expect(try failure { try older.rollback(queue, to: 1) }.code == .newerThanThisProcess)
        older.options.newerDatabases = .allow
        let error = try failure { try older.rollback(queue, to: 1) }
        #expect(error.message == "There is no down migration for 4 (unknown), 3 (unknown).")
    }

    @Test("stops at a failing down migration, and lists what was rolled back")
    func failing() throws {
        let schema = try migrator(
            Self.files.merging(["2_b.down.sql": "DROP TABLE b;\nDROP TABLE nowhere;"]) { $1 })
        try schema.migrate(queue)
        let error = try failure { try schema.rollback(queue, to: 0) }
        #expect(
            error.description == """
                2_b.down.sql:2: no such table: nowhere (SQLite 1). It was not undone. Fix it and roll back again.
                """)
        #expect(error.schemaVersion == 2)
        #expect(error.committed == [4, 3])
        #expect(try queue.ledger() == [1, 2])
        #expect(try queue.tables() == ["a", "b", "steps"])
    }

    @Test("refuses a down migration with a COMMIT before anything is rolled back")
    func refused() throws {
        let schema = try migrator(Self.files.merging(["1_a.down.sql": "DROP TABLE a; COMMIT;"]) { $1 })
        try schema.migrate(queue)
        let error = try failure { try schema.rollback(queue, to: 0) }
        #expect(
            error.message == "1_a.down.sql:1: COMMIT is not allowed in a file that runs in a transaction.")
        #expect(error.committed == [])
        #expect(try queue.ledger() == [1, 2, 3, 4])
    }

    @Test("names a down migration that leaves orphans")
    func orphans() throws {
        let schema = try SchemaMigrator(migrations: [
            SQLMigration(
                version: 1, name: "child",
                sql:
                    "CREATE TABLE parent(id INTEGER PRIMARY KEY); CREATE TABLE child(x REFERENCES parent(id))"
            ),
            SQLMigration(
                version: 2, name: "rows", sql: "INSERT INTO parent VALUES (1); INSERT INTO child VALUES (1)",
                down: "DELETE FROM parent"),
        ])
        try schema.migrate(queue)
        let error = try failure { try schema.rollback(queue, to: 1) }
        #expect(error.code == .stepFailed)
        #expect(
            error.description == """
                2_rows.down.sql: leaves 1 row of table child whose x refers to no row of parent. Keep the rows that others refer \
                to, or delete the rows that refer to them. It was not undone. Fix it and roll back again.
                """)
        #expect(try queue.ledger() == [1, 2])
    }

    @Test("needs the file that a .down.sql file undoes")
    func withoutUp() throws {
        let error = try failure { try migrator(["1_a.sql": "SELECT 1", "2_x.down.sql": "SELECT 1"]) }
        #expect(
            error.description
                == "2_x.down.sql: there is no 2_x.sql that it reverses. Give both the same name, or remove it."
        )
    }
}
