import AppMigrations
import Foundation

/// The trial of one rule, in a folder of its own.
final class StoreTrial {
    let folder: URL
    let suite: StoreConformance
    private(set) var violations: [String] = []
    private var first: (any MigrationStore)?

    init(folder: URL, suite: StoreConformance) {
        self.folder = folder
        self.suite = suite
    }

    /// The store.
    func store() throws -> any MigrationStore {
        if let first { return first }
        let store = try suite.make(folder)
        first = store
        return store
    }

    /// The store as those see it who must see the same, each with a name for them.
    func views() throws -> [(store: any MigrationStore, whose: String)] {
        let own = (store: try store(), whose: "the same object")
        guard suite.lifetime == .place else { return [own] }
        return [own, (try suite.make(folder), "another object on the same place")]
    }

    func note(_ violation: String) {
        violations.append(violation.asSentence)
    }

    func expect(_ isKept: Bool, _ violation: @autoclosure () -> String) {
        if !isKept { note(violation()) }
    }

    /// Compares what was read, field by field.
    func expect(_ found: StoreState, is expected: StoreState, _ subject: String) {
        for difference in found.differences(from: expected) { note("\(subject): \(difference)") }
    }
}

extension StoreState {
    /// What is not as expected, a clause for each field.
    func differences(from expected: StoreState) -> [String] {
        guard let record, let other = expected.record else {
            let difference =
                switch (record, expected.record) {
                case (nil, nil): nil as String?
                case (nil, _): "the record is missing"
                default: "there is a record, and none was written"
                }
            return [difference, seenDifference(from: expected)].compactMap { $0 }
        }
        let fields: [(String, Bool)] = [
            ("floor", record.floor == other.floor), ("settled", record.settled == other.settled),
            ("owed", record.owed == other.owed), ("completed", record.completed == other.completed),
            ("highest", record.highest == other.highest),
            ("downgradedTo", record.downgradedTo == other.downgradedTo),
            ("running", record.running == other.running),
        ]
        return fields.filter { !$0.1 }.map { "the record's field `\($0.0)` is not what was written" }
            + [seenDifference(from: expected)].compactMap { $0 }
    }

    private func seenDifference(from expected: StoreState) -> String? {
        seen == expected.seen ? nil : "the versions seen are not what was written"
    }
}
