import AppMigrations
import Foundation
import TextOutput

/// A record and the seen versions that the conformance suite writes and expects to read.
struct StoreSample {
    var record: MigrationRecord?
    var seen: [String: [SeenVersion]] = [:]

    /// Creates a sample from a state's values for one manager.
    init(_ state: StoreState, of manager: String) throws {
        record = try state.record(of: manager)
        seen = state.seen
    }

    init(record: MigrationRecord? = nil, seen: [String: [SeenVersion]] = [:]) {
        self.record = record
        self.seen = seen
    }

    /// Writes the sample into a state.
    func write(to state: inout StoreState, of manager: String) throws {
        try state.setRecord(record, of: manager)
        for (line, versions) in seen {
            for version in versions {
                state.see(version.version, build: version.build, in: line, at: version.first)
            }
        }
    }

    /// Returns a clause for each field that differs from the expected sample.
    func differences(from expected: StoreSample) -> [String] {
        let difference =
            switch (record, expected.record) {
            case (nil, nil): nil as String?
            case (nil, _): "the record is missing"
            case (_, nil): "there is a record, and none was written"
            case (let record?, let expected?): record.difference(from: expected)
            }
        let seenDifference = seen == expected.seen ? nil : "the versions seen are not what was written"
        return [difference, seenDifference].compactMap { $0 }
    }
}

extension MigrationRecord {
    fileprivate func difference(from other: MigrationRecord) -> String? {
        let fields: [(String, Bool)] = [
            ("start", start == other.start), ("work", work == other.work),
            ("fresh", freshBuild == other.freshBuild),
            ("inOldInstall", isInOldInstall == other.isInOldInstall),
            ("completed", completed == other.completed),
            ("highest", highest == other.highest), ("downgradedTo", downgradedTo == other.downgradedTo),
            ("databases", databases == other.databases), ("store", store == other.store),
        ]
        let wrong = fields.filter { !$0.1 }.map { "`\($0.0)`" }
        return switch wrong.count {
        case 0: nil
        case 1: "the record's field \(wrong.asList) is not what was written"
        default: "the record's fields \(wrong.asList) are not what was written"
        }
    }
}

/// The samples, in which no two fields have the same value.
enum StoreSamples {
    /// A date in whole seconds, since a store need not be more exact.
    static let date = Date(timeIntervalSince1970: 1_700_000_000)

    static var full: StoreSample {
        var record = MigrationRecord(start: "0.9")
        for version in ["1.0", "1.1-2", "2.0.0-beta.3"] as [AppVersion] { record.settle(WorkID(version)) }
        record.settle(WorkID("1.9"), as: .notNeeded)
        record.settle(WorkID("1.9.1"), as: .skipped)
        for version in ["0.8", "0.8.1"] as [AppVersion] {
            record[WorkID(version)] = .open(OpenWork(isOwed: true))
        }
        record.freshBuild = "2.1 (416)"
        record.isInOldInstall = true
        record.databases = [
            KnownDatabase(id: "4B", path: "Documents/library.sqlite"),
            KnownDatabase(id: "5A", path: "Documents/thumbnails.sqlite"),
        ]
        record.store = "3C"
        record.completed = "1.5"
        record.highest = "2.1"
        record.downgradedTo = "1.6"
        var open = OpenWork()
        open.running = OpenWork.Start(build: "2.1 (417)", since: date.addingTimeInterval(60))
        open.deaths = 3
        open.forgiven = 2
        open.build = "2.1 (415)"
        open.remaining = 5
        open.failures = 4
        record[WorkID("1.7", .schemaStep)] = .open(open)
        return StoreSample(
            record: record,
            seen: [
                // The order in which they were seen differs from the order of the versions.
                "app": [
                    SeenVersion(version: "1.0", build: "12", first: date),
                    SeenVersion(version: "2.1", first: date.addingTimeInterval(10)),
                    SeenVersion(version: "1.6", first: date.addingTimeInterval(20)),
                ],
                "plug-in": [SeenVersion(version: "7", first: date.addingTimeInterval(30))],
            ])
    }

    static var bare: StoreSample { StoreSample(record: MigrationRecord(start: nil), seen: full.seen) }

    static func settled(_ version: AppVersion) -> StoreSample {
        var record = MigrationRecord(start: "1.0")
        record.settle(WorkID(version))
        return StoreSample(record: record)
    }

    static func history(of manager: String) -> [SettledStep] {
        func work(_ version: AppVersion, _ kind: WorkID.Kind = .step) -> MigrationWork {
            MigrationWork(WorkID(version, kind), of: manager, in: .store, database: nil)
        }
        return [
            SettledStep(work("1.0"), outcome: .notNeeded, date: date, appVersion: "2.0"),
            SettledStep(
                work("2.0"), outcome: .ran, date: date.addingTimeInterval(5), duration: .milliseconds(250),
                appVersion: "2.0"),
            SettledStep(
                work("2.0", .versionChange), outcome: .skipped, date: date.addingTimeInterval(9),
                appVersion: "2.0"),
        ]
    }

    /// Names of managers that a store must not confuse.
    static let managers = ["Library", "library", "Library 2", "a/b", "Bücher", "x.json", ""]
}
