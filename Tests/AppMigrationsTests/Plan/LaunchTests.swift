import Testing

@testable import AppMigrations

@Suite("Launch")
struct LaunchTests {
    func record(floor: AppVersion = "1.0", completed: AppVersion?, highest: AppVersion?) -> MigrationRecord {
        var record = MigrationRecord(floor: floor)
        record.completed = completed
        record.highest = highest
        return record
    }

    @Test(
        "with a record, it is told from the versions completed and begun",
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
        let record = record(floor: "0.9", completed: completed, highest: highest)
        #expect(record.launch(current: "2.0") == expected)
    }

    @Test("without a record, a store that has seen no earlier version means a fresh install")
    func fresh() {
        #expect(
            Launch(seen: [], evidence: .versionsSeen, adopted: nil, current: "2.0")
                == .freshInstall)
        #expect(
            Launch(seen: ["2.0"], evidence: .versionsSeen, adopted: nil, current: "2.0")
                == .freshInstall)
    }

    @Test("without a record, the highest earlier version seen is adopted")
    func seenEarlier() {
        let launch = Launch(
            seen: ["1.0", "1.5", "2.0", "3.0"], evidence: .versionsSeen, adopted: nil, current: "2.0")
        #expect(launch == .adoption(from: "1.5"))
    }

    @Test("a pre-release of the current version is an earlier version")
    func seenPrerelease() {
        let launch = Launch(seen: ["2.0-beta.1"], evidence: .versionsSeen, adopted: nil, current: "2.0")
        #expect(launch == .adoption(from: "2.0-beta.1"))
    }

    @Test("the app's answer comes before what has been seen")
    func adopting() {
        let launch = Launch(seen: ["1.5"], evidence: .versionsSeen, adopted: "1.0", current: "2.0")
        #expect(launch == .adoption(from: "1.0"))
    }

    @Test("data of a newer app is a downgrade, not an adoption")
    func adoptingNewer() {
        #expect(
            Launch(seen: [], evidence: .versionsSeen, adopted: "2.1", current: "2.0")
                == .downgrade(from: "2.1"))
        #expect(
            Launch(seen: [], evidence: .versionsSeen, adopted: "2.0-3", current: "2.0")
                == .adoption(from: "2.0-3"))
    }

    @Test("an empty place is new")
    func empty() {
        #expect(Launch(seen: [], evidence: .empty, adopted: nil, current: "2.0") == .freshInstall)
    }

    @Test("data without any sign of its version is not decided")
    func unmanaged() {
        #expect(Launch(seen: [], evidence: .unmanaged, adopted: nil, current: "2.0") == nil)
        #expect(
            Launch(seen: [], evidence: .unmanaged, adopted: "1.0", current: "2.0")
                == .adoption(from: "1.0"))
    }

    @Test("where there is a ledger and no record, no step has ever run")
    func ledgerOnly() {
        #expect(
            Launch(seen: [], evidence: .ledgerOnly, adopted: nil, current: "2.0")
                == .adoption(from: "0"))
    }
}
