import Foundation
import Testing

@testable import AppMigrations

@Suite("Launch", .timed)
struct LaunchTests {
    func record(start: AppVersion = "1.0", completed: AppVersion?, highest: AppVersion?) -> MigrationRecord {
        var record = MigrationRecord(start: start)
        record.completed = completed
        record.highest = highest
        return record
    }

    @Test(
        "with a record, the completed and highest versions decide",
        arguments: [
            ("1.0", "1.0", Launch.upgrade(from: "1.0")),
            ("2.0", "2.0", .relaunch),
            ("2.0.0", "2.0", .relaunch),
            ("2.0-beta.1", "2.0-beta.1", .upgrade(from: "2.0-beta.1")),
            ("1.0", "2.0", .upgrade(from: "1.0")),
            ("1.0", "3.0", .downgrade(from: "3.0")),
            ("2.0", "2.0.1", .downgrade(from: "2.0.1")),
            (nil, "2.0", .adoption(from: "0.9")),
        ] as [(AppVersion?, AppVersion, Launch)])
    func recorded(completed: AppVersion?, highest: AppVersion, expected: Launch) {
        let record = record(start: "0.9", completed: completed, highest: highest)
        #expect(record.launch(current: "2.0", build: "2.0 (7)") == expected)
    }

    @Test("after a downgrade, the higher version is an upgrade from the lower one")
    func returned() {
        var record = record(completed: "3.0", highest: "3.0")
        record.downgradedTo = "2.0"
        #expect(record.launch(current: "2.0", build: "2.0 (7)") == .downgrade(from: "3.0"))
        #expect(record.launch(current: "2.5", build: "2.5") == .downgrade(from: "3.0"))
        #expect(record.launch(current: "3.0", build: "3.0") == .upgrade(from: "2.0"))
        record.completed = nil
        #expect(
            record.launch(current: "3.0", build: "3.0") == .upgrade(from: "2.0"),
            "evidence alone has made it a downgrade")
    }

    @Test("a downgrade makes a version change run again, and forgets no death in it")
    func versionChanges() {
        let change = WorkID("2.0", .versionChange)
        var done = record(completed: "1.0", highest: "2.0")
        done[change] = .done
        done.apply(.begun(.downgrade(from: "2.0"), current: "1.0", due: []))
        #expect(done[change] == nil)
        var open = OpenWork()
        open.deaths = 1
        var died = record(completed: "1.0", highest: "2.0")
        died[change] = .open(open)
        died.apply(.begun(.downgrade(from: "2.0"), current: "1.0", due: []))
        #expect(died.open(change)?.deaths == 1)
        died.finish(.upgrade(from: "1.0"), current: "2.0")
        #expect(died[change] == nil)
    }

    @Test("a fresh install stays fresh in its build until it is complete, and is an upgrade after that")
    func fresh() {
        var record = MigrationRecord(start: "2.0")
        record.freshBuild = "2.0 (7)"
        record.highest = "2.0"
        #expect(record.launch(current: "2.0", build: "2.0 (7)") == .freshInstall)
        #expect(record.launch(current: "2.0", build: "2.0 (8)") == .relaunch)
        #expect(record.launch(current: "2.1", build: "2.1 (9)") == .upgrade(from: "2.0"))
        record.finish(.freshInstall, current: "2.0")
        #expect(record.freshBuild == nil)
        #expect(record.launch(current: "2.0", build: "2.0 (7)") == .relaunch)
    }

    @Test("with lower version numbers is a downgrade, unless a higher number stands in front")
    func lowerNumbers() throws {
        let store = MigrationStore.inMemory()
        let log = Log()
        try AppMigrationsTests.launch("2024.11", store: store)
        let lower = try AppMigrationsTests.launch("3.0", steps: ["3.0"], store: store, log: log)
        #expect(lower.launch == .downgrade(from: "2024.11"))
        #expect(log.lines == [])
        let raised = try AppMigrationsTests.launch("3000.3.0", steps: ["3000.3.0"], store: store, log: log)
        #expect(raised.launch == .upgrade(from: "3.0"))
        #expect(log.lines == ["3000.3.0"])
    }
}
