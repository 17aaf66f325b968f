import AppMigrations
import Foundation
import GRDB
import MigrationTesting
import SchemaMigrations
import Testing

@Suite("A store passes the conformance suite", .timed)
struct StoreConformanceTests {
    @Test("a store in a JSON file conforms, intact or damaged")
    func json() throws {
        try StoreConformance(
            damage: { try Data("{".utf8).write(to: $0.appendingPathComponent("records.json")) },
            making: { try JSONStore(at: $0.appendingPathComponent("records.json"), durability: .recordOnly) }
        ).check()
    }

    @Test("a store in a SQLite database conforms, intact or damaged")
    func sqlite() throws {
        try StoreConformance(
            damage: { folder in
                let database = try DatabaseQueue(path: folder.appendingPathComponent("app.sqlite").path)
                try database.write { db in
                    try db.execute(sql: "UPDATE app_migrations SET value = '{' WHERE part = 'managers'")
                }
            },
            making: { try SQLiteStore(DatabaseQueue(path: $0.appendingPathComponent("app.sqlite").path)) }
        ).check()
    }

    @Test("a store in a database pool conforms")
    func pool() throws {
        try StoreConformance { folder in
            var configuration = Configuration()
            configuration.busyMode = .timeout(10)
            return SQLiteStore(
                try DatabasePool(
                    path: folder.appendingPathComponent("app.sqlite").path, configuration: configuration))
        }.check()
    }

    @Test("a store in memory conforms")
    func memory() throws {
        try StoreConformance(.object) { _ in InMemoryStore() }.check()
        try StoreConformance(.object) { _ in SQLiteStore(try DatabaseQueue()) }.check()
    }
}

@Suite("A store fails the conformance suite if it", .timed)
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

    @Test("breaks a rule in several places, and all are listed")
    func text() {
        let suite = StoreConformance { try BrokenStore(.losesSeenOrder, in: $0) }
        let error = #expect(throws: StoreConformanceError.self) { try suite.check() }
        #expect(
            error?.description == """
                broken.json does not keep the rules of a store:
                - read by the object that has written it after update: the versions seen are not what was written.
                - read by the object that has written it after an update that clears fields: the versions seen are not what was written.
                - read by the object that has written it after an update that changes nothing: the versions seen are not what was written.
                - the versions that one manager has seen are not seen by another, by the object that has written it.
                """)
    }

    @Test("treats a damaged record as absent")
    func takesDamageForAbsence() {
        #expect(
            violations(.takesDamageForAbsence) == [
                "read of a damaged store returns, by the object that has written it: an old install would be taken for a new one."
            ])
    }

    @Test("forgets a field")
    func forgetsOwed() {
        #expect(
            violations(.forgetsOwed) == [
                "read by the object that has written it after update: the record's field `work` is not what was written.",
                "the change of an update by the object that has written it: the record's field `work` is not what was written.",
                "read by the object that has written it after an update that changes nothing: the record's field `work` is not what was written.",
            ])
    }

    @Test("writes the change of a closure that throws")
    func writesWhatThrew() {
        #expect(
            violations(.writesWhatThrew) == [
                "read by the object that has written it after an update whose change throws: the record's fields `start`, `work`, `fresh`, `inOldInstall`, `completed`, `highest`, `downgradedTo`, `databases` and `store` are not what was written and the versions seen are not what was written.",
                "an update whose change throws leaves a history, as read by the object that has written it.",
            ])
    }

    @Test("swallows the error of a closure that throws")
    func swallowsWhatThrew() {
        #expect(violations(.swallowsWhatThrew) == ["update does not throw when its change does."])
    }

    @Test("calls the closure twice")
    func changesTwice() {
        #expect(
            violations(.changesTwice) == [
                "update calls its change 2 times instead of once (by the object that has written it)."
            ])
    }

    @Test("keeps a file for each manager")
    func keepsManagersApart() {
        #expect(
            violations(.keepsManagersApart) == [
                "the versions that one manager has seen are not seen by another, by the object that has written it.",
                "read of another manager by the object that has written it after setAside: there is a record, and none was written.",
            ])
    }

    @Test("never reads again")
    func keepsCopies() {
        #expect(
            violations(.keepsCopies) == [
                "read of a damaged store returns, by the object that has written it: an old install would be taken for a new one.",
                "read by the object that has written it after update: the record is missing and the versions seen are not what was written.",
                "read by the object that has written it after an update that clears fields: the record is missing and the versions seen are not what was written.",
                "read by the object that has written it after an update that changes nothing: the record is missing and the versions seen are not what was written.",
                "read by the object that has written it after an update whose change throws: the record is missing.",
                "read of `Library` by the object that has written it after updates of other managers: the record is missing.",
                "read by the object that has written it after setAside: the record is missing.",
            ])
    }

    @Test("locks nothing")
    func locksNothing() {
        #expect(
            violations(.locksNothing) == [
                "lock is acquired a second time before it is released, by the object that has written it."
            ])
    }

    @Test("has one lock for all managers")
    func locksEverything() {
        #expect(
            violations(.locksEverything) == [
                "lock of one manager locks another one, by the object that has written it."
            ])
    }

    @Test("ends the names of locks at a NUL, as C does")
    func locksUpToNUL() {
        #expect(
            violations(.locksUpToNUL) == [
                "lock of a name with a NUL locks more than that name, by the object that has written it."
            ])
    }

    @Test("never releases a lock")
    func neverReleases() {
        #expect(
            violations(.neverReleases) == [
                "lock is still held after its release, by the object that has written it."
            ])
    }

    @Test("forgets its history")
    func forgetsHistory() {
        #expect(
            violations(.forgetsHistory) == [
                "history, as read by the object that has written it, is not what the updates of the manager have added, in their order."
            ])
    }

    @Test("does not set a damaged record aside")
    func recoversNothing() {
        #expect(
            violations(.recoversNothing) == [
                "read after setAside throws: broken.json: not valid JSON, or cut off. Nothing was changed. Restore it from a backup, or call replaceRecord(assuming:)."
            ])
    }

    @Test("loses the update of another thread")
    func loses() {
        #expect(violations(.loses, .object) == ["two threads update at once, and 10 of 20 changes are lost."])
    }
}
