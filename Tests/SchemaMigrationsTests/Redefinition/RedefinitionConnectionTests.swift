import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

/// Where a table is redefined, and who else sees it.
@Suite("A connection that redefines a table", .timed)
struct RedefinitionConnectionTests {
    private static let setUp = "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT); INSERT INTO t VALUES (1, 'a')"
    private static let definition = "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT NOT NULL)"
    private static let refused = "NOT NULL constraint failed: t.a"

    @Test("has its defensive mode put back", arguments: [true, false])
    func defensive(isGood: Bool) throws {
        let table = try RedefinedTable(Self.setUp)
        if !isGood { try table.database.execute("INSERT INTO t VALUES (2, NULL)") }
        try table.database.inDatabase { db in
            try db.with([(.defensive, true)]) {
                if isGood {
                    #expect(try db.redefine(table: "t", as: Self.definition, editing: true) == .edited)
                } else {
                    #expect(throws: MigrationError.self) {
                        try db.redefine(table: "t", as: Self.definition)
                    }
                }
                try db.execute(sql: "PRAGMA writable_schema = ON")
                #expect(throws: DatabaseError.self) { try db.execute(sql: "DELETE FROM sqlite_master") }
                try db.execute(sql: "PRAGMA writable_schema = OFF")
            }
            #expect(!db.isInsideTransaction)
        }
        #expect(try table.message(of: "INSERT INTO t VALUES (3, NULL)") == (isGood ? Self.refused : nil))
    }

    @Test("is not the only one to see it: so do others, compiled statements and GRDB")
    func others() throws {
        let folder = try TemporaryFolder()
        let pool = try folder.pool("pool.sqlite")
        try pool.execute(Self.setUp)
        let other = try folder.queue("pool.sqlite")
        let insert = "INSERT INTO t(a) VALUES (NULL)"
        try other.write { db in _ = try db.cachedStatement(sql: insert) }
        #expect(try pool.read { try $0.columns(in: "t")[1].isNotNull } == false)
        let snapshot = try pool.makeSnapshot()
        try pool.write { db in
            _ = try db.cachedStatement(sql: insert)
            #expect(try db.columns(in: "t")[1].isNotNull == false)
            try db.redefine(table: "t", as: Self.definition)
            #expect(try db.columns(in: "t")[1].isNotNull)
            #expect(throws: DatabaseError.self) { try db.cachedStatement(sql: insert).execute() }
        }
        #expect(throws: DatabaseError.self) {
            try other.write { try $0.cachedStatement(sql: insert).execute() }
        }
        #expect(try pool.read { try $0.columns(in: "t")[1].isNotNull })
        #expect(try snapshot.read { try $0.columns(in: "t")[1].isNotNull } == false)
        #expect(try snapshot.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 1)
    }

    @Test("goes on observing, as after ALTER TABLE")
    func observations() throws {
        let table = try RedefinedTable(Self.setUp)
        let events = Locked<[String]>([])
        let region = DatabaseRegionObservation(tracking: Table("t"))
            .start(in: table.database) { error in
                events.withLock { $0.append("\(error)") }
            } onChange: { _ in
                events.withLock { $0.append("change") }
            }
        defer { region.cancel() }
        try table.redefine(Self.definition)
        #expect(events.withLock { $0 } == [])
        try table.database.execute("INSERT INTO t VALUES (2, 'b')")
        #expect(events.withLock { $0 } == ["change"])
    }

    @Test("keeps a reader of a rollback journal from seeing half of it")
    func reader() throws {
        let table = try RedefinedTable(Self.setUp)
        let other = try table.folder.queue("redefined.sqlite")
        try other.inTransaction(.deferred) { db in
            let isNotNull = try db.columns(in: "t")[1].isNotNull
            #expect(!isNotNull)
            // A writer waits for readers before it commits.
            #expect(throws: DatabaseError.self) { try table.redefine(Self.definition) }
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM t") == 1)
            return .commit
        }
        #expect(try table.redefine(Self.definition) == .edited)
        // GRDB's queues keep what they know of the schema, also after another connection's ALTER TABLE.
        #expect(try other.integers("SELECT \"notnull\" FROM pragma_table_info('t')") == [0, 1])
    }

    @Test("can undo it with its transaction")
    func undone() throws {
        let table = try RedefinedTable(Self.setUp)
        try table.database.inTransaction { db in
            try db.redefine(table: "t", as: Self.definition)
            return .rollback
        }
        #expect(try table.message(of: "INSERT INTO t VALUES (2, NULL)") == nil)
        #expect(try table.database.read { try $0.columns(in: "t")[1].isNotNull } == false)
    }

    @Test(
        "reads the schema again after that, whatever another connection makes of it",
        arguments: [true, false])
    func undoneAndOvertaken(inSavepoint: Bool) throws {
        let table = try RedefinedTable("\(Self.setUp); ALTER TABLE t ADD COLUMN b")
        let other = try table.folder.queue("redefined.sqlite")
        try table.database.inTransaction { db in
            let definition = "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT NOT NULL, b)"
            guard inSavepoint else {
                try db.redefine(table: "t", as: definition)
                return .rollback
            }
            try db.inSavepoint {
                try db.redefine(table: "t", as: definition)
                return .rollback
            }
            return .commit
        }
        // The schema gets the version that it had before the rollback.
        try other.execute("ALTER TABLE t DROP COLUMN b")
        #expect(try table.message(of: "INSERT INTO t VALUES (2, NULL)") == nil)
        #expect(try other.strings("SELECT name FROM pragma_table_info('t')") == ["id", "a"])
        #expect(try table.rows() == [#"1, "a""#, "2, NULL"])
        try table.expectIntact()
    }

    @Test("has a failure undone alone, in a savepoint")
    func savepoint() throws {
        let table = try RedefinedTable(Self.setUp)
        try table.database.write { db in
            try db.execute(sql: "INSERT INTO t VALUES (2, NULL)")
            try db.inSavepoint {
                #expect(throws: MigrationError.self) {
                    try db.redefine(table: "t", as: Self.definition)
                }
                #expect(db.isInsideTransaction)
                return .commit
            }
            try db.execute(sql: "UPDATE t SET a = 'b' WHERE a IS NULL")
            try db.inSavepoint {
                try db.redefine(table: "t", as: Self.definition)
                return .commit
            }
        }
        #expect(try table.rows() == [#"1, "a""#, #"2, "b""#])
        #expect(try table.message(of: "INSERT INTO t VALUES (3, NULL)") == Self.refused)
    }

    @Test(
        "can be that of GRDB's own migrator",
        arguments: [DatabaseMigrator.ForeignKeyChecks.deferred, .immediate])
    func grdb(_ checks: DatabaseMigrator.ForeignKeyChecks) throws {
        let table = try RedefinedTable(Self.setUp)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("constraints", foreignKeyChecks: checks) { db in
            try db.redefine(table: "t", as: Self.definition)
        }
        try migrator.migrate(table.database)
        #expect(try table.message(of: "INSERT INTO t VALUES (3, NULL)") == Self.refused)
    }

    @Test("can be that of a migration in Swift", arguments: [ForeignKeys.deferred, .immediate, .unchecked])
    func code(_ foreignKeys: ForeignKeys) throws {
        let folder = try TemporaryFolder()
        let queue = try folder.queue("code.sqlite")
        let schema = try SchemaMigrator(migrations: [
            CodeMigration(1, sql: Self.setUp),
            CodeMigration(2, "constraints", foreignKeys: foreignKeys) { db in
                try db.redefine(table: "t", as: Self.definition)
            },
        ])
        try schema.migrate(queue)
        #expect(throws: DatabaseError.self) { try queue.execute("INSERT INTO t VALUES (2, NULL)") }
    }

    @Test("can be that of a step")
    func step() throws {
        let app = try App()
        let database = try app.folder.queue("app.sqlite")
        try database.execute(Self.setUp)
        let manager = try app.manager("2.0", adopting: Adoption { "1.0" })
        manager.whenMigratingToVersion("2.0", in: database) { db in
            try db.redefine(table: "t", as: Self.definition)
        }
        try manager.migrate()
        #expect(throws: DatabaseError.self) { try database.execute("INSERT INTO t VALUES (2, NULL)") }
    }
}
