import AppMigrations
import Foundation
import GRDB
import MigrationTesting
import SchemaMigrations
import Testing

@Suite("A store keeps the rules")
struct StoreConformanceTests {
    @Test("in a JSON file, whether its contents are whole or damaged")
    func json() throws {
        try StoreConformance(
            damage: { try Data("{".utf8).write(to: $0.appendingPathComponent("records.json")) },
            making: { try JSONStore(at: $0.appendingPathComponent("records.json")) }
        ).check()
    }

    @Test("in a SQLite database, whether its contents are whole or damaged")
    func sqlite() throws {
        try StoreConformance(
            damage: { folder in
                let database = try DatabaseQueue(path: folder.appendingPathComponent("app.sqlite").path)
                try database.write { db in
                    try db.execute(sql: "UPDATE app_migrations SET value = '{' WHERE part = 'managers'")
                }
            },
            making: { try SQLiteStore(path: $0.appendingPathComponent("app.sqlite").path) }
        ).check()
    }

    @Test("in a database pool")
    func pool() throws {
        try StoreConformance { folder in
            var configuration = Configuration()
            configuration.busyMode = .timeout(10)
            return SQLiteStore(
                try DatabasePool(
                    path: folder.appendingPathComponent("app.sqlite").path, configuration: configuration))
        }.check()
    }

    @Test("in memory")
    func memory() throws {
        try StoreConformance(.object) { _ in InMemoryStore() }.check()
        try StoreConformance(.object) { _ in SQLiteStore(try DatabaseQueue()) }.check()
    }
}

@Suite("A store that breaks a rule is found, when it")
struct BrokenStoreTests {
    private func violations(_ fault: BrokenStore.Fault, _ lifetime: StoreConformance.Lifetime = .place)
        -> [String]
    {
        let suite = StoreConformance(
            lifetime, damage: { try Data("{".utf8).write(to: $0.appendingPathComponent("broken.json")) },
            making: { try BrokenStore(fault, in: $0) })
        do {
            try suite.check()
            return []
        } catch {
            return (error as? StoreConformanceError)?.violations ?? ["\(error)"]
        }
    }

    @Test("is told with all of its faults")
    func text() {
        let suite = StoreConformance { try BrokenStore(.losesSeenOrder, in: $0) }
        let error = #expect(throws: StoreConformanceError.self) { try suite.check() }
        #expect(error?.description == "")
    }

    @Test("takes a damaged record for none")
    func takesDamageForAbsence() {
        #expect(violations(.takesDamageForAbsence) == [])
    }

    @Test("forgets a field")
    func forgetsOwed() {
        #expect(violations(.forgetsOwed) == [])
    }

    @Test("writes what a change that throws has made")
    func writesWhatThrew() {
        #expect(violations(.writesWhatThrew) == [])
    }

    @Test("swallows what a change throws")
    func swallowsWhatThrew() {
        #expect(violations(.swallowsWhatThrew) == [])
    }

    @Test("calls a change twice")
    func changesTwice() {
        #expect(violations(.changesTwice) == [])
    }

    @Test("mixes managers up")
    func mixesManagers() {
        #expect(violations(.mixesManagers) == [])
    }

    @Test("never looks again")
    func keepsCopies() {
        #expect(violations(.keepsCopies) == [])
    }

    @Test("locks nothing")
    func locksNothing() {
        #expect(violations(.locksNothing) == [])
    }

    @Test("has one lock for all managers")
    func locksEverything() {
        #expect(violations(.locksEverything) == [])
    }

    @Test("never releases a lock")
    func neverReleases() {
        #expect(violations(.neverReleases) == [])
    }

    @Test("forgets its history")
    func forgetsHistory() {
        #expect(violations(.forgetsHistory) == [])
    }

    @Test("does not set aside")
    func recoversNothing() {
        #expect(violations(.recoversNothing) == [])
    }

    @Test("loses an update of another thread")
    func loses() {
        #expect(violations(.loses, .object) == [])
    }
}
