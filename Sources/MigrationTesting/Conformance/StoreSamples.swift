import AppMigrations
import Foundation

/// What the conformance suite writes: every field has a value that differs from the others'.
enum StoreSamples {
    /// In whole seconds: a store need not be more exact.
    static let date = Date(timeIntervalSince1970: 1_700_000_000)

    static var full: StoreState {
        var record = MigrationRecord(floor: "0.9")
        record.settled = ["1.0", "1.1-2", "2.0.0-beta.3"]
        record.owed = ["0.8", "0.8.1"]
        record.completed = "1.5"
        record.highest = "2.1"
        record.downgradedTo = "1.6"
        record.running = MigrationRecord.Running(
            version: "1.7", attempt: 3, forgiven: 2, build: "2.1 (417)", since: date.addingTimeInterval(60))
        return StoreState(
            record: record,
            seen: [
                // In the order in which they were seen, which is not that of the versions.
                "app": [
                    SeenVersion(version: "1.0", first: date),
                    SeenVersion(version: "2.1", first: date.addingTimeInterval(10)),
                    SeenVersion(version: "1.6", first: date.addingTimeInterval(20)),
                ],
                "plug-in": [SeenVersion(version: "7", first: date.addingTimeInterval(30))],
            ])
    }

    static var bare: StoreState { StoreState(record: MigrationRecord(floor: nil), seen: full.seen) }

    static func settled(_ version: AppVersion) -> StoreState {
        var record = MigrationRecord(floor: "1.0")
        record.settled = [version]
        return StoreState(record: record)
    }

    static let history: [SettledStep] = [
        SettledStep(version: "1.0", outcome: .notNeeded, date: date, appVersion: "2.0"),
        SettledStep(
            version: "2.0", outcome: .ran, date: date.addingTimeInterval(5), seconds: 0.25, appVersion: "2.0"),
        SettledStep(version: "1.1-1", outcome: .skipped, date: date.addingTimeInterval(9), appVersion: "2.0"),
    ]

    /// Names of managers that are different, and stay so.
    static let managers = ["Library", "library", "Library 2", "a/b", "Bücher", "x.json", ""]
}
