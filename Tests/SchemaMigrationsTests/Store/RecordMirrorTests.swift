import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("The mirror of a SQLite store's records", .timed)
struct RecordMirrorTests {
    let folder: TemporaryFolder
    let queue: DatabaseQueue
    let store: SQLiteStore

    init() throws {
        folder = try TemporaryFolder()
        queue = try folder.queue("records.sqlite")
        store = SQLiteStore(queue)
    }

    private func rows(_ table: String) throws -> [String] {
        try queue.strings(
            "SELECT part || ' ' || name || ' ' || value FROM \(table) ORDER BY part, name")
    }

    private func complete(_ version: AppVersion, _ manager: String = "A") throws {
        try store.update(manager) { state in
            try state.changeRecord(of: manager) { record in
                record = record ?? MigrationRecord(start: "1.0")
                record?.completed = version
            }
            state.see(version, in: "app", at: .distantPast)
        }
    }

    @Test("has the same rows after every change, on a page of its own")
    func sameRows() throws {
        func expectSame(_ count: Int) throws {
            let rows = try rows("app_migrations")
            #expect(rows.count == count)
            #expect(try self.rows("app_migrations_mirror") == rows)
        }
        try complete("1.1")
        try expectSame(4)
        try complete("1.2", "B")
        try complete("1.2")
        try expectSame(5)
        try store.update("A") { try $0.removeRecord(of: "A", at: .distantPast) }
        try expectSame(5)
        try store.changeRecord(of: "B") { $0 = nil }
        try expectSame(4)
        let roots = try queue.integers("SELECT rootpage FROM sqlite_master WHERE name LIKE 'app_migrations%'")
        #expect(Set(roots).count == 2)
    }

    @Test("is changed in the same transaction")
    func sameTransaction() throws {
        try complete("1.1")
        let before = try rows("app_migrations_mirror")
        try queue.inDatabase { db in
            try db.inTransaction {
                try store.update("A", db) { state in try state.changeRecord(of: "A") { $0?.completed = "1.2" }
                }
                return .rollback
            }
        }
        #expect(try rows("app_migrations_mirror") == before)
    }

    @Test("gets only the rows that have changed")
    func changedRows() throws {
        try complete("1.1")
        let written = Locked<[String]>([])
        queue.inDatabase { db in
            db.trace { event in written.withLock { $0.append(event.description) } }
        }
        try complete("1.2")
        try complete("1.2")
        let insertions = written.withLock { $0.filter { $0.contains("INSERT") } }
        #expect(insertions.count == 4, "the record and the versions seen, in two tables")
    }

    @Test("is not read when nothing is pending")
    func reading() throws {
        try complete("1.1")
        let queries = Locked<[String]>([])
        queue.inDatabase { db in
            db.trace { event in queries.withLock { $0.append(event.description) } }
        }
        for _ in 1...2 { #expect(try SQLiteStore(queue).record(of: "A")?.completed == "1.1") }
        #expect(queries.withLock { $0.filter { $0.contains("mirror") } } == [])
    }

    @Test("begins with the rows of a table that had none", arguments: ["DROP TABLE", "DELETE FROM"])
    func missing(sql: String) throws {
        try complete("1.1")
        try complete("1.1", "B")
        // What an app removes by hand is not put back unless the table is gone.
        try queue.execute("\(sql) app_migrations_mirror")
        try complete("1.2")
        #expect(try rows("app_migrations_mirror").count == (sql == "DROP TABLE" ? 5 : 2))
        try queue.execute("DROP TABLE app_migrations")
        try complete("1.3")
        #expect(try rows("app_migrations_mirror") == rows("app_migrations"))
    }

    @Test("is set aside with the table, and begins anew")
    func setAside() throws {
        try complete("1.1")
        let before = try rows("app_migrations")
        try queue.execute("UPDATE app_migrations SET value = '{' WHERE part = 'managers'")
        var state = StoreState()
        state.markAsReplacement(assuming: "1.1", in: "app", at: .distantPast)
        try store.setAside(replacingWith: state)
        #expect(try rows("app_migrations_mirror") == rows("app_migrations"))
        let aside = try queue.strings(
            "SELECT name FROM sqlite_master WHERE name LIKE 'app_migrations_damaged_%' ORDER BY name")
        try #require(aside.count == 2)
        #expect(aside[1] == "\(aside[0])_mirror")
        // The mirror has what was damaged.
        #expect(try rows(aside[1]).filter { !$0.hasPrefix("setAside") } == before)
    }
}
