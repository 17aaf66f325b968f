import AppMigrations
import Foundation
import GRDB
import MigrationTesting
import TestSupport
import TestTraits
import Testing

@Suite("The differences from a lock", .timed)
struct LockDifferenceTests {
    typealias Body = @Sendable (Database) throws -> Void

    private let lock: MigrationLock
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        lock = MigrationLock(at: folder.file("Migrations.lock"))
    }

    private func migrator(_ bodies: [Body]) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for (number, body) in bodies.enumerated() {
            migrator.registerMigration("m\(number + 1)", migrate: body)
        }
        return migrator
    }

    private func sql(_ sql: String) -> Body { { try $0.execute(sql: sql) } }

    /// Records some bodies, and returns the error about others.
    private func error(from old: [Body], to new: [Body]) throws -> MigrationError {
        try lock.record(migrator(old))
        return try #require(throws: MigrationError.self) { try lock.verify(migrator(new)) }
    }

    private func text() throws -> String { try String(contentsOf: lock.url, encoding: .utf8) }

    @Test("name the edited migration, and the number of later ones that only follow from it")
    func consequences() throws {
        let later = ["ALTER TABLE a ADD COLUMN y", "ALTER TABLE a ADD COLUMN z", "CREATE TABLE b(x)"].map(sql)
        let error = try error(
            from: [sql("CREATE TABLE a(x)")] + later, to: [sql("CREATE TABLE a(x, w)")] + later)
        #expect(
            error.description == """
                Migrations.lock: m1 does something else; 2 later ones differ in consequence. Undo that, since people have \
                the migrations as they were, and write a new one. If it has not shipped, call \
                MigrationLock.record(_:writing:) with .everything.
                m1
                  was: CREATE TABLE a (x)
                  was: + CREATE TABLE a (x)
                  now: CREATE TABLE a (x, w)
                  now: + CREATE TABLE a (x, w)
                """)
    }

    @Test("show a statement that has moved once")
    func moved() throws {
        let error = try error(
            from: [sql("CREATE TABLE a(x); CREATE TABLE b(x)")],
            to: [sql("CREATE TABLE b(x); CREATE TABLE a(x)")])
        #expect(error.description.contains("\n  moved: CREATE TABLE "), "\(error)")
        #expect(!error.description.contains("was:") && !error.description.contains("now:"))
    }

    @Test("are none if only the case of keywords and names differs, or how names are quoted")
    func keywords() throws {
        let old = sql("CREATE TABLE a(x TEXT); INSERT INTO a(x) SELECT 'A' WHERE 1 IS NOT NULL")
        try lock.record(migrator([old]))
        try lock.verify(
            migrator([sql("create table A([X] text); insert into a(`x`) select 'A' where 1 is not null")]))
        #expect(throws: MigrationError.self) {
            try lock.verify(
                migrator([sql("CREATE TABLE a(x TEXT); INSERT INTO a(x) SELECT 'a' WHERE 1 IS NOT NULL")]))
        }
    }

    @Test("are not looked for in a file of an earlier format")
    func oldFormat() throws {
        let migrator = migrator([sql("CREATE TABLE a(x)")])
        let old = """
            # What each shipped migration does. MigrationLock writes this file: commit it.

            m1
              CREATE TABLE a (x)
              + CREATE TABLE a (x)

            """
        try Data(old.utf8).write(to: lock.url)
        let error = try #require(throws: MigrationError.self) { try lock.verify(migrator) }
        #expect(
            error.description == """
                Migrations.lock: was written in another format. Check out the migrations as they shipped, write the file \
                anew with MigrationLock.record(_:writing:) and .everything, and commit it.
                """)
        #expect(throws: MigrationError.self) { try lock.record(migrator) }
        try lock.record(migrator, writing: .everything)
        try lock.verify(migrator)
    }

    @Test("of what depends on a number that the app keeps in the file are marked beforehand")
    func numbers() throws {
        let bodies: [Body] = [
            sql("CREATE TABLE a(id INTEGER PRIMARY KEY)"),
            { db in
                let isOld = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0 > 3
                try db.execute(sql: isOld ? "DELETE FROM a" : "CREATE TABLE b(x)")
            },
        ]
        try lock.record(migrator(bodies))
        #expect(try text().contains("\n  reads: PRAGMA user_version\n"))
        #expect(
            try text().contains("\n  unprotected: what it does with another user_version or application_id\n")
        )
    }

    @Test("that no rows would show are marked beforehand")
    func unprotected() throws {
        let create = sql("CREATE TABLE a(id INTEGER PRIMARY KEY, name TEXT NOT NULL, rank INTEGER)")
        let bodies: [Body] = [
            create, { _ in },
            { db in
                for name in try String.fetchAll(db, sql: "SELECT name FROM a") where name == "x" {
                    try db.execute(sql: "DELETE FROM a WHERE name = ?", arguments: [name])
                }
            },
            { db in
                for row in try Row.fetchAll(db, sql: "SELECT id, name FROM a") {
                    let name: String = row["name"]
                    try db.execute(
                        sql: "UPDATE a SET name = ? WHERE id = ?",
                        arguments: [name.trimmingCharacters(in: .newlines), row["id"] as Int64])
                }
            },
            { db in
                for row in try Row.fetchAll(db, sql: "SELECT id, name FROM a") {
                    try db.execute(
                        sql: "UPDATE a SET rank = ? WHERE id = ?",
                        arguments: [(row["name"] as String) == "x" ? 1 : 2, row["id"] as Int64])
                }
            },
            { db in
                guard try Int.fetchOne(db, sql: "SELECT count(*) FROM a") == 0 else {
                    throw CancellationError()
                }
            },
        ]
        try lock.record(migrator(bodies))
        let marks = try text().split(separator: "\n").filter { $0.hasPrefix("  unprotected: ") }
        #expect(
            marks == [
                "  unprotected: it runs no statement over generated rows",
                "  unprotected: it writes nothing over generated rows",
                "  unprotected: it leaves generated rows as they are",
                "  unprotected: over generated rows, nothing depends on a.name",
                "  unprotected: it fails over generated rows",
            ])
    }

    @Test("do not appear from one run to the next if a migration writes times and random values")
    func chance() throws {
        let stamp: Body = { db in
            try db.execute(sql: "CREATE TABLE b(id TEXT PRIMARY KEY, x TEXT, day REAL, made TEXT)")
            for name in try String.fetchAll(db, sql: "SELECT x FROM a") {
                try db.execute(
                    sql: "INSERT INTO b VALUES (?, ?, ?, date('now'))",
                    arguments: [UUID().uuidString, name, Date().timeIntervalSince1970])
            }
        }
        let migrator = migrator([sql("CREATE TABLE a(x TEXT NOT NULL)"), stamp])
        try lock.record(migrator)
        #expect(try text().contains("  leaves: b "))
        for _ in 0..<3 { try lock.verify(migrator) }
    }
}
