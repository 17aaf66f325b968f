import Foundation
import GRDB
import MigrationTesting
import TestSupport
import TestTraits
import Testing

@Suite("The statements in a lock", .timed)
struct StableStatementsTests {
    private let lock: MigrationLock
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        lock = MigrationLock(at: folder.file("Migrations.lock"))
    }

    /// Records a migration of a table `a(id, value)`, verifies it, and returns its lines.
    private func lines(_ body: @escaping @Sendable (Database) throws -> Void) throws -> [String] {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("create") {
            try $0.execute(sql: "CREATE TABLE a(id INTEGER PRIMARY KEY, value)")
        }
        migrator.registerMigration("change", migrate: body)
        try lock.record(migrator)
        try lock.verify(migrator)
        let text = try String(contentsOf: lock.url, encoding: .utf8)
        let lines = try #require(text.split(separator: "change\n", maxSplits: 1).last)
        return lines.split(separator: "\n").map { $0.trimmingPrefix("  ") }.map(String.init)
    }

    @Test("have no value that a migration makes anew each time and writes into its SQL")
    func random() throws {
        let lines = try lines { db in
            try db.execute(sql: "INSERT INTO a(value) VALUES ('\(UUID().uuidString)')")
            try db.execute(sql: "INSERT INTO a(id, value) VALUES (7, \(Double.random(in: 1...2)))")
        }
        #expect(lines == ["INSERT INTO a (value) VALUES (?)", "INSERT INTO a (id, value) VALUES (7, ?)"])
    }

    @Test("have no time at which a migration runs, in whatever form it writes it into its SQL")
    func time() throws {
        let lines = try lines { db in
            let now = Date()
            try db.execute(sql: "UPDATE a SET value = \(Int64(now.timeIntervalSince1970 * 1_000))")
            try db.execute(sql: "UPDATE a SET value = \(Int(now.timeIntervalSince1970))")
            try db.execute(sql: "UPDATE a SET value = \(now.timeIntervalSinceReferenceDate)")
            try db.execute(sql: "UPDATE a SET value = '\(now)'")
            try db.execute(sql: "UPDATE a SET value = '\(now.formatted(.iso8601))'")
        }
        #expect(lines == Array(repeating: "UPDATE a SET value = ?", count: 5))
    }

    @Test("have the values that stand in the code, also a date")
    func constants() throws {
        let today = Date().formatted(.iso8601.year().month().day())
        let lines = try lines { try $0.execute(sql: "UPDATE a SET value = '\(today)' WHERE id <> -1.5 || 2") }
        #expect(lines == ["UPDATE a SET value = '\(today)' WHERE id <> - 1.5 || 2"])
    }

    @Test("have no argument with a date, whatever day it is, and all others")
    func dateArguments() throws {
        let today = Date().formatted(.iso8601.year().month().day())
        for date in [today, "2019-03-01", "2099-12-31 12:00:00.000"] {
            let lines = try lines { db in
                try db.execute(sql: "INSERT INTO a(id, value) VALUES (?, ?)", arguments: [7, date])
                try db.execute(sql: "UPDATE a SET value = ? WHERE id = 7", arguments: ["2019-03"])
            }
            #expect(
                lines == [
                    "INSERT INTO a (id, value) VALUES (7, ?)", "UPDATE a SET value = '2019-03' WHERE id = 7",
                ])
            try FileManager.default.removeItem(at: lock.url)
        }
    }

    @Test("have no values of rows, and one line for lists of any length")
    func rows() throws {
        let lines = try lines { db in
            let rows = try Row.fetchAll(db, sql: "SELECT id, value FROM a WHERE value IS NOT NULL")
            let ids = rows.map { "\($0["id"] as Int64)" }.joined(separator: ", ")
            try db.execute(sql: "DELETE FROM a WHERE id IN (\(ids)) AND 3 = 3")
            for row in rows {
                try db.execute(sql: "UPDATE a SET value = 5 WHERE id = \(row["id"] as Int64 + 1_000)")
            }
        }
        #expect(lines.first == "DELETE FROM a WHERE id IN () AND 3 = 3")
        let overRows = lines.filter { $0.hasPrefix("over rows: ") }
        #expect(overRows.count == 2 && !overRows.contains { $0.contains("100") }, "\(lines)")
    }
}
