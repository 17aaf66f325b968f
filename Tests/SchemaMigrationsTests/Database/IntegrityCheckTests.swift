import DatabaseFiles
import Foundation
import GRDB
import TestSupport
import TestTraits
import Testing

@testable import SchemaMigrations

@Suite("An integrity check", .timed)
struct IntegrityCheckTests {
    private static let table = """
        CREATE TABLE t(a BLOB NOT NULL, b BLOB NOT NULL, c INTEGER NOT NULL, PRIMARY KEY (a, c)) WITHOUT ROWID;
        INSERT INTO t VALUES (x'01', x'02', 3), (x'02', x'03', 4);
        """

    private func problems(_ sql: String) throws -> [String] {
        let queue = try DatabaseQueue()
        try queue.execute(sql)
        return try queue.read { try IntegrityCheck($0, .full, limit: 5).problems }
    }

    @Test("finds no nulls in a correct table without rowids")
    func falseAlarm() throws {
        #expect(try problems(Self.table) == [])
    }

    @Test(
        "finds no nulls in a key whose columns are in another order",
        arguments: [IntegrityCheck.Depth.quick, .full])
    func key(depth: IntegrityCheck.Depth) throws {
        let queue = try DatabaseQueue()
        try queue.execute(
            """
            CREATE TABLE pair(value, name TEXT, number INTEGER, PRIMARY KEY (number, name)) WITHOUT ROWID;
            INSERT INTO pair VALUES (1, 'a', 2), (NULL, 'b', 2);
            """)
        #expect(try queue.read { try IntegrityCheck($0, depth, limit: 5).problems } == [])
    }

    @Test(
        "finds a null in a NOT NULL column",
        .needs(.clearText))
    func null() throws {
        let folder = try TemporaryFolder()
        let queue = try folder.queue()
        try queue.execute(
            """
            CREATE TABLE t(a, b         , c, PRIMARY KEY (a, c)) WITHOUT ROWID;
            INSERT INTO t VALUES (x'01', NULL, 3);
            """)
        try queue.close()
        try folder.damage(replacing: "b         ,", with: "b NOT NULL,")
        let check = try folder.queue().read { try IntegrityCheck($0, .full, limit: 5) }
        #expect(check.forbiddenValues == ["NULL value in t.b"])
        #expect(check.problems == [])
    }

    @Test(
        "takes a null for damage in a table of records, and for a row of old in one of the app's",
        .needs(.clearText),
        arguments: [
            ("app_migrations", true), ("Grdb_migrations", true), ("app_migrations_damaged_1", false),
            ("note", false),
        ])
    func nullInOwnTable(table: String, isDamage: Bool) throws {
        let folder = try TemporaryFolder()
        let queue = try folder.queue()
        try queue.execute("CREATE TABLE \(table)(value TEXT         ); INSERT INTO \(table) VALUES (NULL)")
        try queue.close()
        try folder.damage(replacing: "TEXT         )", with: "TEXT NOT NULL)")
        let check = try folder.queue().read { try IntegrityCheck($0, .quick, limit: 5) }
        #expect(check.findings == ["NULL value in \(table).value"])
        #expect(check.problems.isEmpty == !isDamage)
    }

    @Test("finds damage behind rows that break a constraint of old", .needs(.clearText))
    func damageBehindValues() throws {
        let folder = try TemporaryFolder()
        let queue = try folder.queue()
        try queue.execute(
            """
            CREATE TABLE a(x CHECK (x > 0)); PRAGMA ignore_check_constraints = 1; INSERT INTO a VALUES (-1), (-2);
            CREATE TABLE b(x, y); CREATE INDEX i ON b(x); INSERT INTO b VALUES (1, 2);
            """)
        try queue.close()
        func check() throws -> IntegrityCheck {
            try folder.queue().read { try IntegrityCheck($0, .full, limit: 1) }
        }
        let old = try check()
        #expect(old.forbiddenValues == ["CHECK constraint failed in a"])
        #expect(old.problems == [])
        try folder.damage(replacing: "i ON b(x)", with: "i ON b(y)")
        #expect(try check().problems.count == 1)
    }

    @Test("accepts the backup of a correct table without rowids")
    func restore() throws {
        let folder = try TemporaryFolder()
        let copy = try folder.queue("copy.sqlite")
        try copy.execute(Self.table)
        let queue = try folder.queue()
        let schema = try SchemaMigrator(migrations: [SQLMigration(version: 1, name: "a", sql: "SELECT 1;")])
        try schema.restore(folder.url.appendingPathComponent("copy.sqlite"), to: queue)
        #expect(try queue.integer("SELECT count(*) FROM t") == 2)
    }
}
