import Testing

@testable import AppMigrations

@Suite("Launch")
struct LaunchTests {
    /// Nobody must ask the app.
    static func unasked() throws -> AppVersion? {
        Issue.record("the app was asked")
        return nil
    }

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
    func recorded(completed: AppVersion?, highest: AppVersion, expected: Launch) throws {
        let launch = try Launch.recognized(
            record: record(floor: "0.9", completed: completed, highest: highest), seen: ["0.1"],
            evidence: .unmanaged, current: "2.0", adopting: Self.unasked)
        #expect(launch == expected)
    }

    @Test("without a record, a store that has seen no earlier version proves a fresh install")
    func fresh() {
        #expect(
            Launch.recognized(record: nil, seen: [], evidence: .versionsSeen, current: "2.0") { nil }
                == .freshInstall)
        #expect(
            Launch.recognized(record: nil, seen: ["2.0"], evidence: .versionsSeen, current: "2.0") { nil }
                == .freshInstall)
    }

    @Test("without a record, the highest earlier version seen is adopted")
    func seenEarlier() {
        let launch = Launch.recognized(
            record: nil, seen: ["1.0", "1.5", "2.0", "3.0"], evidence: .versionsSeen, current: "2.0"
        ) { nil }
        #expect(launch == .adoption(from: "1.5"))
    }

    @Test("a pre-release of the current version is an earlier version")
    func seenPrerelease() {
        let launch = Launch.recognized(
            record: nil, seen: ["2.0-beta.1"], evidence: .versionsSeen, current: "2.0"
        ) { nil }
        #expect(launch == .adoption(from: "2.0-beta.1"))
    }

    @Test("the app's answer comes before what has been seen")
    func adopting() {
        let launch = Launch.recognized(
            record: nil, seen: ["1.5"], evidence: .versionsSeen, current: "2.0"
        ) { "1.0" }
        #expect(launch == .adoption(from: "1.0"))
    }

    @Test("data of a newer app is a downgrade, not an adoption")
    func adoptingNewer() {
        #expect(
            Launch.recognized(record: nil, seen: [], evidence: .versionsSeen, current: "2.0") { "2.1" }
                == .downgrade(from: "2.1"))
        #expect(
            Launch.recognized(record: nil, seen: [], evidence: .versionsSeen, current: "2.0") { "2.0-3" }
                == .adoption(from: "2.0-3"))
    }

    @Test("an empty place is new, and the app is not asked")
    func empty() throws {
        let launch = try Launch.recognized(
            record: nil, seen: [], evidence: .empty, current: "2.0", adopting: Self.unasked)
        #expect(launch == .freshInstall)
    }

    @Test("data without any sign of its version is not decided")
    func unmanaged() {
        #expect(Launch.recognized(record: nil, seen: [], evidence: .unmanaged, current: "2.0") { nil } == nil)
        #expect(
            Launch.recognized(record: nil, seen: [], evidence: .unmanaged, current: "2.0") { "1.0" }
                == .adoption(from: "1.0"))
    }

    @Test("where there is a ledger and no record, no step has ever run")
    func ledgerOnly() {
        #expect(
            Launch.recognized(record: nil, seen: [], evidence: .ledgerOnly, current: "2.0") { nil }
                == .adoption(from: "0"))
    }

    @Test("an answer that cannot be given is an error, not a no")
    func adoptingThrows() {
        #expect(throws: StepError.self) {
            try Launch.recognized(record: nil, seen: [], evidence: .versionsSeen, current: "2.0") {
                throw StepError(description: "locked")
            }
        }
    }
}
