import AppMigrations
import Foundation
import GRDB
import MigrationTesting
import SchemaMigrations
import TestTraits
import Testing

/// A fleet of an app with one table, of which 2.0 adds a column.
@Suite("A simulated fleet", .timed)
struct SimulatedFleetTests {
    /// Returns a fleet whose release 2.0 changes the table and fills the column.
    ///
    /// - Parameter form: the condition of the new form, with which the step runs again; nil for a step without `again:`.
    private func fleet(
        change: String = "ALTER TABLE entry ADD COLUMN mood TEXT",
        fill: String = "UPDATE entry SET mood = 'fine' WHERE mood IS NULL",
        form: String = "mood IS NOT NULL", isAgain: Bool = true, check: SimulatedFleet.Check? = nil
    ) -> SimulatedFleet {
        let versions: [AppVersion] = ["1.0", "2.0"]
        return SimulatedFleet(
            versions: versions, database: "diary.sqlite", tables: ["entry": form], check: check
        ) { folder, version in
            let database = try DatabaseQueue(path: folder.appendingPathComponent("diary.sqlite").path)
            let manager = try MigrationManager(
                name: "Diary", currentVersion: version, adopting: .newApp, store: .database(database))
            manager.whenMigratingToVersion("1.0", in: database, onFreshInstall: .run) { db in
                try db.execute(sql: "CREATE TABLE entry(id TEXT PRIMARY KEY, title TEXT)")
            }
            if version >= "2.0" {
                manager.whenMigratingToVersion("2.0", in: database, onFreshInstall: .run) { db in
                    try db.execute(sql: change)
                }
                let sql = "SELECT EXISTS (SELECT 1 FROM entry WHERE NOT (\(form)))"
                let isOld: @Sendable (Database) throws -> Bool = { db in
                    try Bool.fetchOne(db, sql: sql) ?? false
                }
                manager.whenMigratingToVersion("2.0-1", in: database, again: isAgain ? isOld : nil) { db in
                    try db.execute(sql: fill)
                }
            }
            try manager.migrate()
        }
    }

    @Test("finds nothing where a step that brings rows into the new form runs again")
    func right() throws {
        #expect(try fleet().failure(count: 20) == nil)
    }

    @Test("tells in a few sentences how a step without a condition leaves a row in the old form")
    func withoutAgain() throws {
        let failure = try #require(try fleet(isAgain: false).failure())
        #expect(
            "\(failure)" == """
                Device 2 keeps a row in the old form in entry: id 'row 2', title 'naïve', mood NULL.
                  1. Device 5 is new, with 1.0.
                  2. Device 5 writes 'row 2' into entry.
                  3. Device 2 is new, with 1.0.
                  4. All devices launch 2.0, exchange all rows, and launch it once more.
                Play it again with failure(seed: 2, count: 1).
                """)
    }

    @Test("names the row that a column without ON CONFLICT REPLACE rejects")
    func plainNotNull() throws {
        let change = "ALTER TABLE entry ADD COLUMN mood TEXT NOT NULL DEFAULT 'fine'"
        let failure = try #require(try fleet(change: change).failure())
        #expect(
            "\(failure)" == """
                Device 2 cannot store 'row 2' in entry: NOT NULL constraint failed: entry.mood.
                  1. Device 5 is new, with 1.0.
                  2. Device 5 writes 'row 2' into entry.
                  3. Device 2 is new, with 1.0.
                  4. Device 2 updates to 2.0.
                  5. Device 5 updates to 2.0.
                Play it again with failure(seed: 2, count: 1).
                """)
    }

    @Test("names the column of which a release has lost an edit")
    func renamed() throws {
        let fleet = fleet(
            change: "ALTER TABLE entry RENAME COLUMN title TO mood", fill: "SELECT 1", form: "true")
        let failure = try #require(try fleet.failure())
        #expect(
            "\(failure)" == """
                Device 5 has lost an edit of entry.title of 'row 2': device 5 has written 'naïve' with 1.0, and it has no such field.
                  1. Device 5 is new, with 1.0.
                  2. Device 5 writes 'row 2' into entry.
                  3. All devices launch 2.0, exchange all rows, and launch it once more.
                Play it again with failure(seed: 2, count: 1).
                """)
    }

    @Test("names two devices that have filled a column differently")
    func different() throws {
        let fill = "UPDATE entry SET mood = hex(randomblob(8)) WHERE mood IS NULL"
        let failure = try #require(try fleet(fill: fill).failure())
        #expect(failure.problem.hasPrefix("Device 2 and device 5 differ in entry.mood of 'row 2': '"))
    }

    @Test("reports what an app's own check finds")
    func check() throws {
        struct Missing: Error, CustomStringConvertible {
            let description = "an entry is missing"
        }
        let failure = try #require(try fleet(check: { _ in throw Missing() }).failure())
        #expect(
            "\(failure)" == """
                Device 1: an entry is missing
                  1. Device 1 is new, with 1.0.
                  2. All devices launch 2.0, exchange all rows, and launch it once more.
                Play it again with failure(seed: 1, count: 1).
                """)
    }

    @Test("refuses a table without a key of one column")
    func key() throws {
        let fleet = SimulatedFleet(versions: ["1.0"], database: "a.sqlite", tables: ["pair": "true"]) {
            let database = try DatabaseQueue(path: $0.appendingPathComponent("a.sqlite").path)
            let manager = try MigrationManager(
                currentVersion: $1, adopting: .newApp, store: .database(database))
            manager.whenMigratingToVersion("1.0", in: database, onFreshInstall: .run) { db in
                try db.execute(sql: "CREATE TABLE pair(a, b, PRIMARY KEY (a, b))")
            }
            try manager.migrate()
        }
        let error = #expect(throws: (any Error).self) { try fleet.failure() }
        #expect(
            error.map { "\($0)" } == """
                The table pair cannot be synchronized: it has no primary key of one column. Give it one, as a sync engine \
                asks for, or leave it out of tables:.
                """)
    }

    /// Returns a fleet of an app with lists and their covers, of which 2.0 fills a column of the covers once.
    private func covers(
        _ cover: String, inserting row: String = "NULL", of tables: [String: String]
    ) -> SimulatedFleet {
        SimulatedFleet(versions: ["1.0", "2.0"], database: "a.sqlite", tables: tables) { folder, version in
            let database = try DatabaseQueue(path: folder.appendingPathComponent("a.sqlite").path)
            let manager = try MigrationManager(
                currentVersion: version, adopting: .newApp, store: .database(database))
            manager.whenMigratingToVersion("1.0", in: database, onFreshInstall: .run) { db in
                try db.execute(
                    sql: """
                        CREATE TABLE list(id TEXT PRIMARY KEY NOT NULL); CREATE TABLE cover(\(cover));
                        INSERT INTO cover SELECT * FROM (SELECT \(row) AS id, x'01') WHERE id IS NOT NULL
                        """)
            }
            if version >= "2.0" {
                manager.whenMigratingToVersion("2.0", in: database, onFreshInstall: .run) { db in
                    try db.execute(sql: "ALTER TABLE cover ADD COLUMN mood; UPDATE cover SET mood = 'fine'")
                }
            }
            try manager.migrate()
        }
    }

    @Test("writes rows whose key is the key of another row, in whatever case its table is named")
    func sharedKey() throws {
        let fleet = covers(
            "list TEXT PRIMARY KEY NOT NULL REFERENCES List(id) ON DELETE CASCADE, image BLOB",
            of: ["list": "true", "cover": "mood IS NOT NULL"])
        let failure = try #require(try fleet.failure())
        #expect(failure.problem.contains("keeps a row in the old form in cover: list 'row "), "\(failure)")
    }

    @Test(
        "takes a table whose rows migrations insert",
        arguments: [
            ("id INTEGER PRIMARY KEY, image BLOB", "1"),
            ("id TEXT PRIMARY KEY NOT NULL CHECK (id = 'only'), image BLOB", "'only'"),
        ])
    func inserted(cover: String, id: String) throws {
        #expect(throws: Never.self) {
            try covers(cover, inserting: id, of: ["cover": "true"]).failure()
        }
    }

    @Test(
        "writes keys of the type and the length that a table asks for",
        arguments: [
            "id BLOB PRIMARY KEY NOT NULL CHECK (typeof(id) = 'blob'), image BLOB",
            "id TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 36), image BLOB",
            "id BLOB PRIMARY KEY NOT NULL CHECK (length(id) = 16), image BLOB",
        ])
    func formOfKeys(cover: String) throws {
        let failure = try #require(try covers(cover, of: ["cover": "mood IS NOT NULL"]).failure())
        #expect(failure.problem.contains("keeps a row in the old form in cover: "), "\(failure)")
    }

    @Test("refuses a table without a key, and a condition that is no SQL of the last version")
    func badTable() throws {
        func message(_ cover: String, _ condition: String) throws -> String {
            let fleet = covers(cover, of: ["cover": condition])
            return try #require(throws: MigrationError.self) { try fleet.failure() }.description
        }
        #expect(
            try message("image BLOB, note TEXT", "true").contains("it has no primary key of one column. Give")
        )
        #expect(
            try message("id TEXT PRIMARY KEY, image BLOB", "moood IS NOT NULL") == """
                The table cover cannot be synchronized: its condition is `moood IS NOT NULL`: no such column: moood. \
                Correct the condition in tables:.
                """)
    }

    @Test("refuses a table of which no device can write a row")
    func unwritable() throws {
        let fleet = covers(
            "id TEXT PRIMARY KEY NOT NULL, list TEXT NOT NULL REFERENCES list(id)", of: ["cover": "true"])
        let error = #expect(throws: (any Error).self) { try fleet.failure() }
        #expect(
            error.map { "\($0)" } == """
                The table cover cannot be synchronized: no device can write a row: NOT NULL constraint failed: \
                cover.list. Name the tables that it refers to in tables:, too, or leave it out.
                """)
    }

    @Test("refuses a table that the app does not have, and a file that it does not make")
    func missing() throws {
        func failure(
            _ database: String, _ table: String, sql: String = "CREATE TABLE entry(id TEXT PRIMARY KEY)"
        )
            -> String
        {
            let fleet = SimulatedFleet(versions: ["1.0"], database: database, tables: [table: "true"]) {
                let database = try DatabaseQueue(path: $0.appendingPathComponent("a.sqlite").path)
                let manager = try MigrationManager(
                    currentVersion: $1, adopting: .newApp, store: .database(database))
                manager.whenMigratingToVersion("1.0", in: database, onFreshInstall: .run) { db in
                    try db.execute(sql: sql)
                }
                try manager.migrate()
            }
            return #expect(throws: (any Error).self) { try fleet.failure() }.map { "\($0)" } ?? ""
        }
        #expect(
            failure("a.sqlite", "entries") == """
                The table entries cannot be synchronized: 1.0 does not have it. Correct its name in tables:.
                """)
        #expect(
            failure("b.sqlite", "entry") == """
                The app has made no file b.sqlite in its launch as 1.0. Pass the name of its database, in the folder that the \
                closure gets.
                """)
        let refusing = failure(
            "a.sqlite", "entry",
            sql: """
                CREATE TABLE entry(id TEXT PRIMARY KEY);
                CREATE TRIGGER no BEFORE INSERT ON entry BEGIN SELECT raise(ABORT, 'never'); END
                """)
        #expect(refusing.hasPrefix("The table entry cannot be synchronized: "))
        #expect(refusing.contains("never"), "\(refusing)")
    }
}
